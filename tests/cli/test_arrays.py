"""npz files in and out, and random inputs."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ascendsim.cli import arrays
from ascendsim.dtypes import bfloat16, dtype, float16, float32, int32, uint8
from ascendsim.errors import RequestError
from ascendsim.explore import inputs
from tests.helpers import assert_same_bits

BITS = np.array([[0x3F80, 0x7FC1, 0xFF80], [0x8000, 0x0001, 0x7BFF]], np.uint16)


def _read(path: Path, array: np.ndarray, name: str) -> np.ndarray:
    np.savez(path, a=array, unused=np.ones(2))
    return arrays.read_inputs(str(path), {"a": dtype(name)})["a"]


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_16_bit_raw_or_typed(tmp_path: Path, name: str) -> None:
    want = BITS.view(dtype(name).numpy)
    for stored in (BITS, want, BITS.astype(">u2"), np.asfortranarray(BITS)):
        assert_same_bits(_read(tmp_path / "a.npz", stored, name), want)


def test_float32_raw_or_typed(tmp_path: Path) -> None:
    bits = np.array([0x7F800001, 0x80000000, 0x3E2AAAAA], np.uint32)
    for stored in (bits, bits.view(np.float32), bits.astype(">u4")):
        assert_same_bits(_read(tmp_path / "a.npz", stored, "float32"), bits.view(np.float32))


def test_integers_travel_as_themselves(tmp_path: Path) -> None:
    assert_same_bits(
        _read(tmp_path / "a.npz", np.array([-1, 5], np.int32), "int32"),
        np.array([-1, 5], np.int32),
    )
    assert_same_bits(
        _read(tmp_path / "a.npz", np.array([True, False]), "bool"), np.array([1, 0], np.uint8)
    )


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_shapes_are_kept(tmp_path: Path, shape: tuple[int, ...]) -> None:
    values = np.ones(shape, ml_dtypes.bfloat16)
    arrays.write_outputs(tmp_path / "o", {"out": values, "count": np.ones(shape, np.int32)})
    with np.load(tmp_path / "o") as archive:
        assert archive["out"].dtype == np.uint16
        assert archive["count"].dtype == np.int32
        assert archive["out"].shape == archive["count"].shape == shape
    np.savez(tmp_path / "i.npz", out=arrays.raw_bits(values))
    back = arrays.read_inputs(str(tmp_path / "i.npz"), {"out": bfloat16})["out"]
    assert_same_bits(back, values)


def test_random_is_the_same_however_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"grad": float32, "x": float16, "k": int32, "flag": uint8}
    whole = inputs.random_inputs(wanted, (10, 100), 7)
    monkeypatch.setattr(inputs, "_CHUNK", 128)
    pieces = inputs.random_inputs(wanted, (10, 100), 7)
    for name in ("grad", "x"):
        assert_same_bits(pieces[name], whole[name])
    other = inputs.random_inputs(wanted, (10, 100), 8)
    assert not np.array_equal(other["grad"], whole["grad"])


def test_random_distributions() -> None:
    made = inputs.random_inputs({"grad": float32, "x": float32, "k": int32}, (100_000,), 0)
    assert 0.98 < made["grad"].std() < 1.02
    assert 3.92 < made["x"].std() < 4.08
    assert made["k"].min() < -(2**30) and made["k"].max() > 2**30  # noqa: PT018


def test_another_type_is_suggested(tmp_path: Path) -> None:
    np.savez(tmp_path / "i.npz", a=np.ones(3, np.float16))
    with pytest.raises(RequestError, match="give --dtype float16"):
        arrays.read_inputs(str(tmp_path / "i.npz"), {"a": float32})


def test_arrays_that_are_not_used_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    np.savez(tmp_path / "i.npz", a=np.ones(3, np.float32), q=np.ones(3))
    assert list(arrays.read_inputs(str(tmp_path / "i.npz"), {"a": float32})) == ["a"]
    assert "warning" in (said := capsys.readouterr().err)
    assert "q not used; the operator reads a" in said
