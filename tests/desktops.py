"""Requirements of the libraries for Windows and macOS on their systems: desktops.py BUILD (.ci/desktops)."""

import pathlib
import sys

import lief

SYSTEM = {"/usr/lib/libSystem.B.dylib"}
OPENBLAS = "@rpath/libscipy_openblas.dylib"
WINDOWS = ("kernel32.dll", "ntdll.dll", "ucrtbase.dll", "api-ms-win-crt-", "libscipy_openblas.dll")


def look_at_macos(build: pathlib.Path, processor: str) -> None:
    for library in (build / "lib").glob("*.dylib"):
        if library.is_symlink():
            continue
        fat = lief.MachO.parse(str(library))  # which owns its objects
        binary = fat.at(0)
        assert fat.size == 1 and binary.header.cpu_type.name == processor, (library, binary.header.cpu_type)
        names = [command.name for command in binary.libraries]
        own, needed = names[0], set(names[1:])
        assert own.startswith("@rpath/"), (library, own)
        ours = {name for name in needed if name.startswith("@rpath/libmjgear_core")}
        assert needed - ours <= SYSTEM | {OPENBLAS}, (library, needed)
        assert list(binary.build_version.minos)[:2] == [11, 0], (library, binary.build_version.minos)
        # functions are found in the running engine when the plugin registers
        engine = [symbol.name for symbol in binary.imported_symbols if symbol.name.startswith(("_mj_", "_mju_", "_mjd_", "_mjp_", "_mjv_"))]
        assert not engine, (library, engine)
        print(f"{library.name}: {processor}, macOS 11, needs {', '.join(sorted(needed))}")


def look_at_windows(build: pathlib.Path) -> None:
    for folder in ("lib", "bin"):
        for library in (build / folder).glob("*.dll"):
            binary = lief.PE.parse(str(library))
            needed = {entry.name for entry in binary.imports}
            strange = {name for name in needed if not name.lower().startswith(WINDOWS) and not name.startswith("mjgear")}
            assert not strange, (library, strange)
            print(f"{library.name}: needs {', '.join(sorted(needed))}")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    look_at_macos(folder / "macos", "ARM64")
    look_at_macos(folder / "macos-x86_64", "X86_64")
    look_at_windows(folder / "windows")
