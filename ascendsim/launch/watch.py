"""What a kernel reads from outside its arguments: globals, closures, attributes of its classes.

A kept plan is valid only while all of it is unchanged: a constant edited in a notebook must not
give the result of yesterday's constant.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import repeat
from operator import is_
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ascendsim.launch.blocks import is_kernel_file

_PLAIN = (int, float, complex, str, bytes, bool, type(None), np.generic, np.dtype)


class Watch:
    """Values that a kernel can reach, and whether they are still the same.

    A launch that replays asks this each time, so the look-ups are grouped and left to C code.
    """

    def __init__(self) -> None:
        self.items: dict[int, tuple[Mapping[str, Any], dict[str, Any]]] = {}
        self.attributes: list[tuple[Any, str, Any]] = []
        self.contents: list[tuple[Any, Any]] = []
        self._visited: set[int] = set()

    def unchanged(self) -> bool:
        """Tell whether a run of the kernel would read the same values."""
        try:
            for mapping, values in self.items.values():
                if not all(map(is_, map(mapping.__getitem__, values), values.values())):
                    return False
        except KeyError:
            return False
        if self.attributes:
            holders, names, known = zip(*self.attributes, strict=True)
            if not all(map(is_, map(getattr, holders, names, repeat(None)), known)):
                return False
        return all(_content(value) == before for value, before in self.contents)

    def function(self, function: FunctionType) -> None:
        """Watch what a function reads."""
        if self._known(function):
            return
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            self._attribute(function, name)
        for cell in function.__closure__ or ():
            self._attribute(cell, "cell_contents")
        for name in _names(function.__code__):
            if name in function.__globals__:
                self._item(function.__globals__, name)

    def _attribute(self, holder: Any, name: str) -> None:
        value = getattr(holder, name, None)
        self.attributes.append((holder, name, value))
        self._value(value)

    def _item(self, mapping: Mapping[str, Any], name: str) -> None:
        value = mapping[name]
        _, values = self.items.setdefault(id(mapping), (mapping, {}))
        if name not in values:
            values[name] = value
            self._value(value)

    def _value(self, value: Any) -> None:
        """Watch what is inside a value."""
        if isinstance(value, (*_PLAIN, CodeType)):
            return
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        if isinstance(value, property):
            value = value.fget
        if isinstance(value, FunctionType):
            if is_kernel_file(value.__code__.co_filename):
                self.function(value)
        elif isinstance(value, ModuleType):
            if is_kernel_file(getattr(value, "__file__", None) or "") and not self._known(value):
                self._mapping(vars(value))
        elif isinstance(value, type):
            if not self._known(value) and _is_kernels(value):
                self._mapping(vars(value))
        elif not callable(value) and not self._known(value):
            self.contents.append((value, _content(value)))

    def _mapping(self, mapping: Mapping[str, Any]) -> None:
        for name in list(mapping):
            if not name.startswith("__") or name == "__init__":
                self._item(mapping, name)

    def _known(self, value: Any) -> bool:
        known = id(value) in self._visited
        self._visited.add(id(value))
        return known


def watched(kernel: Callable[..., Any]) -> Watch:
    """Return the watch over what a kernel reads, as it is now."""
    watch = Watch()
    watch._value(kernel)
    return watch


def _is_kernels(value: type) -> bool:
    """Tell whether a class comes from the kernel's own sources."""
    module = sys.modules.get(value.__module__)
    file = getattr(module, "__file__", None)
    if file is not None:
        return is_kernel_file(file)
    return value.__module__ not in sys.builtin_module_names  # a notebook's, for instance


def _names(code: CodeType) -> Iterable[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _content(value: Any) -> Any:
    """Return a comparable picture of a mutable value."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return repr(value)
    return repr(getattr(value, "__dict__", None))
