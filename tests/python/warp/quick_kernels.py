"""Options with which kernels compile fast; every test of Warp imports this first, so that all share the compiled kernels.

With little optimization kernels compile in half the time, and most of the engine's code is not what takes time in a step.
Nothing here differentiates a kernel.
"""

import importlib

import warp as wp

wp.config.enable_backward = False
wp.config.optimization_level = 1
for room in ("forward", "passive", "sensor", "smooth", "derivative"):
    wp.set_module_options({"optimization_level": 0}, module=importlib.import_module(f"mujoco_warp._src.{room}"))
