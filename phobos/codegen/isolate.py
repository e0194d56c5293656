"""LLVM in a child process, so that a crash of its back end becomes an `InternalError`.

`compile_isolated` takes what `emit` and `compile_ptx` take and gives what they give. One child serves all calls of this
process, one at a time, and is started anew after a crash. Requests and answers are pickles with their length in front:
requests on the child's stdin, answers on a pipe of their own, because LLVM writes to stdout and stderr as it likes.
"""

from __future__ import annotations

import atexit
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any

from ..diagnostics import InternalError
from ..ir.kernel import Kernel
from ..source import Source
from ..target import Target
from .ptx import PtxResult

LENGTH = struct.Struct("<Q")


class _Child:
    """The running child."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        reader, writer = os.pipe()
        program = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve({writer})"
        self.stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the child)
        self.process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self.stderr,
            pass_fds=(writer,),
        )
        os.close(writer)
        self.answers = os.fdopen(reader, "rb")

    def ask(self, request: object) -> Any:
        """The answer to a request; EOFError when the child ended before it gave one."""
        assert self.process.stdin is not None
        data = pickle.dumps(request)
        try:
            self.process.stdin.write(LENGTH.pack(len(data)) + data)
            self.process.stdin.flush()
        except BrokenPipeError:
            raise EOFError from None
        return _read(self.answers)

    def last_words(self) -> str:
        """How the child ended and what it wrote to stderr."""
        code = self.process.wait()
        self.stderr.seek(0)
        text = self.stderr.read().decode(errors="replace").strip()
        ended = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"{ended}\n{text}" if text else ended

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        self.answers.close()
        self.stderr.close()


_lock = threading.Lock()
_child: _Child | None = None


def compile_isolated(kernel: Kernel, target: Target, index_bits: int, source: Source) -> tuple[str, PtxResult]:
    """LLVM IR and PTX of a kernel, made in a child. An exception of the child's Python is raised here as it was."""
    global _child
    with _lock:
        if _child is None or _child.owner != os.getpid():  # a fork must not talk to its parent's child
            _child = _Child()
            atexit.register(_close)
        try:
            answer = _child.ask((kernel, target, index_bits, source))
        except EOFError:
            dead, _child = _child, None
            atexit.unregister(_close)
            raise InternalError(
                f"LLVM ended the child process that compiled kernel {kernel.name} for {target.name}, "
                f"with {dead.last_words()}"
            ) from None
    if isinstance(answer, BaseException):
        raise answer
    llvm_ir, made = answer
    return llvm_ir, made


def _close() -> None:
    if _child is not None and _child.owner == os.getpid():
        _child.close()


def serve(answers_fd: int) -> None:
    """The child's loop: until stdin ends, answer each request with (LLVM IR, PtxResult) or an exception."""
    from . import compile_ptx, emit

    answers = os.fdopen(answers_fd, "wb")
    while True:
        try:
            kernel, target, index_bits, source = _read(sys.stdin.buffer)
        except EOFError:
            return
        answer: object
        try:
            llvm_ir = emit(kernel, target, index_bits, source)
            answer = (llvm_ir, compile_ptx(llvm_ir, target))
        except Exception as error:
            answer = error
        data = pickle.dumps(answer)
        answers.write(LENGTH.pack(len(data)) + data)
        answers.flush()


def _read(stream: IO[bytes]) -> Any:
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    data = stream.read(LENGTH.unpack(head)[0])
    return pickle.loads(data)
