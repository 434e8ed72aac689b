"""Options with which kernels compile fast; every test of Warp imports this first, so that all share the compiled kernels.

Little optimization halves the time of compilation. Steps of the tests spend their time in the solver's kernels and in ours; the
other kernels of the engine are not optimized at all. Warp's own headers take seconds to parse, for each level of optimization and
each size of a block; all tests share the parsed headers. Nothing here differentiates a kernel.
"""

import functools
import importlib
import pathlib

import warp as wp

SOLVER = {f"mujoco_warp._src.{room}" for room in ("solver", "support", "block_cholesky")}

wp.config.enable_backward = False
wp.config.optimization_level = 1
for room in ("forward", "passive", "sensor", "smooth", "derivative"):
    wp.set_module_options({"optimization_level": 0}, module=importlib.import_module(f"mujoco_warp._src.{room}"))


def kernel(function=None, made=wp.kernel, **options):
    """Decorate as Warp does; a kernel of the engine with a module of its own is not optimized, unless it is the solver's."""
    if function is None:
        return functools.partial(kernel, **options)
    engine = function.__module__.startswith("mujoco_warp.") and function.__module__ not in SOLVER
    if engine and options.get("module") == "unique":
        options["module_options"] = {"optimization_level": 0, **(options.get("module_options") or {})}
    return made(function, **options)


wp.kernel = kernel

wp.init()
runtime = importlib.import_module("warp._src.context").runtime
if hasattr(runtime, "_get_or_create_pch_dir"):  # Warp 1.19 has it, and would parse the headers anew in each process
    # of this installation: Clang refuses parsed headers that are older than their text
    age = (pathlib.Path(wp.__file__).parent / "native/builtin.h").stat().st_mtime_ns
    headers = pathlib.Path(wp.config.kernel_cache_dir) / f"headers-{age}"
    headers.mkdir(parents=True, exist_ok=True)
    runtime._get_or_create_pch_dir = lambda: str(headers)
