"""Reads the section sizes of a cubin, which is an ELF file: the assembler's log leaves shared memory out."""

from __future__ import annotations

import struct


def sections(cubin: bytes) -> dict[str, int]:
    """Every section's name and size in bytes (ELF-64, little endian; sizes of one name are added)."""
    if cubin[:4] != b"\x7fELF":
        raise ValueError("not an ELF file")
    (offset,) = struct.unpack_from("<Q", cubin, 0x28)
    entry, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    # Elf64_Shdr: name, type, flags, addr, offset, size, ..
    headers = [struct.unpack_from("<IIQQQQ", cubin, offset + i * entry) for i in range(count)]
    strings = headers[names][4]
    found: dict[str, int] = {}
    for header in headers:
        start = strings + header[0]
        name = cubin[start : cubin.index(b"\0", start)].decode()
        found[name] = found.get(name, 0) + header[5]
    return found


def shared_bytes(cubin: bytes, kernel: str, sm: int) -> int:
    """Static shared memory of a kernel. From sm_90 on its section begins with the KiB that the system keeps."""
    reserved = 1024 if sm >= 90 else 0
    return max(sections(cubin).get(f".nv.shared.{kernel}", 0) - reserved, 0)


def constant_bytes(cubin: bytes, kernel: str) -> int:
    """Constant memory of a kernel, its parameters and the driver's words before them included."""
    return sum(
        size
        for name, size in sections(cubin).items()
        if name.startswith(".nv.constant") and name.endswith(f".{kernel}")
    )
