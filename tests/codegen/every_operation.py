"""Compiles and links every elementwise operation on every type for one target; run in a child process by a test.

LLVM ends the process on what it cannot do, so the operation at hand is printed before it is compiled. Prints `done`
and the number of operations at the end.
"""

from __future__ import annotations

import sys

from phobos.codegen import compile_ptx, emit
from phobos.codegen.link import default_linker
from phobos.diagnostics import CompileError
from phobos.ir.types import INDEX, SCALARS
from phobos.target import target
from tests.codegen.kernels import mapped, operations, refused


def main(name: str) -> None:
    chip, count = target(name), 0
    for elem in SCALARS.values():
        if elem == INDEX:
            continue
        for kind, arity, result, make in operations(elem):
            print(f"{kind} on {elem}", flush=True)
            kernel = mapped(f"{kind}_{elem}", [elem] * arity, result, make, n=64)
            count += 1
            try:
                text = emit(kernel, chip, 32, kernel.span.source)
            except CompileError as error:
                codes = [d.code for d in error.diagnostics]
                assert codes == [refused(kind, elem)], codes
                continue
            assert not refused(kind, elem), "compiles, and should be refused"
            default_linker().link(compile_ptx(text, chip).ptx, chip, kernel.name)
    print(f"done {count}")


if __name__ == "__main__":
    main(sys.argv[1])
