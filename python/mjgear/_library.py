"""The C libraries of this package: finds and loads the one for the running MuJoCo."""

import ctypes
import functools
import os
import pathlib
import platform
import re

import mujoco

NAME = "mjgear.transmission"  # name of the plugin in MJCF
BRAKE = "mjgear.brake"  # and of brakes
CHECKED_BRAKE = "mjgear.check.brake"  # name for brakes that are only checked

_PACKAGE = pathlib.Path(__file__).resolve().parent
_SUFFIX = {"Windows": ".dll", "Darwin": ".dylib"}.get(platform.system(), ".so")


def folder() -> pathlib.Path:
    """The folder of the C libraries: the package's, or MJGEAR_LIBRARIES of the environment."""
    named = os.environ.get("MJGEAR_LIBRARIES")
    return pathlib.Path(named) if named else _PACKAGE / "lib"


def releases() -> list[str]:
    """The MuJoCo releases for which this package has the plugin, in ascending order."""
    names = (re.fullmatch(r"(?:lib)?mjgear-([0-9.]+)\.\w+", f.name) for f in folder().glob("*mjgear-*"))
    return sorted((n[1] for n in names if n), key=lambda r: [int(part) for part in r.split(".")])


def path() -> pathlib.Path:
    """The plugin for the running MuJoCo, or for another patch release of it. When loaded it compares struct layouts, and refuses with a
    warning if they differ.

    Raises:
        ImportError: it is missing; the text has the remedy.
    """
    running = mujoco.mj_versionString()
    prefix = "" if platform.system() == "Windows" else "lib"
    for name in (f"{prefix}mjgear-{running}", f"{prefix}mjgear"):
        candidate = folder() / (name + _SUFFIX)
        if candidate.exists():
            return candidate
    for release in reversed(releases()):
        if release.split(".")[:2] == running.split(".")[:2]:
            return folder() / f"{prefix}mjgear-{release}{_SUFFIX}"
    built = ", ".join(releases()) or "no release at all"
    raise ImportError(
        f"this mjgear was built for MuJoCo {built}, but MuJoCo {running} is running: install one of these (pip install "
        f"mujoco==RELEASE), or build mjgear for {running} from its sources (pip install --force-reinstall --no-deps "
        "--no-binary mjgear mjgear; 3.11 is the oldest that it builds for)"
    )


@functools.cache
def plugin() -> ctypes.CDLL:
    """The plugin, loaded and registered with the MuJoCo that is running.

    Raises:
        ImportError: there is none for this MuJoCo, or it cannot be loaded.
    """
    file = str(path())
    if platform.system() != "Windows":
        try:
            mujoco.mj_loadPluginLibrary(file)
        except mujoco.FatalError as error:
            raise ImportError(str(error).strip()) from None
    # a library registers itself when it is loaded. On Windows the engine would read the path in the system's code page and not find
    # OpenBLAS beside the plugin
    library = ctypes.CDLL(file)
    if not _is_registered():
        raise ImportError(
            f"{file} did not register {NAME} with MuJoCo {mujoco.mj_versionString()}; see the warning above"
        )
    return library


def register() -> None:
    """Register the plugin, once; ``import mujoco`` calls this from MuJoCo 4.0 on."""
    plugin()


@functools.cache
def core() -> ctypes.CDLL:
    """The core, which knows no MuJoCo: descriptions of gears and their laws."""
    return _first("libmjgear_core.so.0", "libmjgear_core.0.dylib", "mjgear_core.dll")


@functools.cache
def bench() -> ctypes.CDLL:
    """The simulation that :mod:`mjgear.identify` fits with."""
    return _first("libmjgear_bench.so", "libmjgear_bench.dylib", "mjgear_bench.dll")


def _first(*names: str) -> ctypes.CDLL:
    """The library of one of these names, which it has on Linux, macOS or Windows."""
    for name in names:
        if (folder() / name).exists():
            return ctypes.CDLL(str(folder() / name))
    raise ImportError(
        f"there is no {names[0]} in {folder()}; in a clone build it: cmake --build --preset release --target programs. Else reinstall mjgear"
    )


def version() -> str:
    """The version of this package and of its core."""
    name = core().mjg_version
    name.restype = ctypes.c_char_p
    value: bytes = name()
    return value.decode()


def _is_registered() -> bool:
    """Return True if the running engine knows the plugin."""
    package = pathlib.Path(mujoco.__file__).parent
    version = mujoco.mj_versionString()
    for name in (f"libmujoco.so.{version}", f"libmujoco.{version}.dylib", "mujoco.dll"):
        if (package / name).exists():
            find = ctypes.CDLL(str(package / name)).mjp_getPlugin
            find.restype = ctypes.c_void_p
            find.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int)]
            return bool(find(NAME.encode(), ctypes.byref(ctypes.c_int())))
    return True  # an engine from another source reports its own errors
