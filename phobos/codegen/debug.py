"""Source lines for the PTX: DILocations made once for each place in the source."""

from __future__ import annotations

import os

from llvmlite import ir

from ..ir.kernel import Kernel
from ..source import NOWHERE, Source, Span
from .types import I32, LLVM


class Lines:
    """Gives the metadata of a span, and None for spans of other sources.

    The unit's emission kind is DebugDirectivesOnly: the others make the assembler compile for a debugger, slowly.
    """

    def __init__(self, module: LLVM, function: LLVM, kernel: Kernel, source: Source) -> None:
        self._module, self._source = module, source
        self._known: dict[tuple[int, int], LLVM] = {}
        folder, name = os.path.split(source.name)
        file = module.add_debug_info("DIFile", {"filename": name, "directory": folder})
        unit = module.add_debug_info(
            "DICompileUnit",
            {
                "language": ir.DIToken("DW_LANG_C"),
                "file": file,
                "producer": "phobos",
                "isOptimized": True,
                "runtimeVersion": 0,
                "emissionKind": ir.DIToken("DebugDirectivesOnly"),
            },
            is_distinct=True,
        )
        module.add_named_metadata("llvm.dbg.cu", unit)
        module.add_named_metadata("llvm.module.flags", [I32(2), "Debug Info Version", I32(3)])
        line = kernel.span.line if kernel.span.source is source else 1
        self._scope = module.add_debug_info(
            "DISubprogram",
            {
                "name": kernel.name,
                "linkageName": function.name,
                "scope": file,
                "file": file,
                "line": line,
                "type": module.add_debug_info("DISubroutineType", {"types": module.add_metadata([None])}),
                "scopeLine": line,
                "unit": unit,
                "spFlags": ir.DIToken("DISPFlagDefinition"),
            },
            is_distinct=True,
        )
        function.set_metadata("dbg", self._scope)

    def location(self, span: Span) -> LLVM | None:
        """The DILocation of a span's first character."""
        if span is NOWHERE or span.source is not self._source:
            return None
        place = (span.line, span.column)
        if place not in self._known:
            fields = {"line": place[0], "column": place[1], "scope": self._scope}
            self._known[place] = self._module.add_debug_info("DILocation", fields)
        return self._known[place]
