"""Op: a kernel folder, loaded. Its definition at once, everything else when first asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from ascendsim import soc as socs
from ascendsim.dtypes import DType
from ascendsim.errors import AscendError, RequestError
from ascendsim.host import lists, loader
from ascendsim.host.definition import Attr, OpDef, check_shape, check_shapes, parse_attr
from ascendsim.host.loader import find_ops
from ascendsim.host.platform import PlatformAscendC
from ascendsim.host.signature import check_kernel, origin_of, place_of, takes
from ascendsim.host.tiling import (
    Origin,
    Shape,
    Tiling,
    TilingContext,
    check_field,
    check_made,
    parse_field,
)

__all__ = ["Attr", "Op", "OpDef", "find_ops", "load", "parse_attr"]

UB_MAX = 1 << 28
_loaded: dict[Path, tuple[object, Op]] = {}


def load(name: object, kernels: Iterable[str | os.PathLike[str]] = ()) -> Op:
    """Return the kernel called `name`: a name on the search path, a folder or a module.

    The same object as last time, unless a source file of the folder has changed since.

    Raises
    ------
    RequestError
        When there is no such kernel or its folder cannot be loaded; the text names the file.
    """
    if isinstance(name, Op):
        return name
    folder = loader.find_folder(name, kernels)
    stamp = loader.fingerprint(folder)
    known = _loaded.get(folder)
    if known is None or known[0] != stamp:
        known = _loaded[folder] = (stamp, Op(folder))
    return known[1]


class Op:
    """One operator: `definition`, `kernel`, `tiling()`, and the optional modules beside them."""

    def __init__(self, folder: Path, package: str | None = None) -> None:
        self.folder = folder
        self._package = package or loader.make_package(folder)
        definition = getattr(self._module(loader.DEFINITION), "OP", None)
        if not isinstance(definition, OpDef):
            raise RequestError(f"{folder / loader.DEFINITION} does not set OP = OpDef(...)")
        self.definition: OpDef = definition
        self.name = definition.name
        self._counts: dict[str, int] = {}
        self._with_lists: dict[tuple[tuple[str, int], ...], Op] = {}

    def __repr__(self) -> str:
        return f"Op({self.name!r}, {str(self.folder)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._counts:
            return _load_with_lists, (self.folder, self._counts)
        return load, (self.folder,)

    @property
    def lists(self) -> dict[str, int]:
        """How many tensors each of its lists has, {} before `with_lists`."""
        return dict(self._counts)

    @cached_property
    def kernel_module(self) -> ModuleType:
        """The module op_kernel.py."""
        return self._module("op_kernel.py")

    @cached_property
    def kernel(self) -> Callable[..., None]:
        """The kernel function, called once per block."""
        found = self._function(self.kernel_module, self.name)
        check_kernel(self.folder / "op_kernel.py", found, self.definition)
        return found

    @cached_property
    def api(self) -> ModuleType | None:
        """The module op_api.py, or None."""
        return self._optional("op_api.py")

    @cached_property
    def ref(self) -> ModuleType | None:
        """The module op_ref.py, or None."""
        return self._optional("op_ref.py")

    @cached_property
    def demo(self) -> ModuleType | None:
        """The module demo.py, or None."""
        return self._optional("demo.py")

    @cached_property
    def aclnn(self) -> ModuleType | None:
        """The module op_aclnn.py, or None."""
        return self._optional("op_aclnn.py")

    @cached_property
    def _tiling_function(self) -> Callable[..., Tiling]:
        return self._function(self._module("op_host.py"), "tiling")

    def tiling(
        self,
        shape: Shape | Mapping[str, Shape],
        dtype: Any = "float32",
        soc: str | None = None,
        cores: int | None = None,
        ub: int | None = None,
        fixed: Mapping[str, Any] | None = None,
        **attrs: Any,
    ) -> Tiling:
        """Run the tiling function.

        shape : one for all inputs, or {input: shape}. dtype : the first input's, or
        {tensor: dtype}. cores, ub : what tiling is told in place of the chip's own; `ub` is the
        simulated UB too. fixed : tiling fields to keep, the rest follows from them; `block_dim`
        there means cores.

        Raises
        ------
        RequestError
            On unknown names and nonsensical values, or a dtype that the SoC lacks.
        ShapeError
            When the definition refuses shapes or dtypes.
        TilingError
            When the tiling function says no.
        """
        kept = dict(fixed or {})
        ctx = self.context(shape, dtype, soc, kept.pop("block_dim", cores), ub, attrs)
        outputs = self.output_shapes(ctx)
        kept = dict(parse_field(name, value) for name, value in kept.items())
        for name, value in kept.items():
            check_field(name, value)
        made = self._run_tiling(ctx, kept)
        made.replace(kept)  # refuses fields that the tiling does not have
        soc, dtypes = ctx.platform.soc.name, dict(ctx.dtypes)
        shapes, values = dict(ctx.shapes), dict(ctx.attrs)
        origin = Origin(self.name, soc, ub, cores, shapes, dtypes, values, outputs)
        return replace(made, origin=origin)

    def context(
        self,
        shape: Any,
        dtype: Any = "float32",
        soc: str | None = None,
        cores: Any = None,
        ub: Any = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> TilingContext:
        """Return what the tiling function is given, every name and value checked."""
        cores, ub = (None if v is None else int(v) for v in (cores, ub))
        if cores is not None and not 1 <= cores <= 65535:
            raise RequestError(f"cores={cores} is outside 1..65535")
        if ub is not None and not 0 < ub <= UB_MAX:
            raise RequestError(f"ub={ub}: a UB of 1 to {UB_MAX} bytes can be simulated")
        shapes = check_shapes(self.definition, shape)
        chip = socs.load(soc or self.definition.socs[0])
        dtypes = self.definition.choose_dtypes(dtype)
        for tensor, element in dtypes.items():
            check_soc_dtype(chip, tensor, element)
        values = self.definition.attr_values(attrs or {})
        return TilingContext(shapes, dtypes, values, PlatformAscendC(chip, cores, ub))

    def output_shapes(self, ctx: TilingContext) -> dict[str, Shape]:
        """Return {output: shape} as the definition infers them.

        Raises
        ------
        ShapeError
            When the definition refuses the inputs' shapes.
        """
        outputs = self.definition.outputs
        infer = self.definition.infer
        shapes = ctx.shape if infer is None else self._call(loader.DEFINITION, infer, ctx)
        try:
            if isinstance(shapes, Mapping):
                return {name: check_shape(shapes[name]) for name in outputs}
            nested = len(shapes) > 0 and all(isinstance(s, (tuple, list)) for s in shapes)
            rows = shapes if nested else [shapes] * len(outputs)
            return {name: check_shape(s) for name, s in zip(outputs, rows, strict=True)}
        except (KeyError, TypeError, ValueError, RequestError) as error:
            raise RequestError(
                f"{self.folder / loader.DEFINITION}: infer gives {shapes!r}: one shape, or the "
                f"shapes of {', '.join(outputs)}, are needed"
            ) from error

    def soc_warning(self, soc: str) -> str | None:
        """Return a warning when the kernel is not registered for `soc` (a what-if), else None."""
        name = socs.load(soc).name
        registered = [socs.load(s).name for s in self.definition.socs]
        if name in registered:
            return None
        return f"{self.name} is not registered for {name} (only {', '.join(registered)}): a what-if"

    def variant(
        self, source: str | None = None, constants: Mapping[str, object] | None = None
    ) -> Op:
        """Return this op with another text of op_kernel.py, or other values of its constants."""
        settings = sorted((constants or {}).items())
        package = loader.make_package(self.folder, salt=(source, settings))
        copy = Op(self.folder, package)
        copy.kernel_module = loader.load_module(
            package, self.folder / "op_kernel.py", source, dict(settings)
        )
        return copy.with_lists(**self._counts) if self._counts else copy

    def with_lists(self, **counts: int) -> Op:
        """Return this op with so many tensors in each of its lists (OpDef.lists).

        Its tensors are then called NAME_0, NAME_1, ...; the kernel gets each list as one argument.

        Raises
        ------
        RequestError
            When a list is missing or unknown, or a number is not 1..256.
        """
        checked = lists.check_counts(self.definition, counts)
        key = tuple(sorted(checked.items()))
        if key not in self._with_lists:
            copy = Op(self.folder, self._package)
            copy.kernel_module = self.kernel_module
            copy.kernel = lists.bundled(self.kernel, self.definition, checked)
            copy.definition, copy._counts = lists.expanded(self.definition, checked), checked
            self._with_lists[key] = copy
        return self._with_lists[key]

    def _run_tiling(self, ctx: TilingContext, kept: dict[str, Any]) -> Tiling:
        function, file = self._tiling_function, self.folder / "op_host.py"
        takes_fixed = takes(function, 2)
        if not (takes_fixed or takes(function, 1)):
            place, own = origin_of(file, function)
            raise RequestError(f"{place}: write tiling(ctx) or tiling(ctx, fixed={{}}), not {own}")
        if kept and not takes_fixed:
            raise RequestError(f"{file}: tiling(ctx) takes no `fixed`, so no field can be kept")
        made = self._call("op_host.py", function, *((ctx, kept) if takes_fixed else (ctx,)))
        if not isinstance(made, Tiling):
            raise RequestError(f"{place_of(file, function)}: tiling() must return a Tiling")
        check_made(made, place_of(file, function))
        return made

    def _call(self, file: str, function: Callable[..., Any], *args: Any) -> Any:
        """Call the folder's own code; what is no AscendError is a mistake in that code."""
        try:
            return function(*args)
        except (AscendError, KeyboardInterrupt):
            raise
        except BaseException as error:
            text = loader.complaint(self.folder / file, error, "fails")
            raise RequestError(text) from error

    def _module(self, file: str) -> ModuleType:
        return loader.load_module(self._package, self.folder / file)

    def _optional(self, file: str) -> ModuleType | None:
        return self._module(file) if (self.folder / file).is_file() else None

    def _function(self, module: ModuleType, name: str) -> Callable[..., Any]:
        found = getattr(module, name, None)
        if not callable(found):
            raise RequestError(f"{module.__file__} has no function {name}")
        return found


def _load_with_lists(folder: Path, counts: dict[str, int]) -> Op:
    return load(folder).with_lists(**counts)


def check_soc_dtype(chip: socs.Soc, tensor: str, element: DType) -> None:
    """Refuse a float type that no conversion of the SoC knows (bfloat16 on older chips)."""
    cast = chip.ops.get("Cast")
    if element.kind != "float" or cast is None:
        return
    known = {name for pair in cast.pairs for name in pair.split("->")}
    if known and element.name not in known:
        raise RequestError(f"{chip.name} has no {element.name} (asked for {tensor})")
