"""Shared memory as a ruler of characters: each buffer at its offset, buffers that share bytes on rows of their own.

    0                 1024               2048
    +------------------+------------------+
    [a.0     :a.1     ][b.0     :b.1     ]

A `:` stands where a slot ends. A buffer that is too short for its label keeps its bracket.
"""

from __future__ import annotations

from .schema import Buffer

_MARKS = 4


def ruler(buffers: tuple[Buffer, ...], total_bytes: int, width: int) -> list[str]:
    """Lines of at most `width` characters; none without bytes or before the buffers have offsets."""
    placed = [b for b in buffers if b.offset_bytes >= 0 and b.bytes > 0]
    cells = max(width - len(str(total_bytes)), 16)
    if total_bytes <= 0 or not placed:
        return []
    lines = list(_scale(total_bytes, cells))
    for row in _rows(placed):
        text = [" "] * cells
        for buffer in row:
            _draw(text, buffer, total_bytes, cells)
        lines.append("".join(text).rstrip())
    return lines


def _cell(offset: int, total: int, cells: int) -> int:
    return offset * cells // total


def _scale(total: int, cells: int) -> tuple[str, str]:
    """Numbers at even distances above a line with a mark at each."""
    marks = sorted({total * i // _MARKS for i in range(_MARKS + 1)})
    numbers, line = [" "] * (cells + len(str(total))), ["-"] * cells
    for mark in marks:
        at = min(_cell(mark, total, cells), cells - 1)
        line[at] = "+"
        numbers[at : at + len(str(mark))] = str(mark)
    return "".join(numbers).rstrip(), "".join(line)


def _rows(buffers: list[Buffer]) -> list[list[Buffer]]:
    """Buffers in as few rows as keep those apart that share bytes (they live at different times)."""
    rows: list[list[Buffer]] = []
    for buffer in sorted(buffers, key=lambda b: (b.offset_bytes, -b.bytes)):
        for row in rows:
            if row[-1].offset_bytes + row[-1].bytes <= buffer.offset_bytes:
                row.append(buffer)
                break
        else:
            rows.append([buffer])
    return rows


def _draw(text: list[str], buffer: Buffer, total: int, cells: int) -> None:
    slot_bytes = buffer.bytes // buffer.slots
    first = _cell(buffer.offset_bytes, total, cells)
    last = max(_cell(buffer.offset_bytes + buffer.bytes, total, cells) - 1, first)
    for slot in range(buffer.slots):
        begin = _cell(buffer.offset_bytes + slot * slot_bytes, total, cells)
        end = _cell(buffer.offset_bytes + (slot + 1) * slot_bytes, total, cells)
        if slot and begin < last:
            text[begin] = ":"
        label = buffer.label if buffer.slots == 1 else f"{buffer.label}.{slot}"
        room = min(end, last) - begin - 1
        if 0 < len(label) <= room:
            text[begin + 1 : begin + 1 + len(label)] = label
    text[first] = "["
    if last > first:
        text[last] = "]"
