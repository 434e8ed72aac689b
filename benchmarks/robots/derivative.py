"""Exact derivatives of steps by controls on robots of other packages: compared with central differences of steps, and their cost.

    benchmarks/robots/derivative.py [--robots NAME..] [--gears A B C] [--integrators ..] [--cones ..] [--states N] [--library FILE] [--fail]

Robots fall and move under random controls; at intervals the derivatives of the next step by all controls are computed. A control is
compared where steps that differ by it, forward and back, leave all gears and constraints as they are. For a constant active set a step is
linear in the control, except for elliptic cones. Differences are therefore taken over 1e-3 to 1e-6 of its range, and the best of them
counts.

    known      controls whose derivatives mjg_controlDerivative gives, of all
    compared   of these: those with steps on the same pieces on both sides
    off        of these: further than 1e-6 of the largest entry of the column from differences
    worst      the largest of these errors
    one-sided  a gear changes its piece within 1e-6 on one side, or the control is at its range
    time of the derivatives by all controls, over the steps of central differences (median, interleaved)
"""

import argparse
import ctypes
import itertools
import sys
import time

import mujoco
import numpy as np

import robots
from bench import CONES, INTEGRATORS, STATUS, addresses
from inverse import DOUBLES, INTS, ROBOTS, STATE, steps_of

MODE, UNKNOWN, EPS, TOLERANCE = 4, 3, 1e-6, 1e-6
SHARES = (1e-3, 1e-4, 1e-5, 1e-6)


class Derivative:
    """mjg_controlDerivative of a model."""

    def __init__(self, model, library):
        self.call = ctypes.CDLL(library).mjg_controlDerivative
        self.call.argtypes = [
            DOUBLES,
            DOUBLES,
            INTS,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_double,
            ctypes.c_char_p,
            ctypes.c_int,
        ]
        self.qvel, self.state = np.zeros((model.nu, model.nv)), np.zeros((model.nu, model.npluginstate))
        self.side = np.zeros(model.nu, np.int32)
        self.out = [
            self.qvel.ctypes.data_as(DOUBLES),
            self.state.ctypes.data_as(DOUBLES),
            self.side.ctypes.data_as(INTS),
        ]
        self.error = ctypes.create_string_buffer(500)

    def __call__(self, model, data):
        if self.call(*self.out, model._address, data._address, EPS, self.error, 500) < 0:
            raise RuntimeError(self.error.value.decode())


def check(model, library, states, every, seed):
    """Counts of one robot."""
    data, derivative, sensors = mujoco.MjData(model), Derivative(model, library), addresses(model)
    result = dict(known=0, all=0, compared=0, off=0, worst=0.0, one_sided=0)
    ratios = []

    def step(state, control, change):
        mujoco.mj_setState(model, data, state, STATE)
        data.ctrl[control] += change
        mujoco.mj_step(model, data)
        modes = tuple(data.sensordata[sensors + MODE])
        return np.concatenate([data.qvel, data.plugin_state]), (modes, tuple(data.efc_state))

    low = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange[:, 0], -1)
    high = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange[:, 1], 1)
    for k, (_, state, _) in enumerate(steps_of(model, states * every, seed)):
        if k % every:
            continue
        mujoco.mj_setState(model, data, state, STATE)
        begin = time.thread_time()
        derivative(model, data)
        own = time.thread_time() - begin
        begin = time.thread_time()
        for control, change in itertools.product(range(model.nu), (EPS, -EPS)):
            step(state, control, change)
        ratios.append(own / (time.thread_time() - begin))
        _, base = step(state, 0, 0)
        if not np.isin(data.sensordata[sensors + STATUS], (0, 1)).all():
            continue
        result["all"] += model.nu
        result["known"] += int((derivative.side != UNKNOWN).sum())
        result["one_sided"] += int(np.isin(derivative.side, (-1, 1, 2)).sum())
        largest = max(np.abs(derivative.qvel).max(), np.abs(derivative.state).max())
        for control in np.flatnonzero(derivative.side == 0):
            exact = np.concatenate([derivative.qvel[control], derivative.state[control]])
            error = np.inf
            for share in SHARES:
                change = share * (high - low)[control]
                (ahead, one), (back, other) = step(state, control, change), step(state, control, -change)
                if one == base == other:
                    difference = (ahead - back) / (2 * change)
                    difference[model.nv :][exact[model.nv :] == 0] = (
                        0  # counts and other numbers that are not memory of gears
                    )
                    size = np.maximum(
                        np.abs(ahead), np.abs(data.qvel).max()
                    )  # joints that move each other share their rounding
                    rounding = (
                        16 * np.finfo(float).eps * size / change
                    )  # of the steps: where a rotor rests nothing else is left
                    error = min(
                        error,
                        np.maximum(np.abs(difference - exact) - rounding, 0).max()
                        / max(np.abs(exact).max(), TOLERANCE * largest, 1e-300),
                    )
            if np.isfinite(error):
                result["compared"] += 1
                result["off"] += error > TOLERANCE
                result["worst"] = max(result["worst"], error)
    return result, float(np.median(ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="*", default=ROBOTS)
    parser.add_argument("--gears", nargs="*", default=["A", "B", "C"])
    parser.add_argument("--integrators", nargs="*", default=list(INTEGRATORS))
    parser.add_argument("--cones", nargs="*", default=list(CONES))
    parser.add_argument("--states", type=int, default=4, help="of each robot, gear, integrator and cone")
    parser.add_argument("--every", type=int, default=25, help="steps between two of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--library", default=str(robots.HERE.parent.parent / "build/lib/libmjgear.so"))
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a derivative was off")
    args = parser.parse_args()
    mujoco.mj_loadPluginLibrary(args.library)
    mujoco.set_mju_user_warning(lambda text: None)
    listed, total, ratios = robots.names(True), dict(known=0, all=0, compared=0, off=0, worst=0.0, one_sided=0), []
    for name in args.robots:
        wheel, path = listed[name]
        spec, _ = robots.prepare(robots.fetch(wheel) / path, {"integrator": mujoco.mjtIntegrator.mjINT_EULER})
        model = spec.compile()
        for kind, integrator, cone in itertools.product(args.gears, args.integrators, args.cones):
            geared = mujoco.MjModel.from_xml_string(robots.geared(spec, model, robots.gear(kind, model)))
            geared.opt.integrator, geared.opt.cone, geared.opt.tolerance, geared.opt.iterations = (
                INTEGRATORS[integrator],
                CONES[cone],
                0,
                100,
            )
            result, ratio = check(geared, args.library, args.states, args.every, args.seed)
            ratios.append(ratio)
            for key, number in result.items():
                total[key] = max(total[key], number) if key == "worst" else total[key] + number
            print(f"{name:20} {kind} {integrator:13}{cone:10} known {result['known']:4} of {result['all']:4} compared {result['compared']:4} off {result['off']:3} "
                  f"worst {result['worst']:.1e} one-sided {result['one_sided']:3} time {ratio:.2f}", flush=True)  # fmt: skip
    print(f"known {total['known']} of {total['all']}, compared {total['compared']}, off {total['off']}, worst {total['worst']:.1e}, "
          f"one-sided {total['one_sided']}; time {np.median(ratios):.2f} (median) of central differences")  # fmt: skip
    return int(args.fail and total["off"] > 0)


if __name__ == "__main__":
    sys.exit(main())
