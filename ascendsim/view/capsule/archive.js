// Read the file of a saved run: a zip of JSON and raw bytes (see observe/saved/archive.py), or a
// page like this one that carries it in base64.

const OPENING = '<script type="application/x-ascendsim-run" id="run">';

function bytesOfBase64(text) {
  const word = atob(text.trim());
  return Uint8Array.from(word, (letter) => letter.charCodeAt(0));
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Archive {
  // `bytes`: of a zip, or of a page that carries one.
  static of(bytes) {
    if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) {
      const page = new TextDecoder("latin1").decode(bytes);
      const start = page.indexOf(OPENING) + OPENING.length;
      if (start < OPENING.length) throw new Error("this is no capsule and no saved run");
      bytes = bytesOfBase64(page.slice(start, page.indexOf("<\/script>", start)));
    }
    return new Archive(bytes);
  }

  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.members = new Map();
    let at = this._end();
    const count = this.view.getUint16(at + 10, true);
    at = this.view.getUint32(at + 16, true);
    for (let number = 0; number < count; number++) {
      const lengths = [28, 30, 32].map((offset) => this.view.getUint16(at + offset, true));
      const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + lengths[0]));
      this.members.set(name, {
        method: this.view.getUint16(at + 10, true),
        packed: this.view.getUint32(at + 20, true),
        size: this.view.getUint32(at + 24, true),
        header: this.view.getUint32(at + 42, true),
      });
      at += 46 + lengths[0] + lengths[1] + lengths[2];
    }
  }

  _end() {
    for (let at = this.bytes.length - 22; at >= 0; at--)
      if (this.view.getUint32(at, true) === 0x06054b50) return at;
    throw new Error("the file is cut off");
  }

  async content(name) {
    const member = this.members.get(name);
    if (!member) throw new Error(`${name} is missing in the file`);
    const at = member.header;
    const start = at + 30 + this.view.getUint16(at + 26, true) + this.view.getUint16(at + 28, true);
    const packed = this.bytes.subarray(start, start + member.packed);
    const found = member.method === 8 ? await inflated(packed) : packed;
    if (found.length !== member.size) throw new Error(`${name} has the wrong size`);
    return found;
  }

  async json(name) {
    return JSON.parse(new TextDecoder().decode(await this.content(name)));
  }
}
