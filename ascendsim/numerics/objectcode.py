"""From a numba function to the bytes of an object file, and from those to something to call.

Only the first half needs numba. The second links the object into the process with llvmlite, which
takes milliseconds where importing numba and starting its type system take most of a second; it is
also what a process does with code that it has just compiled, so there is one way to run it.

An object has two functions: the unit under the C calling convention, and an entry for Python that
converts the arguments and calls it (METH_FASTCALL, which is cheaper than numba's own wrapper).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from llvmlite import binding

KINDS = {"int64": ("i64", "PyLong_AsLongLong"), "float64": ("double", "PyFloat_AsDouble")}
_METH_FASTCALL = 0x80
#: all that an object may ask of the process, beside the C library's memory and math functions
_SYMBOLS = {
    "PyErr_BadArgument": "i32 @PyErr_BadArgument()",
    "PyErr_BadInternalCall": "void @PyErr_BadInternalCall()",
    "PyErr_Occurred": "ptr @PyErr_Occurred()",
    "PyEval_RestoreThread": "void @PyEval_RestoreThread(ptr)",
    "PyEval_SaveThread": "ptr @PyEval_SaveThread()",
    "PyFloat_AsDouble": "double @PyFloat_AsDouble(ptr)",
    "PyLong_AsLongLong": "i64 @PyLong_AsLongLong(ptr)",
    "Py_IncRef": "void @Py_IncRef(ptr)",
}


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Compiled code: `call` from Python, `address` under the C calling convention."""

    call: Callable[..., None]
    address: int


def emitted(dispatcher: Any, unit: str, signature: str, nogil: bool) -> bytes | None:
    """Return the object file of a numba function that returns nothing and raises nothing.

    None when its code needs numba's runtime, so that it cannot stand alone.
    """
    from numba.core.registry import cpu_target

    (result,) = dispatcher.overloads.values()
    native = result.fndesc.mangled_name
    module = binding.parse_assembly(result.library.get_llvm_str())
    kinds = [KINDS[word.strip()] for word in signature.removeprefix("void(").rstrip(")").split(",")]
    head = f'target triple = "{module.triple}"\ntarget datalayout = "{module.data_layout}"\n'
    module.link_in(binding.parse_assembly(head + _entries(unit, native, kinds, nogil)))
    for function in module.functions:
        if not function.is_declaration:
            kept = function.name in (f"{unit}_plain", f"{unit}_entry")
            function.linkage = "external" if kept else "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    machine = cpu_target.target_context.codegen()._tm
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()  # numba's wrappers, and what they need
    passes.run(module, binding.create_pass_builder(machine, binding.PipelineTuningOptions()))
    outside = [*module.functions, *module.global_variables]
    names = {each.name for each in outside if each.is_declaration}
    if {name for name in names if not name.startswith("llvm.")} - set(_SYMBOLS):
        return None
    return bytes(machine.emit_object(module))


def _entries(unit: str, native: str, kinds: list[tuple[str, str]], nogil: bool) -> str:
    """Return the LLVM assembly of both functions of a unit, around numba's native function.

    Arguments that do not convert raise as Python's converters say; PyErr_BadInternalCall stands
    for an exception of numba code, which none of ours has.
    """
    arguments = ", ".join(f"{kind} %a{k}" for k, (kind, _) in enumerate(kinds))
    call = f'call i32 @"{native}"(ptr %result, ptr %exception, {arguments})'
    room = "%result = alloca ptr\n%exception = alloca ptr"
    take, bad = [], "false"
    for k, (kind, convert) in enumerate(kinds):
        test = f"icmp eq {kind} %a{k}, -1" if kind == "i64" else f"fcmp oeq {kind} %a{k}, -1.0"
        take += [
            f"%p{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"%o{k} = load ptr, ptr %p{k}",
            f"%a{k} = call {kind} @{convert}(ptr %o{k})",
            f"%m{k} = {test}",
            f"%b{k} = or i1 {bad}, %m{k}",
        ]
        bad = f"%b{k}"
    release = "%thread = call ptr @PyEval_SaveThread()" if nogil else ""
    acquire = "call void @PyEval_RestoreThread(ptr %thread)" if nogil else ""
    declared = "\n".join(f"declare {signature}" for signature in _SYMBOLS.values())
    native_kinds = ", ".join(kind for kind, _ in kinds)
    return _ASSEMBLY.format(
        declared=f'{declared}\ndeclare i32 @"{native}"(ptr, ptr, {native_kinds})',
        unit=unit,
        arguments=arguments,
        room=room,
        call=call,
        count=len(kinds),
        take="\n".join(take),
        bad=bad,
        release=release,
        acquire=acquire,
    )


_ASSEMBLY = """\
{declared}
define void @"{unit}_plain"({arguments}) {{
{room}
%status = {call}
ret void
}}
define ptr @"{unit}_entry"(ptr %self, ptr %args, i64 %count) {{
{room}
%right = icmp eq i64 %count, {count}
br i1 %right, label %take, label %wrong
wrong:
call i32 @PyErr_BadArgument()
ret ptr null
take:
{take}
br i1 {bad}, label %check, label %run
check:
%error = call ptr @PyErr_Occurred()
%failed = icmp ne ptr %error, null
br i1 %failed, label %fail, label %run
fail:
ret ptr null
run:
{release}
%status = {call}
{acquire}
%ok = icmp eq i32 %status, 0
br i1 %ok, label %done, label %broken
broken:
call void @PyErr_BadInternalCall()
ret ptr null
done:
call void @Py_IncRef(ptr %self)
ret ptr %self
}}
"""


class _Definition(ctypes.Structure):
    """PyMethodDef of the C API; must live as long as the function made from it."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_linked: list[Any] = []  # objects and definitions that functions in use stand on


def linked(code: bytes, unit: str) -> Unit:
    """Link an object file into this process and return its unit; it stays for good."""
    engine = _engine()
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    entry = engine.get_function_address(f"{unit}_entry")
    definition = _Definition(unit.encode(), entry, _METH_FASTCALL, None)
    _linked.append(definition)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    # self is None: the entry returns it
    call = make(ctypes.addressof(definition), None, None)
    return Unit(call, engine.get_function_address(f"{unit}_plain"))


@cache
def _engine() -> binding.ExecutionEngine:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
