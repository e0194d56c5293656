"""What can go wrong: PTX that cannot be read or run, and a kernel that does what it must not."""

from __future__ import annotations

from dataclasses import dataclass


class PtxError(Exception):
    """PTX that the simulator cannot read or does not know; the text begins with the line of the PTX."""

    def __init__(self, line: int, message: str) -> None:
        self.line = line
        self.message = message
        super().__init__(f"PTX line {line}: {message}")


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault that a check found, at the first thread that showed it.

    kind: the check. message: what happened. kernel, source, ptx_line, instruction: where. block, thread, address: who.
    related: other places that belong to it, such as the earlier access of a race, as text.
    """

    kind: str
    message: str
    kernel: str
    source: str
    ptx_line: int
    instruction: str
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    address: int | None = None
    related: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = self.source or f"PTX line {self.ptx_line}"
        lines = [f"{self.kind}: {self.message}", f"  in {self.kernel} at {where}: {self.instruction}"]
        who = []
        if self.block is not None:
            who.append("block ({}, {}, {})".format(*self.block))
        if self.thread is not None:
            who.append("thread ({}, {}, {})".format(*self.thread))
        if self.address is not None:
            who.append(f"address {self.address:#x}")
        if who:
            lines.append("  " + ", ".join(who))
        return "\n".join([*lines, *(f"  {text}" for text in self.related)])


class SimFault(Exception):  # noqa: N818  # a fault of the kernel, not of this program
    """The kernel did something that a check forbids, or cannot go on."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(str(finding))

    def __reduce__(self) -> tuple[type[SimFault], tuple[Finding]]:
        return SimFault, (self.finding,)
