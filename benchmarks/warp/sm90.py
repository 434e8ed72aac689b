"""Compiler statistics of the kernels of a step for an H100, without a GPU: kernels of gears and of MuJoCo Warp's solver.

    build/venv-warp/bin/python benchmarks/warp/sm90.py [--robot g1] [--arch 90] [--worlds 4096] [--integrators discrete implicitfast]

Needs ptxas of CUDA on the PATH; with nvdisasm (python -m pip install nvidia-cuda-nvdisasm) it counts instructions, too. One step of a robot
with gears A of trial.py runs on the CPU backend. Every kernel that it launches for gears or in the constraint solver is compiled. Prints a
table in Markdown:
  launches   in this step
  blocks     of a launch with --worlds worlds; an H100 has 132 processors
  registers  of a thread
  spills     bytes that are stored because registers are too few
  shared     memory of a block, bytes
  loads, stores  instructions that read and write device memory
  arrays     bytes a world that the kernel is given, all launches of the step: an upper bound of what it moves when each is read once.
             J of the constraints is counted whole, although only the rows that are there are read
and the bytes a world that the gears keep, and those that they borrow in a step, in both precisions.
"""

import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import tempfile

import mujoco_warp as mjw
import numpy as np
import play
import trial
import warp as wp

import mjgear.warp

NWORLD = 2

wp.config.enable_cpu_blocks = True  # as many threads a world as on a GPU


def arrays(value):
    """All arrays of a kernel's argument."""
    if isinstance(value, wp.array):
        yield value
    elif hasattr(type(value), "_wp_struct_meta_") or hasattr(value, "_cls"):
        for name in value._cls.vars:
            yield from arrays(getattr(value, name))


def bytes_of(values):
    """Bytes a world of arrays that have a world a row, each counted once."""
    found = {
        a.ptr: a.strides[0] for value in values for a in arrays(value) if a.ndim and a.shape[0] == NWORLD and a.size
    }
    return sum(found.values())


class Launches:
    """The kernels that are launched while this is open."""

    def __init__(self):
        self.kernels, self.counts, self.bytes, self.blocks = {}, collections.Counter(), collections.Counter(), {}

    def _note(self, kernel, dim, inputs, outputs, block, tiled):
        key = kernel.module.name, kernel.key
        self.kernels[key] = kernel, block
        self.counts[key] += 1
        self.bytes[key] += bytes_of([*inputs, *outputs])
        dim = tuple(np.atleast_1d(dim))
        scales = dim[0] == NWORLD
        self.blocks[key] = (lambda worlds: int(np.prod(dim)) * (worlds // NWORLD if scales else 1)), block, tiled

    def __enter__(self):
        self._real = wp.launch, wp.launch_tiled

        def launch(kernel, dim, inputs=(), outputs=(), block_dim=256, **rest):
            self._note(kernel, dim, inputs, outputs, block_dim, False)
            return self._real[0](kernel, dim, inputs=inputs, outputs=outputs, block_dim=block_dim, **rest)

        def launch_tiled(kernel, dim, inputs=(), outputs=(), block_dim=256, **rest):
            self._note(kernel, dim, inputs, outputs, block_dim, True)
            return self._real[1](kernel, dim=dim, inputs=inputs, outputs=outputs, block_dim=block_dim, **rest)

        wp.launch, wp.launch_tiled = launch, launch_tiled
        return self

    def __exit__(self, *_):
        wp.launch, wp.launch_tiled = self._real

    def number_of_blocks(self, key, worlds):
        threads, block, tiled = self.blocks[key]
        return threads(worlds) if tiled else -(-threads(worlds) // block)


def compiled(kernel, block, arch, folder):
    """Registers, spills, shared memory, loads and stores of a kernel."""
    kernel.module.options["block_dim"] = block
    wp.compile_aot_module(kernel.module, module_dir=folder, arch=arch, use_ptx=True)
    ptx = next(pathlib.Path(folder).glob("*.ptx"))
    ptx.write_bytes(ptx.read_bytes().rstrip(b"\0"))  # ptxas takes it for an end in the middle of a line
    cubin = ptx.with_suffix(".cubin")
    done = subprocess.run(
        ["ptxas", "-v", f"-arch=sm_{arch}", ptx, "-o", cubin], capture_output=True, text=True, check=True
    )
    name = kernel.get_mangled_name() + "_cuda_kernel_forward"
    report = done.stderr.split(f"'{name}'", 1)[1].split("Compiling entry function", 1)[0]

    def number(pattern):
        return int(match[1]) if (match := re.search(pattern, report)) else 0

    loads = stores = ""
    if shutil.which("nvdisasm"):
        text = subprocess.run(["nvdisasm", "-c", cubin], capture_output=True, text=True, check=True).stdout
        code = text.split(f".text.{name}:", 1)[1].split(".text.", 1)[0]
        loads, stores = (len(re.findall(rf"\b{word}\b", code)) for word in ("LDG", "STG"))
    return number(r"Used (\d+) registers"), number(r"(\d+) bytes spill stores"), number(r"used \d+ barriers, (\d+) bytes smem") or number(r"(\d+) bytes smem"), loads, stores  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="g1")
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--worlds", type=int, default=4096)
    parser.add_argument("--integrators", nargs="+", default=["discrete", "implicitfast"])
    arguments = parser.parse_args()
    play.SIZES = {"nconmax": 64, "njmax": 256}
    print("| integrator | kernel | launches | blocks | registers | spills | shared | loads, stores | arrays |")
    print("|:--|:--|--:|--:|--:|--:|--:|--:|--:|")
    sizes = []
    for integrator in arguments.integrators:
        worlds = play.Worlds(trial.Robot(arguments.robot, "A", 1, integrator), nworld=NWORLD)
        for _ in range(20):
            worlds.step()
        with Launches() as seen:
            mjw.step(worlds.model, worlds.data)
        sums = collections.Counter()
        rows = []
        for key, (kernel, block) in seen.kernels.items():
            module = kernel.func.__module__
            if not module.startswith(("mjgear", "mujoco_warp._src.solver")):
                continue
            ours = module.startswith("mjgear")
            name = kernel.key.split("__locals__")[0] if not ours else kernel.func.__name__
            with tempfile.TemporaryDirectory() as folder:
                found = compiled(kernel, block, arguments.arch, folder)
            sums[ours] += seen.bytes[key]
            sums["launches", ours] += seen.counts[key]
            rows.append((not ours, f"| {integrator} | {'' if ours else 'solver: '}{name.lstrip('_')} | {seen.counts[key]} "
                         f"| {seen.number_of_blocks(key, arguments.worlds)} | {found[0]} | {found[1]} | {found[2]} | {found[3]}, {found[4]} "
                         f"| {seen.bytes[key]} |"))  # fmt: skip
        for _, row in sorted(rows):
            print(row)
        sizes.append(f"{integrator}: gears launch {sums['launches', True]} kernels, which are given {sums[True]} bytes a world; "
                     f"MuJoCo Warp's solver {sums['launches', False]}, {sums[False]} bytes")  # fmt: skip
        model, data = worlds.model, worlds.data
        for precision in ("single", "double"):
            gears = mjgear.warp.Gears(model, data, precision=precision)
            sizes.append(f"{integrator}: {gears.n} gears and {model.nv} dofs keep {bytes_of(vars(gears).values())} bytes a world in {precision} "
                         f"precision, and borrow {bytes_of([gears._scratch(model, data)])} while they settle")  # fmt: skip
    print()
    print("\n".join(sizes))


if __name__ == "__main__":
    main()
