"""The rules of integers, of multiply-add and its kin, and of the library's composite functions."""

from __future__ import annotations

from ascendsim.isa.rule import MANUAL, make_rule

_PAGES = f"{MANUAL}, pages of the instructions"

ARITH = (
    make_rule(
        "integer-wrap",
        "integer arithmetic keeps the low bits of the result (CTRL[53]=0)",
        f"{MANUAL}, SetCtrlSpr page (reset value); that nothing sets it before a kernel: assumed",
        "assumed",
    ),
    make_rule(
        "integer-cast",
        "a number beyond an integer type becomes its nearest end (option int_overflow), infinities "
        "too; NaN becomes 0; a negative number in a wider unsigned type becomes 0",
        "asc-devkit docs, Cast page of the register instructions, table of exceptional values",
        "assumed",
        arch3510="documented",
    ),
    make_rule(
        "deq-scale",
        "int32 to half: the number as float32, times 2**-17, times the scale of SetDeqScale, times "
        "2**17, then half; each step rounds to nearest even",
        "asc-devkit docs, Cast page; impl/basic_api/dav_3510 (the order of the steps)",
        "assumed",
        arch3510="code",
    ),
    make_rule(
        "bit-logic", "And, Or, Not and their scalar forms work bit by bit", _PAGES, "documented"
    ),
    make_rule(
        "shift",
        "ShiftRight copies the sign of signed types and brings in zeros otherwise; the scalar is "
        "at most the width (950: any number, the rest is shifted out)",
        _PAGES,
        "documented",
    ),
    make_rule(
        "relu-edge",
        "Relu gives +0 for -0 and the canonical NaN for NaN (the page is silent)",
        _PAGES,
        "assumed",
    ),
    make_rule(
        "leaky-relu",
        "LeakyRelu keeps numbers from zero on, others are multiplied by the scalar and rounded",
        _PAGES,
        "assumed",
    ),
    make_rule(
        "multiply-add",
        "a multiply-add rounds once on 950; elsewhere the product is rounded to the type of dst, "
        "then the sum",
        f"{MANUAL}, FusedMulAdd page (256 of 256 lanes of its half example); accuracy table of 950",
        "assumed",
        arch3510="documented",
    ),
    make_rule(
        "reciprocal-bits",
        "Reciprocal gives the correctly rounded quotient; on 910B and older the instruction is a "
        "table of about 8 bits whose content is not published",
        f"{MANUAL}, Reciprocal page; impl/basic_api/dav_3510 (division of one)",
        "assumed",
    ),
    make_rule(
        "rsqrt-bits",
        "Rsqrt rounds 1/sqrt(x) once, on 950 the root and then the quotient; on 910B and older the "
        "instruction is a table of about 8 bits whose content is not published",
        f"{MANUAL}, Rsqrt page; impl/basic_api/dav_3510 (division by a root)",
        "assumed",
    ),
    make_rule(
        "mask-registers",
        "SetVectorMask and SetMaskCount hold until a call sets the mask itself: with its own mask "
        "argument, or (910B, 310P, 910) in the count form, which leaves normal mode, all lanes on",
        f"{MANUAL}, mask pages; impl/basic_api per architecture",
        "documented",
    ),
    make_rule(
        "new-pipe-registers",
        "a new TPipe ends atomic mode, counter mode and masks; read in the code for 910B and 950 "
        "(InitSocState), supposed to hold on 910 and 310P",
        "asc-devkit impl, kernel utilities; nothing found for 910 and 310P",
        "assumed",
    ),
    make_rule(
        "composite-exact",
        "Floor, Ceil, Round, Trunc and Sign give the exact result; Round takes ties to even",
        "asc-devkit docs, pages of the library functions",
        "assumed",
    ),
    make_rule(
        "composite-bits",
        "a function of the library gives the correctly rounded result; the library's algorithm, "
        "which sets the last bits on silicon, is not modelled",
        "our choice; asc-devkit docs, pages of the library functions",
        "assumed",
    ),
)
