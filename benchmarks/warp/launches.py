"""Launches a step in MuJoCo Warp: every kernel, without friction and with gears, and the callers of gear kernels.

    build/venv-warp/bin/python benchmarks/warp/launches.py [--scenes arm "sinking, discrete"] [--way gears] [--worlds 16] [--steps 20]

All start from the state of cost.py; the mean of its ten steps. A launch belongs to gears if its kernel does; the number of others grows if a step takes more constraint solves, or more iterations. Prints a table in Markdown, the kernels that differ, and a line that sums them up.
"""

import argparse
import collections

import cost
import mujoco_warp as mjw
import scripts
import warp as wp


def name_of(kernel):
    module = kernel.func.__module__.rsplit(".", 1)[-1]
    function = (
        kernel.func.__qualname__.split(".<locals>")[0]
        if "<locals>" in kernel.func.__qualname__
        else kernel.func.__name__
    )
    ours = kernel.func.__module__.startswith("mjgear")
    return ours, f"gears: {kernel.func.__name__}" if ours else f"{module}.{function}"


def counted(case, steps=cost.REPLAYED):
    """Launches a step by kernel."""
    counts, real = collections.Counter(), (wp.launch, wp.launch_tiled)

    def noting(launch):
        def call(kernel, *args, **kwargs):
            counts[name_of(kernel)] += 1
            return launch(kernel, *args, **kwargs)

        return call

    wp.launch, wp.launch_tiled = map(noting, real)
    try:
        case._start()
        for _ in range(steps):
            mjw.step(case.model, case.data)
    finally:
        wp.launch, wp.launch_tiled = real
    return collections.Counter({name: count / steps for name, count in counts.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="+", default=["arm", "sinking", "sinking, discrete"])
    parser.add_argument("--way", default="gears", choices=[way for way in cost.WAYS if way != "plain"])
    parser.add_argument("--worlds", type=int, default=16)
    parser.add_argument("--steps", type=int, default=20, help="before the state that is measured")
    arguments = parser.parse_args()
    wp.config.quiet = True
    wp.set_device("cpu")
    for scene in arguments.scenes:
        settled = cost.Case(scripts.ALL[scene], "gears", arguments.worlds, arguments.steps)
        plain, geared = (
            counted(cost.Case(scripts.ALL[scene], way, arguments.worlds, arguments.steps, settled))
            for way in ("plain", arguments.way)
        )
        print(f"\n{scene}\n\n| kernel | plain | {arguments.way} | more |\n|:--|--:|--:|--:|")
        for key in sorted(plain | geared):
            if plain[key] != geared[key]:
                print(f"| {key[1]} | {plain[key]:.1f} | {geared[key]:.1f} | {geared[key] - plain[key]:+.1f} |")
        own = sum(count for (ours, _), count in geared.items() if ours)
        a, b = plain.total(), geared.total()
        search = False, "solver._linesearch_iterative_kernel"
        init = False, "solver._solve_init_efc"
        print(
            f"\n{b:.1f} of {a:.1f}, ratio {b / a:.2f}; kernels of gears {own:.1f}; solves {geared[init]:.1f}, {plain[init]:.1f} plain; "
            f"iterations {geared[search]:.1f}, {plain[search]:.1f} plain",
            flush=True,
        )


if __name__ == "__main__":
    main()
