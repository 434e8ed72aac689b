"""Requirements of wheels and libraries for other systems, read from their files: no program is run (.ci/desktops).

desktops.py BUILD      libraries of a cross build, in its folders windows, macos and macos-x86_64 if they exist
desktops.py WHEEL...   licences, a plugin for each supported MuJoCo release, OpenBLAS beside it, and the requirements of all of them
"""

import pathlib
import re
import sys
import tempfile
import zipfile

import lief

ROOT = pathlib.Path(__file__).resolve().parents[1]
SYSTEM = {"/usr/lib/libSystem.B.dylib"}
OPENBLAS = "@rpath/libscipy_openblas.dylib"
# libraries of Windows, OpenBLAS beside ours, and the engine, which only the tool names
WINDOWS = ("kernel32.dll", "ntdll.dll", "ucrtbase.dll", "api-ms-win-crt-", "libscipy_openblas.dll")
# libraries that manylinux lets a wheel expect of every system, and the engine
LINUX = re.compile(
    r"lib(c|m|dl|pthread|rt|X11)\.so\.\d|ld-linux-.*|libmujoco\.so\.[\d.]+|lib(mjgear_core|scipy_openblas|glfw)\S*"
)
ENGINE = re.compile(r"_?mj[udpvscg]?_")
OURS = re.compile(r"_?mjg[ip]?_")


def look_at_macos(library: pathlib.Path, processor: str, installed: bool) -> None:
    """Names that the loader follows, the oldest macOS, and whose each symbol is."""
    fat = lief.MachO.parse(str(library))  # the result owns its objects
    binary = fat.at(0)
    program = binary.header.file_type == lief.MachO.Header.FILE_TYPE.EXECUTE
    assert fat.size == 1 and binary.header.cpu_type.name == processor, (library, binary.header.cpu_type)
    names = [command.name for command in binary.libraries]
    needed = set(names if program else names[1:])
    assert program or names[0].startswith("@rpath/"), (library, names[0])
    ours = {name for name in needed if name.startswith("@rpath/libmjgear_core")}
    engine = {
        name
        for name in needed
        if re.fullmatch(r"@rpath/(mujoco\.framework/Versions/A/)?libmujoco\.[\d.]+\.dylib", name)
    }
    assert needed - ours - engine <= SYSTEM | {OPENBLAS}, (library, needed)
    assert program or not engine, (library, needed)
    assert tuple(binary.build_version.minos)[:2] <= (11, 0), (library, binary.build_version.minos)
    # a build finds OpenBLAS where it lies; a wheel has it beside ours
    paths = [command.path for command in binary.commands if isinstance(command, lief.MachO.RPathCommand)]
    if installed:
        assert all(path.startswith(("@loader_path", "@executable_path")) for path in paths), (library, paths)
        assert paths or not any(name.startswith("@rpath/") for name in needed), (library, "nowhere to look for", needed)
    # of the plugin functions of the engine are found when it registers; each other symbol belongs to a library that it names
    for symbol in binary.imported_symbols:
        assert program or OURS.match(symbol.name) or not ENGINE.match(symbol.name), (library, symbol.name)
        owner = symbol.library_ordinal
        assert 0 < owner <= len(names), (library, symbol.name, owner)
    assert processor != "ARM64" or binary.has_code_signature, (library, "arm64 runs nothing unsigned")
    print(f"{library.name}: {processor}, macOS {binary.build_version.minos[0]}, needs {', '.join(sorted(needed))}")


def look_at_windows(library: pathlib.Path) -> None:
    """Libraries that the loader looks for."""
    binary = lief.PE.parse(str(library))
    needed = {entry.name for entry in binary.imports}
    known = (*WINDOWS, "mujoco.dll") if library.suffix == ".exe" else WINDOWS
    strange = {name for name in needed if not name.lower().startswith(known) and not name.startswith("mjgear")}
    assert not strange, (library, strange)
    print(f"{library.name}: needs {', '.join(sorted(needed))}")


def look_at_linux(library: pathlib.Path, newest: tuple[int, ...]) -> None:
    """Libraries, the newest symbol of glibc, and where the loader looks."""
    binary = lief.ELF.parse(str(library))
    assert all(LINUX.fullmatch(name) for name in binary.libraries), (library, binary.libraries)
    versions = [
        tuple(map(int, match[1].split(".")))
        for need in binary.symbols_version_requirement
        for version in need.get_auxiliary_symbols()
        if (match := re.fullmatch(r"GLIBC_([\d.]+)", version.name))
    ]
    assert max(versions, default=(0,)) <= newest, (library, max(versions))
    paths = [
        path
        for entry in binary.dynamic_entries
        if isinstance(entry, lief.ELF.DynamicEntryRunPath)
        for path in entry.paths
    ]
    assert all(path.startswith("$ORIGIN") for path in paths), (library, paths)
    print(
        f"{library.name}: glibc {'.'.join(map(str, max(versions, default=(0,))))}, needs {', '.join(sorted(binary.libraries))}"
    )


def look_at(file: pathlib.Path, tag: str, installed: bool = True) -> None:
    if tag.startswith("macosx"):
        if file.name != "libscipy_openblas.dylib":
            look_at_macos(file, "ARM64" if tag.endswith("arm64") else "X86_64", installed)
            return
        binary = lief.MachO.parse(str(file)).at(0)  # which others built
        assert {command.name for command in binary.libraries} <= SYSTEM | {
            OPENBLAS,
            "@loader_path/../lib/libscipy_openblas.dylib",
        }, file
    elif tag.startswith("win"):
        look_at_windows(file)
    else:
        look_at_linux(file, tuple(map(int, re.findall(r"manylinux_(\d+)_(\d+)", tag)[-1])))


def supported() -> set[str]:
    """Releases of cmake/releases.txt."""
    return set(re.findall(r"^mujoco(?:-core)?==([\d.]+) ", (ROOT / "cmake" / "releases.txt").read_text(), re.MULTILINE))


def look_at_wheel(wheel: pathlib.Path) -> None:
    tag = wheel.stem.split("-")[-1]
    print(f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
            names = set(archive.namelist())
        lacking = {
            "mjgear/licenses/OpenBLAS.txt",
            next((name for name in names if name.endswith(".dist-info/licenses/LICENSE")), "our LICENSE"),
        } - names
        assert not lacking, (wheel, lacking)
        assert b"OpenBLAS" in (pathlib.Path(folder) / "mjgear/licenses/OpenBLAS.txt").read_bytes()
        built = {
            match[1]
            for name in names
            if (match := re.fullmatch(r"mjgear/lib/(?:lib)?mjgear-([\d.]+)\.(?:so|dll|dylib)", name))
        }
        assert built == supported(), (wheel, built ^ supported())
        assert any("scipy_openblas" in name for name in names), wheel
        for name in sorted(names):
            file = pathlib.Path(folder) / name
            if (
                file.suffix in (".so", ".dll", ".dylib", ".exe")
                or ".so." in name
                or ("/bin/" in name and file.is_file())
            ):
                look_at(file, tag)


def look_at_builds(folder: pathlib.Path) -> None:
    libraries = [
        (file, tag)
        for name, tag in (("windows", "win_amd64"), ("macos", "macosx_arm64"), ("macos-x86_64", "macosx_x86_64"))
        for file in sorted((folder / name).glob("*/*mjgear*.*"))
        if file.suffix in (".dll", ".dylib") and not file.is_symlink()
    ]
    assert libraries, folder
    for file, tag in libraries:
        look_at(file, tag, installed=False)


if __name__ == "__main__":
    for word in map(pathlib.Path, sys.argv[1:]):
        look_at_builds(word) if word.is_dir() else look_at_wheel(word)
