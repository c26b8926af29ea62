"""The rules of the model that a run relies on, each with its grade per architecture.

Grades, weakest last: documented (manual), code (published headers), report (public report about
silicon), assumed (our choice where all are silent). `ascendsim isa NAME` and the evidence of a
run print them. Sources are cited by repository and path; the words are ours.
"""

from __future__ import annotations

from typing import Any

from ascendsim.dtypes import DType
from ascendsim.enums import CMPMODE, RoundMode
from ascendsim.isa.rule import MANUAL as _MANUAL
from ascendsim.isa.rule import Rule
from ascendsim.isa.rule import make_rule as _rule
from ascendsim.isa.rule_texts import TEXTS
from ascendsim.isa.rules_arith import ARITH
from ascendsim.options import Options

GRADES = ("documented", "code", "report", "assumed")


_ACCURACY = f"{_MANUAL}, accuracy table of the 950 register instructions"
_ALL = (
    _rule(
        "launch-overflow-mode",
        "launch-time overflow mode: half and bfloat16 results keep inf and NaN on 910B-class and "
        "950 (CTRL[48]=1) and saturate on 910 and 310P; fp32 results never saturate",
        "runtime documentation of the device overflow mode; register page says otherwise",
        "assumed",
    ),
    _rule(
        "round-once",
        "add, subtract and multiply round once, to nearest even, in the operand type",
        _ACCURACY,
        "assumed",
        arch3510="documented",
    ),
    _rule(
        "subnormals-kept",
        "the add and multiply family keeps subnormal operands and results",
        f"{_ACCURACY}; pto-isa type-system page says flushed",
        "assumed",
        arch3510="documented",
    ),
    _rule(
        "flush-subnormals",
        "Exp, Ln, Div and Sqrt read subnormal operands as zero and flush subnormal results",
        f"{_MANUAL}, Div table of 950 (recomputed); ops-nn@af2ee7e9a for Div on A2",
        "assumed",
        arch3510="documented",
    ),
    _rule(
        "exp-bits",
        "Exp gives the correctly rounded result (950 documents 1 ulp, 910B no bound)",
        f"{_MANUAL}, Exp page",
        "assumed",
    ),
    _rule(
        "ln-bits",
        "Ln gives the correctly rounded result (950 documents 1 ulp, 910B no bound)",
        f"{_MANUAL}, Ln page",
        "assumed",
    ),
    _rule(
        "div-bits",
        "Div gives the correctly rounded quotient (950 documents 1 ulp, 910B no bound)",
        f"{_MANUAL}, Div page",
        "assumed",
    ),
    _rule(
        "sqrt-bits",
        "Sqrt gives the correctly rounded root (950 documents 1 ulp, and one printed value that "
        "is 1 ulp off; 910B no bound)",
        f"{_MANUAL}, Sqrt page",
        "assumed",
    ),
    _rule(
        "nan-word",
        "every NaN that arithmetic or Cast produces is one canonical word (option nan)",
        "950 Div table prints 0x7fffffff; asc-tools CPU twin types",
        "assumed",
    ),
    _rule(
        "max-min-nan",
        "Max and Min give NaN when an operand is NaN; max(-0,+0)=+0, min(-0,+0)=-0",
        "pto-isa vmax page; asc-devkit C-API asc_max, asc_min pages (zeros documented)",
        "assumed",
    ),
    _rule("abs", "Abs clears the sign; a NaN becomes the canonical word", "Abs page", "assumed"),
    _rule(
        "cast-rounding",
        "the seven rounding modes as the manual defines them; ODD is the sticky rule",
        f"{_MANUAL}, RoundMode and Cast pages",
        "documented",
    ),
    _rule(
        "cast-subnormals",
        "Cast produces and reads subnormals gradually",
        f"{_MANUAL}, precision conversion page (950)",
        "assumed",
        arch3510="documented",
    ),
    _rule(
        "cast-directed-overflow",
        "a finite value beyond the largest one becomes inf in every mode once its magnitude, "
        "rounded with unbounded exponent, exceeds it",
        f"{_MANUAL}, rounding mode page",
        "assumed",
    ),
    _rule(
        "compare-nan",
        "LT GT LE GE EQ are 0 when an operand is NaN; -0 equals +0; subnormals are distinct",
        "asc-devkit C-API compare pages (950)",
        "assumed",
        arch3510="documented",
    ),
    _rule(
        "compare-ne-nan",
        "NE with a NaN operand: 0 on 910B-class, 1 on 950",
        "asc-devkit C-API asc_ne page (950); pto-isa@f912bdd3 (910B)",
        "assumed",
        arch3510="documented",
        archc220="report",
    ),
    _rule(
        "compare-bits",
        "element i of a comparison is bit i%8 of byte i/8",
        f"{_MANUAL}, Compare page (examples recomputed)",
        "documented",
    ),
    _rule(
        "compare-tail",
        "a count that is no multiple of 256 bytes: 910B computes whole repeats only, 950 the rest "
        "too, with zero bits beyond",
        "asc-devkit impl/basic_api, compare of dav_c220 and dav_3510",
        "code",
    ),
    _rule(
        "compare-mask",
        "the lane mask of a comparison in the repeat form: ignored on 910B, 910 and 310P, honoured "
        "on 950, where masked-off bits are 0",
        "asc-devkit Compare page (reserved argument); impl/basic_api, compare of each architecture",
        "code",
    ),
    _rule(
        "select-bits",
        "Select copies bits: mask bit 1 takes src0, 0 takes src1; only count elements are stored",
        f"{_MANUAL}, Select page (examples recomputed)",
        "documented",
    ),
    _rule(
        "select-scratch",
        "Select in modes 1 and 2 writes 128 bytes of scratch that the framework reserves in UB "
        "(that it does: code; what it writes there: assumed)",
        "asc-devkit impl/basic_api/dav_c220, compare-select",
        "assumed",
    ),
    _rule(
        "count-form",
        "the count form stores exactly count elements",
        "asc-devkit impl/basic_api, per architecture",
        "code",
    ),
    _rule(
        "repeat-order",
        "repeats run in order; all operands of a repeat are read before it is stored",
        "our choice; the manual leaves overlapping repeats undefined",
        "assumed",
    ),
    _rule(
        "copy-datablocks",
        "DataCopy moves whole datablocks of 32 bytes",
        f"{_MANUAL}, DataCopy page",
        "documented",
    ),
    _rule(
        "pad-bytes",
        "DataCopyPad fills UB up to the next 32 bytes with the block's first element when nothing "
        "is padded, else with the pad register",
        f"{_MANUAL}, DataCopyPad page; one rule per chip chosen where its rows disagree",
        "documented",
        archc220="assumed",
    ),
    _rule(
        "pad-register-start",
        "the pad register holds poison until SetPadValue or a copy with isPad sets it",
        "asc-devkit docs, InitSocState page (not reset)",
        "assumed",
    ),
    _rule(
        "queue-states",
        "buffers of a queue are taken round robin and pass FREE, OCCUPIED, ENQUE, DEQUE in order",
        "asc-devkit impl/basic_api, TQueBind",
        "code",
    ),
    _rule(
        "gm-slack",
        "GM allocations are readable and writable a little past the tensor",
        "our choice; hardware relies on allocation padding",
        "assumed",
    ),
)
RULES: dict[str, Rule] = {rule.id: rule for rule in (*_ALL, *ARITH, *(Rule(*row) for row in TEXTS))}

# rules about floats that an instruction does not need on integers
_FLOATS = {"round-once", "subnormals-kept", "nan-word", "max-min-nan", "compare-nan"}


def weakest(grades: list[str]) -> str:
    """Return the weakest of `grades` (documented when there are none)."""
    return max(grades, key=GRADES.index, default="documented")


def rules_of(
    decl: Any, mode: Any, counted: bool, dtype: DType, options: Options, in_order: bool
) -> list[str]:
    """Return the rules that a call of `decl` relies on, in its mode, form and element type."""
    rules = list(decl.rules)
    if dtype.kind != "float":
        rules = [rule for rule in rules if rule not in _FLOATS]
        rules += ["integer-cast"] if decl.pair else ["integer-wrap"] if decl.arithmetic else []
    if decl.arithmetic and options.subnormals == "flush" and "subnormals-kept" in rules:
        rules.remove("subnormals-kept")
    if decl.flushes and options.subnormals == "soc":
        rules.append("flush-subnormals")
    if (decl.arithmetic or decl.pair) and dtype.kind == "float":
        rules.append("launch-overflow-mode")
    if mode is CMPMODE.NE and dtype.kind == "float":
        rules.append("compare-ne-nan")
    if isinstance(mode, RoundMode) and mode > RoundMode.CAST_RINT and dtype.nbytes == 2:
        rules.append("cast-directed-overflow")
    rules.append("count-form" if counted else "repeat-order")
    if isinstance(mode, CMPMODE) and not counted:
        rules.append("compare-mask")
    if in_order and counted:
        rules.append("repeat-order")
    return rules
