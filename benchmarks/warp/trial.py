"""Robots of other packages with gears, in MuJoCo Warp: one step from each of the plugin's states, beside MuJoCo Warp's own distance.

    build/venv-warp/bin/python benchmarks/warp/trial.py [ROBOT...] [--gears A S B] [--steps 300] [--running] [NAME=FILE.xml]

Robots are names of benchmarks/robots/robots.py, or MJCF files. Gears: A gamma_u 0.2, gamma_v 0.3 and a static bound of 1.2 times
the sliding one, S the same with Stribeck friction, B gamma_v 1.1. Controls change every 25 steps: in 60 % of the time random
within a random part of their range, otherwise the middle of it. Prints a table in Markdown:
  gears      largest |velocity here - velocity of the plugin| after a step from the plugin's state, rad/s or m/s, and its
             99th percentile over steps
  plain      the same between MuJoCo Warp and MuJoCo without gears, from the same states
  more       steps in which the distance is more than twice the largest one without gears
  unsettled  steps whose friction was not the law's to 1e-3
  stuck      share of the joint-steps at rest with the plugin that are at rest here, exactly, or in the step in which they stop to the
             rounding of (v+ - v)/h (mjgear.warp.Gears); a joint that friction need not hold,
             to a millionth of the largest friction, is not counted: any rounding moves it; and share of those that move there that
             move here
  drives     largest power that friction gave in a settled step, W
"""

import argparse
import pathlib
import sys

import mujoco
import numpy as np
import play
import scripts

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "robots"))
import robots

# share of the largest friction that single precision resolves
ROUNDING = 1e-6

SEVEN = ("kinova3", "spot_arm", "viperx_pair", "panda", "shadow_hand", "g1", "go1")


class Robot(scripts.Scene):
    """A robot with random controls."""

    def __init__(self, name, kind, steps, integrator="implicitfast", file=None, seed=1):
        path = file or robots.fetch(robots.names(long=True)[name][0]) / robots.names(long=True)[name][1]
        options = {"jacobian": mujoco.mjtJacobian.mjJAC_DENSE, "solver": mujoco.mjtSolver.mjSOL_NEWTON, "iterations": 100,
                   "tolerance": 1e-10, "integrator": getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}"),
                   "noslip_iterations": 0}  # fmt: skip
        self.spec, self.bare = robots.prepare(path, options)
        self.spec.option.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_DIAGEXACT)
        self.kind, self.duration = kind, steps * self.bare.opt.timestep
        self.seed, self.steps = seed, steps

    def model(self, geared=True):
        if not geared:
            copy = mujoco.MjSpec.from_string(self.spec.to_xml())
            for joint in robots.gearable(self.bare):
                copy.joint(self.bare.joint(joint).name).frictionloss = 0
            return copy.compile()
        numbers = robots.gear({"S": "A"}.get(self.kind, self.kind), self.bare)
        text = robots.geared(self.spec, self.bare, numbers, sensors=False)
        dof = self.bare.jnt_dofadr[numbers["joints"]]
        keys = {}
        if self.kind in "AS":
            keys["static_ratio"] = "1.2"
        if self.kind == "S":
            size = 0.1 * self.bare.dof_M0[dof]
            keys |= {"stribeck_friction": " ".join(f"{x:.6g}" for x in size), "stribeck_velocity": "0.05"}
        config = "".join(f'<config key="{k}" value="{v}"/>' for k, v in keys.items())
        return mujoco.MjModel.from_xml_string(
            text.replace('<instance name="bench">', f'<instance name="bench">{config}')
        )

    def start(self, m, d):
        self._random = np.random.default_rng(self.seed)
        self._held = 0

    def input(self, m, d):
        if self._held == 0:
            self._held = 25
            span = np.where(m.actuator_ctrllimited[:, None] > 0, m.actuator_ctrlrange, [-1, 1])
            size = 10 ** self._random.uniform(-2, 0) * (self._random.uniform() < 0.6)  # share of the whole range, or 0
            self._ctrl = span.mean(axis=1) + size * self._random.uniform(-0.5, 0.5, m.nu) * np.ptp(span, axis=1)
        self._held -= 1
        d.ctrl[:] = self._ctrl


def percentile(distance):
    return np.percentile(distance, 99)


def row(name, kind, arguments, file):
    play.SIZES = {"nconmax": 200, "njmax": 700}
    scene = Robot(name, kind, arguments.steps, arguments.integrator, file, arguments.seed)
    plugin = play.engine(scene)
    theirs, ours = play.engine_steps(scene, plugin.before), play.warp_steps(scene, plugin.before, geared=False)
    plain = np.abs(ours.v - theirs.v).max(axis=1)
    geared = play.warp_steps(scene, plugin.before, each=True, rounds=arguments.rounds, precision=arguments.precision)
    off = np.abs(geared.v - plugin.v).max(axis=1)
    dofs = plugin.dofs(geared.gears.names)
    rests = plugin.v[:, dofs] == 0
    still = rests & (np.abs(plugin.friction) > ROUNDING * np.abs(plugin.friction).max())
    here = np.abs(geared.v[:, dofs]) <= ROUNDING * np.abs([state[1][dofs] for state in plugin.before])
    stuck = here[still].mean() if still.any() else np.nan
    moves = (~here[~rests]).mean() if (~rests).any() else np.nan
    settled = geared.status == 0
    drives = max(-geared.power[settled].min(), 0.0) if settled.any() else np.nan
    print(f"| {name} | {kind} | {len(dofs)} | {off.max():.1e} {percentile(off):.1e} | {plain.max():.1e} {percentile(plain):.1e} "
          f"| {(off > 2 * plain.max()).sum()} ({(off[settled] > 2 * plain.max()).sum()} settled) | {(~settled).sum()} of {len(off)} "
          f"| {stuck:.4f} of {still.sum()}, {moves:.4f} of {(~rests).sum()} | {drives:.0e} |", flush=True)  # fmt: skip
    if arguments.worst:
        for k in np.argsort(-off)[: arguments.worst]:
            dof = int(np.argmax(np.abs(geared.v[k] - plugin.v[k])))
            joint = plugin.model.dof_jntid[dof]
            print(f"    step {k}: {plugin.model.joint(joint).name} {geared.v[k, dof]:.6g} here, {plugin.v[k, dof]:.6g} there, "
                  f"before {plugin.before[k][1][dof]:.6g}; status {geared.status[k]}, plain {plain[k]:.1e}")  # fmt: skip
    if arguments.running:
        free = np.abs(play.warp(scene).q - plugin.q).max()
        bare = np.abs(play.engine(scene, geared=False).q - play.warp(scene, geared=False).q).max()
        print(f"    running freely {free:.1e}, without gears {bare:.1e}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=SEVEN)
    parser.add_argument("--gears", nargs="+", default=["A", "S", "B"])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--integrator", default="implicitfast")
    parser.add_argument("--precision", default="single", choices=["single", "double"])
    parser.add_argument("--rounds", type=int, default=12, help="of a step at most")
    parser.add_argument("--running", action="store_true")
    parser.add_argument("--seed", type=int, default=1, help="of the controls")
    parser.add_argument("--worst", type=int, default=0, help="show so many of the steps that are off most")
    arguments = parser.parse_args()
    print(
        "| robot | gears | joints | gears: worst, 99 % | plain: worst, 99 % | more | unsettled | stuck, moves | drives |"
    )
    print("|:--|:--|--:|--:|--:|--:|--:|--:|--:|")
    for robot in arguments.robots:
        name, _, file = robot.partition("=")
        for kind in arguments.gears:
            row(name, kind, arguments, file or None)


if __name__ == "__main__":
    main()
