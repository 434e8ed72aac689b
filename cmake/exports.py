"""Write what a DLL exports as a module definition file, of which a linker's import library is made: exports.py DLL DEF

Follows the sections "Optional Header" and "The .edata Section" of Microsoft's PE format specification."""

import struct
import sys
from pathlib import Path


def exported_names(data: bytes) -> list[str]:
    pe = struct.unpack_from("<I", data, 0x3C)[0]
    if data[:2] != b"MZ" or data[pe : pe + 4] != b"PE\0\0":
        raise SystemExit("not a DLL")
    n_sections, optional_size = struct.unpack_from("<2xH12xH", data, pe + 4)
    optional = pe + 24
    directory = optional + (112 if struct.unpack_from("<H", data, optional)[0] == 0x20B else 96)
    sections = [struct.unpack_from("<8xIIII", data, optional + optional_size + 40 * i) for i in range(n_sections)]

    def offset(address: int) -> int:
        for size, start, raw_size, raw in sections:
            if start <= address < start + max(size, raw_size):
                return raw + address - start
        raise SystemExit(f"address {address:#x} is in no section")

    table = offset(struct.unpack_from("<I", data, directory)[0])
    n_names, names = struct.unpack_from("<24xI4xI", data, table)
    starts = [offset(address) for address in struct.unpack_from(f"<{n_names}I", data, offset(names))]
    return [data[start : data.index(b"\0", start)].decode() for start in starts]


if __name__ == "__main__":
    dll = Path(sys.argv[1])
    lines = [f"LIBRARY {dll.name}", "EXPORTS", *exported_names(dll.read_bytes())]
    Path(sys.argv[2]).write_text("\n".join(lines) + "\n")
