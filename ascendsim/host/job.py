"""From an operator, its arrays and a tiling to the job that is launched."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ascendsim import soc as socs
from ascendsim.dtypes import DType
from ascendsim.errors import RequestError, ShapeError
from ascendsim.host.op import Op
from ascendsim.host.tiling import Tiling
from ascendsim.launch import Job
from ascendsim.options import Options
from ascendsim.soc import Soc


def make_job(
    op: Op,
    arrays: Mapping[str, np.ndarray],
    tiling: Tiling,
    soc: str | Soc | None,
    seed: int,
    options: Options,
) -> Job:
    """Return the job of a launch.

    Raises
    ------
    RequestError
        When an array is missing or unknown, or the tiling does not come from this operator.
    ShapeError
        When shapes or dtypes do not agree with the tiling.
    """
    chip = _chip(op, tiling, soc)
    inputs, types = _checked_inputs(op, arrays, tiling)
    outputs = {
        name: (tuple(tiling.output_shapes[name]), tiling.dtypes[name])
        for name in op.definition.outputs
    }
    return Job(
        name=op.name,
        kernel=op.kernel,
        inputs=inputs,
        input_types=types,
        outputs=outputs,
        tiling=tiling.kernel_view(),
        block_dim=tiling.block_dim,
        workspace=sum(tiling.workspace),
        soc=chip,
        ub_bytes=tiling.ub or chip.ub_bytes,
        options=options,
        seed=seed,
        identity=_identity(op, tiling),
    )


def _chip(op: Op, tiling: Tiling, soc: str | Soc | None) -> Soc:
    """Return the SoC to run on; refuse a tiling that `op` did not make."""
    if not isinstance(tiling, Tiling) or tiling.origin is None:
        raise RequestError(f"the tiling is {tiling!r}; make it with op.tiling(...)")
    if tiling.origin.op != op.name:
        raise RequestError(f"the tiling was made by {tiling.origin.op}, not by {op.name}")
    return soc if isinstance(soc, Soc) else socs.load(soc or tiling.origin.soc)


def _identity(op: Op, tiling: Tiling) -> tuple[Any, ...]:
    """Return what a core is kept for: all that steers the kernel but its data.

    So what a run reports does not depend on launches before it.
    """
    types = tuple(t.name for t in tiling.dtypes.values())
    shapes = tuple(tuple(shape) for shape in tiling.shapes.values())
    fields = tuple(tiling.printed().items())
    return op.kernel, tiling.key, tiling.block_dim, fields, types, shapes


def timing_job(op: Op, tiling: Tiling, options: Options, soc: str | Soc | None = None) -> Job:
    """Return the job of a launch that makes records only: its arrays have no bytes."""
    chip = _chip(op, tiling, soc)
    return make_job(op, _shapes_only(op, tiling), tiling, chip, 0, options)


def _shapes_only(op: Op, tiling: Tiling) -> dict[str, np.ndarray]:
    """Return arrays that have a shape and a dtype but no bytes of their own."""
    return {
        name: np.broadcast_to(np.zeros((), tiling.dtypes[name].numpy), tiling.shapes[name])
        for name in op.definition.inputs
    }


def _checked_inputs(
    op: Op, arrays: Mapping[str, np.ndarray], tiling: Tiling
) -> tuple[dict[str, np.ndarray], dict[str, DType]]:
    inputs, types = {}, {}
    if not isinstance(arrays, Mapping):
        names = ", ".join(f"{name!r}: ..." for name in op.definition.inputs)
        raise RequestError(f"the arrays are of {type(arrays)}; give them by name: {{{names}}}")
    for name in op.definition.inputs:
        if name not in arrays:
            raise RequestError(
                f"input {name!r} is missing; {op.name} needs {', '.join(op.definition.inputs)}"
            )
        array, wanted = _values(name, arrays[name], tiling.dtypes[name]), tiling.dtypes[name]
        shape = tuple(tiling.shapes[name])
        if array.shape != shape and (math.prod(shape) != array.size or array.shape != (1,)):
            raise ShapeError(
                f"input {name} has shape {array.shape}, but the tiling was made for {shape}"
            )
        inputs[name], types[name] = array, wanted
    for extra in set(arrays) - set(inputs):
        raise RequestError(f"{op.name} has no input {extra!r}: {', '.join(op.definition.inputs)}")
    return inputs, types


def _values(name: str, given: Any, wanted: DType) -> np.ndarray:
    """Return `given` as an array of the type `wanted`, in the byte order of this machine."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise RequestError(f"input {name} is no array: {error}") from error
    if array.dtype.newbyteorder("=") == wanted.numpy:
        return array.astype(wanted.numpy, copy=False)
    if array.dtype == bool and wanted.name == "uint8":
        return array
    library = "ml_dtypes" if wanted.name == "bfloat16" else "np"
    raise ShapeError(
        f"input {name} is {array.dtype}, but the tiling was made for {wanted}; convert it with "
        f".astype({library}.{wanted.name}), or make the tiling for its type"
    )
