"""Distance of MuJoCo Warp with gears from MuJoCo with the plugin, beside other kinds of friction.

    build/venv-warp/bin/python benchmarks/warp/distance.py [SCENE...]

Prints a table in Markdown. Distances are the largest ones of any joint over the scene, rad or m:
  running   free running: q of Warp and of the plugin, each from its own last state
  step      one step from each of the plugin's states
  stuck     share of the steps of joints that stand still with the plugin in which they stand still here, exactly
  unsettled steps whose friction was not the law's to 1e-3
The first row of a scene is the distance of MuJoCo Warp from MuJoCo, both without gears.
"""

import argparse

import numpy as np
import play
import rivals
import scripts

WAYS = {
    "gears": {},
    "gears, double": {"precision": "double"},
    "lagged bound": {"gears": rivals.Lagged},
    "fixed point, 3 solves": {"gears": rivals.FixedPoint},
    "explicit": {"gears": rivals.Explicit},
}


def distance(a, b):
    worst = np.abs(a - b)
    return np.inf if not np.isfinite(worst).all() else worst.max()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=list(scripts.ALL))
    names = parser.parse_args().scenes
    print("| scene | friction | running | step | stuck | unsettled |")
    print("|:--|:--|--:|--:|--:|--:|")
    for name in names:
        scene = scripts.ALL[name]
        plugin = play.engine(scene)
        plain = play.engine(scene, geared=False), play.warp(scene, geared=False)
        steps = play.engine_steps(scene, plugin.before), play.warp_steps(scene, plugin.before, geared=False)
        print(
            f"| {name} | none, MuJoCo | {distance(plain[0].q, plain[1].q):.1e} | {distance(steps[0].q, steps[1].q):.1e} | | |"
        )
        for way, options in WAYS.items():
            free = play.warp(scene, **options)
            step = play.warp_steps(scene, plugin.before, **options)
            dofs = plugin.dofs(free.gears.names)
            still = plugin.v[:, dofs] == 0
            share = (free.v[:, dofs][still] == 0).mean() if still.any() else np.nan
            print(
                f"| | {way} | {distance(free.q, plugin.q):.1e} | {distance(step.q, plugin.q):.1e} | {share:.4f} "
                f"| {free.gears.unsettled.numpy()[0]} of {len(free.q)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
