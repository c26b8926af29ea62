"""How bodies are compiled, kept and found again."""

from __future__ import annotations

import ast
import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from llvmlite import binding

from ascendsim import soc as socs
from ascendsim.errors import RequestError
from ascendsim.isa import REGISTRY
from ascendsim.numerics import families, jitcache, units, vexec
from ascendsim.numerics.intrinsics import fill_bytes
from ascendsim.numerics.opcodes import COUNT, DST, OP, ROW_WORDS
from tests.numerics.vexec_rows import fresh

SMALL_BODY = "duplicate_4"
#: the smallest unit there is, since each process below compiles it
RUN_SMALL = """
import numpy as np
from ascendsim.numerics import jitcache, vexec
memory = np.zeros(4, np.uint8)
vexec.fill(memory.ctypes.data, 3, 9)
assert memory.tolist() == [9, 9, 9, 0]
print(jitcache.directory())
"""


def python(code, **environment):
    """Run code in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **{k: str(v) for k, v in environment.items()}},
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_names_of_the_contract():
    floats = [*families.ARITHMETIC, "compare", "compares"]
    wanted = {f"{i}_{d}" for i in floats for d in ("float32", "float16", "bfloat16")}
    wanted |= {f"{i}_{d}" for i in ("div", "sqrt", "exp", "ln") for d in ("float32", "float16")}
    wanted |= {f"{i}_{n}" for i in ("select", "selects") for n in (2, 4)}
    wanted |= {f"duplicate_{n}" for n in (1, 2, 4)}
    wanted |= {f"cast_{s}_{d}" for s, d in families.CASTS}
    wanted |= {f"copy_{n}" for n in (1, 2, 4, 8)}
    wanted |= {"tree", "sum", "extreme", "extreme_all", "accumulate"}
    wanted |= {"broadcast", "gather", "gather_mask", "transpose", "format"}
    assert wanted <= set(vexec.NAMES)
    assert 0 not in vexec.NAMES.values()
    assert len(set(vexec.NAMES.values())) == len(vexec.NAMES)
    assert vexec.family_of(vexec.opcode("muls_float32")) == "arith_float32"
    with pytest.raises(KeyError):
        vexec.opcode("muls_int7")


def test_every_claimed_call_has_a_body():
    for soc in map(socs.load, socs.NAMES):
        for name in REGISTRY.keys() & soc.ops.keys():
            row, body = soc.ops[name], REGISTRY[name].body
            pairs = {f"{body}_{pair.replace('->', '_')}" for pair in row.pairs}
            assert pairs <= set(vexec.NAMES), (soc.name, name)
            if not REGISTRY[name].pair and not REGISTRY[name].bits:
                assert {f"{body}_{dtype}" for dtype in row.dtypes} <= set(vexec.NAMES)


def test_importing_compiles_nothing(tmp_path):
    cache = tmp_path / "cache"
    code = "from ascendsim.numerics import vexec; print(vexec.loaded_families())"
    assert python(code, ASCENDSIM_CACHE=cache) == "()"
    assert not cache.exists()


#: imported, but nothing of it is compiled
TEXTS = {"errors.py"}


def imported(source):
    """Return the files of this package that a file imports."""
    found = set()
    for node in ast.walk(ast.parse((jitcache.PACKAGE / source).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("ascendsim"):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            paths = {"/".join(name.split(".")[1:]) + ".py" for name in names}
            found |= {path for path in paths if (jitcache.PACKAGE / path).is_file()}
    return found


def test_every_compiled_source_is_in_the_digest():
    reached: set[str] = set()
    waiting = {"numerics/vexec.py", "numerics/ball.py", "numerics/differences.py"}
    waiting |= {"engine/table.py", "engine/generated.py", "engine/emit_sweep.py"}
    while waiting:
        source = waiting.pop()
        reached.add(source)
        waiting |= imported(source) - reached
    assert reached - TEXTS == set(jitcache.COMPILED_SOURCES)


def test_digest_changes_with_every_source(tmp_path):
    copy = tmp_path / "ascendsim"
    for name in ("numerics", "engine"):
        (copy / name).mkdir(parents=True)
    for name in jitcache.COMPILED_SOURCES:
        shutil.copy(jitcache.PACKAGE / name, copy / name)
    assert jitcache.digest(copy) == jitcache.digest()
    seen = {jitcache.digest()}
    for name in jitcache.COMPILED_SOURCES:
        with (copy / name).open("a") as file:
            file.write("# changed\n")
        seen.add(jitcache.digest(copy))
    assert len(seen) == 1 + len(jitcache.COMPILED_SOURCES)


def test_second_process_loads_what_the_first_compiled(tmp_path):
    place = Path(python(RUN_SMALL, ASCENDSIM_CACHE=tmp_path))
    assert place.parent == tmp_path
    before = {f: f.stat().st_mtime_ns for f in place.iterdir()}
    assert [f.name for f in before] == ["fill.o"]
    without_numba = RUN_SMALL + "import sys\nassert 'numba' not in sys.modules\n"
    python(without_numba, ASCENDSIM_CACHE=tmp_path)
    assert {f: f.stat().st_mtime_ns for f in place.iterdir()} == before


def test_unwritable_cache_falls_back_to_temporary_directory(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file, so no directory can be made below it")
    place = python(RUN_SMALL, ASCENDSIM_CACHE=blocked, TMPDIR=tmp_path)
    assert Path(place).parent == tmp_path / f"ascendsim-{os.getuid()}"


def test_temporary_directory_open_to_others_is_not_used(tmp_path):
    open_to_all = tmp_path / f"ascendsim-{os.getuid()}"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    blocked = tmp_path / "file"
    blocked.write_text("")
    place = Path(python(RUN_SMALL, ASCENDSIM_CACHE=blocked, TMPDIR=tmp_path))
    assert open_to_all not in place.parents


def test_damaged_cache_is_compiled_again(tmp_path):
    place = Path(python(RUN_SMALL, ASCENDSIM_CACHE=tmp_path))
    (file,) = place.iterdir()
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for content in (b"", whole[:100], whole[:-1], bytes(flipped), b"garbage" * 999):
        file.write_bytes(content)
        assert jitcache._kept(file) is None
    python(RUN_SMALL, ASCENDSIM_CACHE=tmp_path)
    assert jitcache._kept(file) is not None


def test_code_for_other_sources_or_another_machine_is_not_found(tmp_path, monkeypatch):
    names = {jitcache.digest()}
    features = binding.get_host_cpu_features()
    features["avx2"] = not features.get("avx2")
    with monkeypatch.context() as patch:
        patch.setattr(binding, "get_host_cpu_features", lambda: features)
        names.add(jitcache.digest())
    with monkeypatch.context() as patch:
        patch.setattr(binding, "get_host_cpu_name", lambda: "another")
        names.add(jitcache.digest())
    for variable in ("NUMBA_CPU_NAME", "ASCENDSIM_NO_F16C"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "generic")
            names.add(jitcache.digest())
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path)
        (tmp_path / ".numba_config.yaml").write_text("opt: 0\n")
        names.add(jitcache.digest())
    with monkeypatch.context() as patch:
        patch.setattr(jitcache.llvmlite, "__version__", "0.0")
        names.add(jitcache.digest())
    assert len(names) == 7


def test_without_a_compiler_one_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    monkeypatch.setattr(jitcache, "directory", lambda: tmp_path)
    with pytest.raises(RequestError, match=r"NUMBA_DISABLE_JIT is set.*unset it") as caught:
        jitcache.unit("fill", vexec.FILL_SIGNATURE, lambda: units.fill_all)
    assert caught.value.located


def test_nothing_writable_at_all_compiles_without_cache(monkeypatch):
    monkeypatch.setattr(jitcache, "directory", lambda: None)
    assert_fills(jitcache.unit("fill", vexec.FILL_SIGNATURE, lambda: units.fill_all).call)


def test_a_disk_that_is_full_costs_only_time(tmp_path, monkeypatch):
    monkeypatch.setattr(jitcache, "directory", lambda: tmp_path / "gone")
    assert_fills(jitcache.unit("fill", vexec.FILL_SIGNATURE, lambda: units.fill_all).call)


def test_the_entry_for_python_checks_its_arguments():
    fill = jitcache.unit("fill", vexec.FILL_SIGNATURE, lambda: units.fill_all, nogil=True).call
    assert_fills(fill)
    for wrong in ((), (1, 2), (1, 2, 3, 4), (1, "2", 3), (1, 2.0, 3), (1 << 64, 0, 0)):
        with pytest.raises((TypeError, OverflowError)):
            fill(*wrong)
    with pytest.raises(TypeError):
        vexec.entry(vexec.opcode(SMALL_BODY))(0, "1")


def test_code_that_needs_numba_is_run_by_numba(tmp_path, monkeypatch):
    """An object that asks for a symbol that this process may lack must not be linked."""
    monkeypatch.setattr(jitcache, "directory", lambda: tmp_path)

    def allocates(address, count, unused):
        for value in [address] * count:
            fill_bytes(value, 3, 9)

    assert_fills(jitcache.unit("allocates", vexec.FILL_SIGNATURE, lambda: allocates).call, 1)
    assert not list(tmp_path.iterdir())


def assert_fills(call, second=3):
    memory = np.zeros(4, np.uint8)
    assert call(memory.ctypes.data, second, 9) is None
    assert memory.tolist() == [9, 9, 9, 0]


def test_settings_of_the_user_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    jitcache.compiled(units.fill_all, vexec.FILL_SIGNATURE, "fill_arrays")
    assert str(tmp_path) == numba.config.CACHE_DIR
    assert not list(tmp_path.iterdir())


def test_a_damaged_cache_of_numba_is_made_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(jitcache, "directory", lambda: tmp_path)
    jitcache.compiled(units.fill_all, vexec.FILL_SIGNATURE, "fill_arrays")
    for path in filter(Path.is_file, tmp_path.rglob("*")):
        path.write_bytes(b"damaged")
    assert_fills(jitcache.compiled(units.fill_all, vexec.FILL_SIGNATURE, "fill_arrays"))
    assert any(p.is_file() and p.read_bytes() != b"damaged" for p in tmp_path.rglob("*"))


def test_address_is_a_c_function():
    opcode = vexec.opcode(SMALL_BODY)
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_double)(vexec.address(opcode))
    got = np.zeros(3, np.uint32)
    row = np.zeros(ROW_WORDS, np.int64)
    row[[OP, COUNT, DST]] = opcode, 3, got.ctypes.data
    function(row.ctypes.data, 7.0)
    assert got.tolist() == [7, 7, 7]


HALF = pytest.param("arith_float16", marks=pytest.mark.slow)


@pytest.mark.parametrize("family", ["arith_float32", HALF, "exp_float32"])
def test_only_exp_fuses_multiplication_and_addition(family, monkeypatch):
    fused = family == "exp_float32"
    if fused and not binding.get_host_cpu_features().get("fma"):
        pytest.skip("host without fused multiply-add")
    monkeypatch.setattr(jitcache, "directory", lambda: None)  # cached code cannot be inspected
    function = units.family_function(family)
    dispatcher = jitcache.dispatcher_of(function, vexec.ROW_SIGNATURE)
    assembly = dispatcher.inspect_asm(dispatcher.signatures[0])
    assert "mul" in assembly
    assert bool(re.search("fn?m(add|sub)", assembly)) == fused


@pytest.mark.slow
def test_cold_processes_at_once(tmp_path):
    command = [sys.executable, "-c", RUN_SMALL]
    environment, root = {**os.environ, "ASCENDSIM_CACHE": str(tmp_path)}, Path(__file__).parents[2]
    running = [subprocess.Popen(command, env=environment, cwd=root) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    assert python(RUN_SMALL, ASCENDSIM_CACHE=tmp_path)


def test_warmup_compiles_every_family():
    """Or finds them compiled: where the cache was empty the tests before have filled it."""
    code = (
        "from ascendsim.numerics import jitcache, vexec\nnames = []\nvexec.warmup(names.append)\n"
        "assert tuple(names) == vexec.loaded_families()\n"
        "assert all((jitcache.directory() / f'{name}.o').is_file() for name in names)\n"
        "print(len(names))"
    )
    assert int(python(code)) == len(vexec.FAMILIES) + 2
    assert fresh(SMALL_BODY, np.uint32, 1, scalar=3.0)[0] == 3
