"""Files that are no saved run, or a damaged or hostile one: one clear error each."""

from __future__ import annotations

import base64
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim.errors import RequestError
from ascendsim.observe.saved.archive import CLOSING, OPENING
from tests.test_diff import recorded as at_minus_3


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    at_minus_3([-3.0] * 70).save(path)
    return path.read_bytes()


def refused(path, content):
    path.write_bytes(content)
    with pytest.raises(RequestError) as caught:
        asim.open(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    return text


def test_a_page_that_carries_the_file_opens_too(whole, tmp_path):
    page = b"<!DOCTYPE html><p>" + OPENING + base64.b64encode(whole) + CLOSING + b"</html>"
    (tmp_path / "page").write_bytes(page)
    assert asim.open(tmp_path / "page").out[0] == 0
    for left in (len(page) // 2, len(page) - 8, len(page) - 1):
        refused(tmp_path / "cut", page[:left])
    (tmp_path / "page").write_bytes(page + b"\r\n")
    assert asim.open(tmp_path / "page").out[0] == 0


def test_a_capsule_whose_script_was_cut_off_is_refused(tmp_path):
    at_minus_3([-3.0]).save_capsule(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_bytes()
    assert "its end is missing" in refused(tmp_path / "cut.html", page[:-5000])


def test_a_file_that_cannot_be_written_says_the_way_out(tmp_path):
    run = at_minus_3([-3.0])
    with pytest.raises(RequestError, match=r"there is no directory .*; make it first"):
        run.save(tmp_path / "none" / "run")
    (tmp_path / "dir").mkdir()
    with pytest.raises(RequestError, match="name a file in a directory that exists and is writ"):
        run.save(tmp_path / "dir")
    with pytest.raises(RequestError, match="/proc takes no new files; name a file in"):
        run.save("/proc/run")


def test_truncated_files(whole, tmp_path):
    for size in (0, 1, 2, 30, len(whole) // 3, len(whole) // 2, len(whole) - 25, len(whole) - 1):
        refused(tmp_path / "cut", whole[:size])


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_flipped_bytes_are_refused_or_change_nothing(whole, tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "flipped"
    changed = bytearray(whole)
    changed[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    try:
        run = asim.open(path)
    except RequestError:
        return
    again = path.with_name("kept")
    run.save(again)
    assert again.read_bytes() == whole


def test_foreign_files(tmp_path):
    for content in (
        b"hello",
        b"<html><p>a page</p></html>",
        pickle.dumps({"a": 1}),
        b"PK",
        b"\0" * 99,
    ):
        refused(tmp_path / "foreign", content)
    np.savez(tmp_path / "arrays.npz", x=np.zeros(3))
    refused(tmp_path / "foreign", (tmp_path / "arrays.npz").read_bytes())
    for path, why in ((tmp_path, "is a directory"), (tmp_path / "none", "no such file")):
        with pytest.raises(RequestError, match=why):
            asim.open(path)
    with pytest.raises(RequestError, match="no such file"):
        asim.open("/dev/zero")


def altered(whole, name, change):
    """Return the file with one member replaced; checksums and sizes are right again."""
    source, out = zipfile.ZipFile(io.BytesIO(whole)), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.namelist():
            content = source.read(member)
            archive.writestr(member, change(content) if member == name else content)
    return out.getvalue()


def edited(whole, name, edit):
    def change(content):
        document = json.loads(content)
        edit(document)
        return json.dumps(document)

    return altered(whole, name, change)


def test_another_version_says_so(whole, tmp_path):
    for version in (1, 3):
        changed = edited(whole, "run.json", lambda d, version=version: d.update(version=version))
        text = refused(tmp_path / "other", changed)
        assert f"has version {version} of the format, this ascendsim reads 2" in text
        assert "made by" in text


def stores_first(document):
    return next(row for row in document["records"] if row[7])


def scalar_first(document):
    return next(row for row in document["records"] if row[3])


def vector(document):
    return next(c for c in document["recording"]["calls"] if c["name"] == "Muls")


EDITS = {
    "unknown call": ("blocks/0.json", lambda d: d["records"][3].__setitem__(1, 10**6)),
    "negative call": ("blocks/0.json", lambda d: d["records"][3].__setitem__(1, -1)),
    "store elsewhere": ("blocks/0.json", lambda d: stores_first(d)[7][0].__setitem__(2, 10**12)),
    "store nothing": ("blocks/0.json", lambda d: stores_first(d).__setitem__(7, [])),
    "fewer records": ("blocks/0.json", lambda d: d["records"].remove(stores_first(d))),
    "scalar": ("blocks/0.json", lambda d: scalar_first(d).__setitem__(3, "0x1")),
    "no record": ("blocks/0.json", lambda d: d.pop("records")),
    "endless": ("run.json", lambda d: vector(d)["geometry"].update(count=10**15)),
    "no strings": ("run.json", lambda d: vector(d).update(name=["Muls"])),
    "escapes": ("run.json", lambda d: d["run"].update(op="\x1b[2J")),
    "odd type": ("run.json", lambda d: vector(d)["accesses"][0].__setitem__(4, "object")),
    "huge shape": ("run.json", lambda d: d["run"]["outputs"][0].__setitem__(2, [1 << 50])),
    "huge UB": ("run.json", lambda d: d["recording"].update(ub=1 << 50)),
    "no UB": ("run.json", lambda d: d["recording"].update(ub=0)),
    "block": ("run.json", lambda d: d["recording"].update(blocks=[1])),
    "mask mode": ("run.json", lambda d: vector(d).update(sets={"mask_mode": "odd"})),
    "odd register": ("run.json", lambda d: vector(d).update(sets={"depth": 1})),
    "wide mask": ("blocks/0.json", lambda d: d["registers"].update(mask={"int": hex(1 << 128)})),
    "no registers": ("blocks/0.json", lambda d: d.pop("registers")),
    "scale": ("blocks/0.json", lambda d: d["registers"].update(deq_scale="1.0")),
    "a list": ("run.json", lambda d: d.update(run=[])),
}


@pytest.mark.parametrize("name", EDITS)
def test_contradictions_are_refused(whole, tmp_path, name):
    refused(tmp_path / "bad", edited(whole, *EDITS[name]))


def test_deep_json_and_zip_bombs_are_refused(whole, tmp_path, monkeypatch):
    refused(tmp_path / "deep", altered(whole, "run.json", lambda _: "[" * 200_000))
    refused(tmp_path / "digits", altered(whole, "run.json", lambda _: "9" * 200_000))
    bomb = io.BytesIO()
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("run.json", "w", force_zip64=True) as member,
    ):
        for _ in range(3):
            member.write(bytes(1 << 23))
    assert len(bomb.getvalue()) < 1 << 16
    monkeypatch.setattr("ascendsim.observe.saved.archive.MOST_BYTES", 1 << 24)
    assert "unpack to more" in refused(tmp_path / "bomb", bomb.getvalue())
