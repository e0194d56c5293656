"""The PTX reader: what it understands, and errors that name the line."""

from __future__ import annotations

import numpy as np
import pytest

from phobos.sim import PtxError, simulate
from phobos.sim.reader import read
from phobos.sim.syntax import Address, Imm, Location, Reg, Symbol, Vector
from tests.sim.harness import kernel, launch

HEAD = ".version 8.8\n.target sm_80\n.address_size 64\n"
WHOLE = (
    HEAD
    + """
.global .align 4 .u32 table[4] = {1, 2, -3, 0x10};
.const .f32 half = 0f3F000000;
.extern .shared .align 1024 .b8 dyn[];
// a comment
.visible .entry first(
  .param .u64 .ptr .global .align 1 a,
  .param .u32 n,
  .param .align 64 .b8 desc[128],
  .param .f64 x
)
.maxntid 256, 1, 1
.minnctapersm 2
{
  .reg .pred %p<2>; .reg .b32 %r<10>, %q; .reg .f32 %f<3>;
  .shared .align 16 .b8 smem[64];
  .loc 1 7 3
$L1: /* two
lines */ @!%p1 bra $L1;
  ld.shared.v4.f32 {%f0, %f1, _, %f2}, [smem+16];
  .pragma "nounroll";
  { .reg .b32 %r1; mov.b32 %r1, -5; L: @%p1 bra L; }
  { .reg .b32 %r1; mov.b32 %r1, 0f3F800000; L: bra L; }
  mov.u32 %r1, %tid.x;
  st.global.b32 [%q+-4], %r9;
  setp.lt.and.s32 %p0|%p1, %r1, 07, !%p1;
  ret;
}
.section .debug_macinfo { .b8 0 }
.file 1 "k.ph"
"""
)


def test_a_module() -> None:
    module = read(WHOLE)
    assert module.version == (8, 8)
    assert module.target == "sm_80"
    assert module.files == {1: "k.ph"}
    assert module.variables["table"].initial == np.array([1, 2, -3, 16], np.int32).tobytes()
    assert module.variables["half"].initial == np.float32(0.5).tobytes()
    assert module.variables["dyn"].extern
    entry = module.entries["first"]
    assert [(p.name, p.offset, p.size) for p in entry.params] == [
        ("a", 0, 8),
        ("n", 8, 4),
        ("desc", 64, 128),
        ("x", 192, 8),
    ]
    assert entry.params[0].is_pointer
    assert entry.directives["maxntid"] == (256, 1, 1)
    assert entry.variables["smem"].size == 64
    branch, load, one, _, two, _, mov, store, setp, _ = entry.body
    assert branch.loc == Location(1, 7, 3)
    assert branch.negated
    assert module.source(branch.loc) == "k.ph:7:3"
    assert load.operands[1] == Address(Symbol("smem"), 16)
    assert isinstance(load.operands[0], Vector)
    # The registers and labels of two scopes are different ones.
    assert one.operands[0] != two.operands[0] != mov.operands[0]
    assert len({entry.labels[name] for name in entry.labels}) == 3
    assert one.operands[1] == Imm(-5, "int")
    assert two.operands[1] == Imm(0x3F800000, "f32")
    assert store.operands[0] == Address(Reg("%q", "b32"), -4)
    assert setp.operands[2] == Imm(7, "int")


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("frobnicate.b32 %r1, %r2;", 1, "unknown instruction 'frobnicate.b32'"),
        ("add.s33 %r1, %r2, %r3;", 1, "unknown type of 'add': 'add.s33'"),
        ("add.rnx.f32 %f1, %f2, %f2;", 1, "unknown modifier '.rnx' of 'add'"),
        ("mov.b32 %r1, %r99;", 1, "the register '%r99' is not declared"),
        ("bra nowhere;", 1, "there is no label 'nowhere'"),
        ("ld.global.b32 %r1, [%rd1;", 1, "expected ']', not ';'"),
        ("mov.b32 %r1 %r2;", 1, "expected ',', not '%r2'"),
        ("\nmov.b32 %r1, $;", 2, "unexpected operand of 'mov.b32'"),
        ("@%r1 bra L;", 1, "'%r1' is not a predicate register"),
        (".reg .b7 %x;", 1, "unknown register type '.b7'"),
        (".frob;", 1, "unknown directive '.frob'"),
        ("L: L: ret;", 1, "the label 'L' is defined twice"),
        ("mov.b32 %r1, `;", 1, "unexpected character '`'"),
        ("add.s32 %rd1, %r1, %h1;", 1, "register %h1 is narrower than .u32"),
        ("add.s32 %r1, %p1, %r1;", 1, "register %p1 is not a .u32"),
        ("ld.global.v2.b32 {%r1}, [%rd1];", 1, "'ld.global.v2.b32' moves 2 elements, not 1"),
        ("setp.huh.s32 %p1, %r1, %r2;", 1, "unknown comparison of 'setp'"),
        ("cvt.rn.f16x2.e9m9x2 %r1, %h1;", 1, "unknown type of 'cvt'"),
        ("shfl.up.b32 %r1, %r2, 1, 0;", 1, "unknown form of 'shfl'"),
        ("cp.async.cg.shared.global [%r1], [%rd1], 8;", 1, "unknown size of 'cp'"),
        ("call f;", 1, "there is no label 'f'"),
    ],
)  # fmt: skip
def test_errors_name_the_line(body: str, line: int, message: str) -> None:
    text = kernel("@@").replace("@@", body)
    first = text[: text.index(body)].count("\n") + 1
    with pytest.raises(PtxError) as caught:
        launch(text, [np.zeros(4, np.uint32)])
    assert message in str(caught.value)
    assert caught.value.line == first + line - 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + ".visible .func f() { ret; }", "functions other than entries"),
        (HEAD + ".frob 3", "unknown directive '.frob'"),
        (".version 8.8\n.address_size 32", "only 64-bit addresses"),
        (HEAD + ".entry k() .maxfrob 3 { ret; }", "unknown directive '.maxfrob' of entry k"),
        (HEAD + ".entry k(.param .u99 x) { ret; }", "unknown parameter attribute '.u99'"),
        (HEAD + ".entry k() { ret; ", "the text ends in the middle of a statement"),
    ],
)
def test_errors_outside_of_bodies(text: str, message: str) -> None:
    with pytest.raises(PtxError, match=message):
        read(text)


def test_an_entry_that_is_not_there() -> None:
    with pytest.raises(PtxError, match=r"there is no entry 'j' \(entries: k\)"):
        simulate(kernel(""), "j", [np.zeros(1)], (1,), (32,))


def test_launches_that_do_not_fit() -> None:
    text = kernel("", ("out",)).replace(")\n{", ")\n.maxntid 64\n{", 1)
    out = np.zeros(1, np.uint32)
    with pytest.raises(TypeError, match="k takes 1 arguments, not 2"):
        launch(text, [out, out])
    with pytest.raises(ValueError, match="at most 64 threads in a block, not 128"):
        launch(text, [out], block=128)
    with pytest.raises(ValueError, match="a block of 2048 threads"):
        launch(kernel(""), [out], block=2048)
    with pytest.raises(ValueError, match="one to three sizes"):
        simulate(text, "k", [out], (), (32,))
    scalar = HEAD + ".entry k(.param .u32 n, .param .align 2 .b8 h[2]) { ret; }"
    for args, message in (
        ([1.5, np.float16(1)], "argument n is a float"),
        ([1 << 40, np.float16(1)], "does not fit"),
        ([1, 1.0], "pass a NumPy scalar"),
        ([1, np.float32(1)], "argument h has 4 bytes"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            simulate(scalar, "k", args, (1,), (32,))
