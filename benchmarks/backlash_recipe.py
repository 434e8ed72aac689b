"""Backlash by the plugin and by MuJoCo's own recipe, two coincident hinges of which one has a range.

    backlash_recipe.py [--plugin FILE] [--check]

For several shaft stiffnesses and step lengths: the largest error of the link's angle against the
plugin at 20 us, relative to the largest angle, and the time of a step. --check runs a few of them.
It fails if the plugin is unstable, or if the two disagree where both are valid.
"""

import argparse
import os
import sys
import time

import mujoco
import numpy as np

ROTOR, LINK, HALF_GAP, VISCOUS = 0.01, 0.1, 0.01, 0.2

PLUGIN = """
<mujoco>
  <option timestep="{h}" gravity="0 0 0"/>
  <extension><plugin plugin="mjgear.transmission"><instance name="gap">
    <config key="joint" value="link"/><config key="backlash" value="exact"/>
    <config key="half_gap" value="{gap}"/><config key="rotor_inertia" value="{rotor}"/>
    <config key="stiffness" value="{k}"/><config key="damping" value="{c}"/>
  </instance></plugin></extension>
  <worldbody><body><joint name="link" axis="0 1 0"/>
    <inertial pos="0 0 0" mass="1" diaginertia="{link} {link} {link}"/></body></worldbody>
  <actuator><motor joint="link"/></actuator>
</mujoco>"""

# stiffness and damping of the limit are given for a unit of its inverse inertia
RECIPE = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="{h}" gravity="0 0 0"/>
  <worldbody><body><joint name="rotor" axis="0 1 0" armature="{rotor}"/>
    <inertial pos="0 0 0" mass="1e-6" diaginertia="1e-9 1e-9 1e-9"/>
    <body><joint name="gap" axis="0 1 0" range="-{gap} {gap}" solreflimit="-{kw} -{cw}"/>
      <inertial pos="0 0 0" mass="1" diaginertia="{link} {link} {link}"/></body></body></worldbody>
  <actuator><motor joint="rotor"/></actuator>
</mujoco>"""


def run(xml, k, c, h, duration):
    """Angle of the link after each step, and the mean time of a step; None if it blew up."""
    w = 1 / ROTOR + 1 / LINK
    m = mujoco.MjModel.from_xml_string(
        xml.format(h=h, k=k, c=c, kw=k * w, cw=c * w, gap=HALF_GAP, rotor=ROTOR, link=LINK)
    )
    d = mujoco.MjData(m)
    angle = np.zeros(round(duration / h))
    spent = 0
    for i in range(angle.size):
        d.ctrl[0] = 2 * np.sin(4 * np.pi * d.time)
        d.qfrc_applied[:] = -VISCOUS * d.qvel.sum()
        start = time.perf_counter()
        mujoco.mj_step(m, d)
        spent += time.perf_counter() - start
        angle[i] = d.qpos.sum()
        if d.warning[mujoco.mjtWarning.mjWARN_BADQACC].number or abs(angle[i]) > 10:
            return None, 0
    return angle, spent / angle.size


def error(angle, reference, stride):
    """Largest error relative to the largest angle."""
    if angle is None:
        return np.inf
    return np.abs(angle - reference[stride - 1 :: stride]).max() / np.abs(reference).max()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plugin", default=os.environ.get("MJGEAR_PLUGIN_PATH", "build/lib/libmjgear.so"))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    mujoco.mj_loadPluginLibrary(options.plugin)

    fine = 2e-5
    duration = 0.5 if options.check else 2
    cases = ((1e3, 1), (1e5, 10)) if options.check else ((1e3, 1), (1e4, 3), (1e5, 10), (1e6, 30))
    steps = (1e-4, 1e-3) if options.check else (1e-4, 5e-4, 1e-3, 2e-3, 5e-3)
    print("| k [N m/rad] | step [ms] | plugin: error | us a step | recipe: error | us a step |")
    print("|--:|--:|--:|--:|--:|--:|")
    failed = False
    for k, c in cases:
        reference, _ = run(PLUGIN, k, c, fine, duration)
        for h in steps:
            stride = round(h / fine)
            ours, ours_time = run(PLUGIN, k, c, h, duration)
            recipe, recipe_time = run(RECIPE, k, c, h, duration)
            ours, recipe = error(ours, reference, stride), error(recipe, reference, stride)

            def show(e, t):
                return f"{100 * e:.3f} % | {1e6 * t:.1f}" if np.isfinite(e) else "unstable | "

            print(f"| {k:g} | {1e3 * h:g} | {show(ours, ours_time)} | {show(recipe, recipe_time)} |")
            failed |= ours > 0.01 or (h == 1e-4 and recipe > 0.01)
    return int(options.check and failed)


if __name__ == "__main__":
    sys.exit(main())
