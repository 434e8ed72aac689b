"""Inverse dynamics with gears on robots of other packages: compared with the torques that acted, and its cost.

    benchmarks/robots/inverse.py [--robots NAME..] [--gears A B brakes] [--integrators ..] [--steps N] [--library FILE] [--fail]
    benchmarks/robots/inverse.py --cost ...     # time of mjg_inverse over mj_inverse, interleaved in one run

Gears A (mild), B (self-locking) and A with brakes on all actuated joints, in front of the teeth and behind them, which random controls open and close. Robots move and fall under random controls; each step is asked for the torques that made it, from the
state before it and (v+ - v)/h. Steps whose status is unsolved are left out.

    moves, rests    gears that moved: the torque is compared; and that stood still: it has to lie in the interval
    off             gears whose torque is neither, beyond 1e-7 of the largest force on the robot
    jams            gears of which inverse dynamics says that by themselves they would have stopped: other joints or contacts changed
                    on the way
    worst           largest error, of that force
"""

import argparse
import ctypes
import itertools
import pathlib
import sys
import time

import mujoco
import numpy as np

import robots
from bench import INTEGRATORS, STATUS, addresses

ROBOTS = ["leap_hand", "panda_robotiq", "apollo", "op3", "berkeley_humanoid", "g1", "t1", "go1", "spot", "h1", "ant", "half_cheetah", "walker2d",
          "pusher", "humanoid", "shadow_hand", "viperx_pair", "xarm7", "iiwa", "fetch"]  # fmt: skip
MOVES, RESTS, HELD, JAMS = 1, 2, 4, 5  # mjgMotion of plugin/mjgear_plugin.h
HOLD, EPISODE = 10, 200  # steps with the same controls; of a fall
TOLERANCE = 1e-7
CALLS = 5  # of each, interleaved
DOUBLES, INTS = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int)
STATE = mujoco.mjtState.mjSTATE_INTEGRATION


def braked(text, model):
    """The same with a brake on each geared joint. It slips with the torque that decelerates its inertia by 20 rad/s2, and holds half as
    much again."""
    brakes = ""
    for k, j in enumerate(robots.gearable(model)):
        torque, side = 20 * model.dof_M0[model.jnt_dofadr[j]], ("motor", "link")[k % 2]
        config = "".join(f'<config key="{key}" value="{value}"/>' for key, value in
                         {"sliding_torque": torque, "holding_torque": 1.5 * torque, "side": side, "normally": "open"}.items())  # fmt: skip
        brakes += f'<plugin plugin="mjgear.brake" joint="{robots.names_of(model, [j])[0]}" ctrlrange="0 1" ctrllimited="true" '
        brakes += f'class="brake">{config}</plugin>'
    plain = '<general gear="1" forcelimited="false" forcerange="0 0" gaintype="fixed" biastype="none" dyntype="none"/>'
    plain = f'<default><default class="brake">{plain}</default></default>'
    return text.replace(
        "</mujoco>",
        f'{plain}<extension><plugin plugin="mjgear.brake"/></extension><actuator>{brakes}</actuator></mujoco>',
    )


class Inverse:
    """mjg_inverse of a model; numbers of joints and tendons."""

    def __init__(self, model, library):
        self.call = ctypes.CDLL(library).mjg_inverse
        self.call.argtypes = [
            DOUBLES,
            DOUBLES,
            INTS,
            ctypes.c_void_p,
            ctypes.c_void_p,
            DOUBLES,
            DOUBLES,
            ctypes.c_char_p,
            ctypes.c_int,
        ]
        self.low, self.high = np.empty((2, model.njnt + model.ntendon))
        self.motion = np.empty(model.njnt + model.ntendon, np.int32)
        self.out = [
            self.low.ctypes.data_as(DOUBLES),
            self.high.ctypes.data_as(DOUBLES),
            self.motion.ctypes.data_as(INTS),
        ]
        self.error = ctypes.create_string_buffer(500)

    def __call__(self, model, data, qacc):
        if self.call(*self.out, model._address, data._address, qacc.ctypes.data_as(DOUBLES), None, self.error, 500) < 0:
            raise RuntimeError(self.error.value.decode())


def steps_of(model, count, seed):
    """Steps under random controls: data after the step, state and velocity before it."""
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    low = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange[:, 0], -1)
    high = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange[:, 1], 1)
    state = np.empty(mujoco.mj_stateSize(model, STATE))
    for k in range(count):
        if k % EPISODE == 0 or data.time == 0 or not np.abs(data.qvel).max() < 1e3:
            mujoco.mj_resetData(model, data)
        if k % HOLD == 0:
            data.ctrl[:] = rng.uniform(low, high)
        mujoco.mj_getState(model, data, state, STATE)
        velocity = data.qvel.copy()
        mujoco.mj_step(model, data)
        if data.time:
            yield data, state, velocity


def check(model, library, steps, seed):
    """Counts of one robot."""
    before, inverse, sensors = mujoco.MjData(model), Inverse(model, library), addresses(model)
    joints = np.array(
        [model.sensor_objid[i] for i in range(model.nsensor) if model.sensor_type[i] == mujoco.mjtSensor.mjSENS_PLUGIN]
    )
    result = dict(moves=0, rests=0, jams=0, off=0, worst=0.0)
    for data, state, velocity in steps_of(model, steps, seed):
        if not np.isin(data.sensordata[sensors + STATUS], (0, 1)).all():
            continue
        mujoco.mj_setState(model, before, state, STATE)
        inverse(model, before, (data.qvel - velocity) / model.opt.timestep)
        low, high, motion, torque = (
            inverse.low[joints],
            inverse.high[joints],
            inverse.motion[joints],
            data.qfrc_actuator[model.jnt_dofadr[joints]],
        )
        largest = max(
            np.abs(force).max()
            for force in (data.qfrc_actuator, data.qfrc_constraint, data.qfrc_bias, data.qfrc_passive)
        )
        error = np.maximum(np.maximum(low - torque, torque - high), 0) / max(largest, 1e-9)
        known = np.isin(motion, (MOVES, RESTS, HELD, JAMS))
        result["moves"] += int((motion != RESTS).sum())
        result["rests"] += int((motion == RESTS).sum())
        result["jams"] += int(np.isin(motion, (HELD, JAMS)).sum())
        result["off"] += int((~known | ~(error <= TOLERANCE)).sum())
        result["worst"] = max(result["worst"], float(np.where(known, error, 1).max()))
    return result


def per_call(call, *arguments):
    """Time of a call, ns; the state of the data is the same before each."""
    begin = time.thread_time_ns()
    for _ in range(CALLS):
        call(*arguments)
    return (time.thread_time_ns() - begin) / CALLS


def cost(model, library, steps, seed):
    """Median time of mjg_inverse over mj_inverse at the same states, without the cost of calls from Python."""
    data, inverse = mujoco.MjData(model), Inverse(model, library)
    engine = ctypes.CDLL(next(str(f) for f in pathlib.Path(mujoco.__file__).parent.glob("libmujoco*")))
    engine.mj_inverse.argtypes = engine.mj_isSparse.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    discrete = int(mujoco.mjtEnableBit.mjENBL_INVDISCRETE)
    ratios = []
    for after, state, velocity in steps_of(model, steps, seed):
        qacc = (after.qvel - velocity) / model.opt.timestep
        mujoco.mj_setState(model, data, state, STATE)
        data.qacc[:] = qacc
        both, rest = (model._address, data._address), (qacc.ctypes.data_as(DOUBLES), None, None, 0)
        model.opt.enableflags |= discrete
        plain = per_call(engine.mj_inverse, *both) - per_call(engine.mj_isSparse, *both)
        model.opt.enableflags &= ~discrete
        geared = per_call(inverse.call, *inverse.out, *both, *rest) - per_call(
            inverse.call, None, *inverse.out[1:], *both, *rest
        )
        ratios.append(geared / plain)
    return float(np.median(ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="*", default=ROBOTS)
    parser.add_argument("--gears", nargs="*", default=["A", "B", "brakes"])
    parser.add_argument("--integrators", nargs="*", default=list(INTEGRATORS))
    parser.add_argument(
        "--steps", type=int, default=420, help="of each robot, gear and integrator: 20 x 3 x 4 x 420 are 10^5"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--library", default=str(robots.HERE.parent.parent / "build/lib/libmjgear.so"))
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a torque was off")
    args = parser.parse_args()
    mujoco.mj_loadPluginLibrary(args.library)
    mujoco.set_mju_user_warning(lambda text: None)
    listed, off, total, ratios = robots.names(True), 0, 0, []
    for name in args.robots:
        wheel, path = listed[name]
        spec, _ = robots.prepare(robots.fetch(wheel) / path, {"integrator": mujoco.mjtIntegrator.mjINT_EULER})
        model = spec.compile()
        for kind, integrator in itertools.product(args.gears, args.integrators):
            text = robots.geared(spec, model, robots.gear("A" if kind == "brakes" else kind, model))
            geared = mujoco.MjModel.from_xml_string(braked(text, model) if kind == "brakes" else text)
            geared.opt.integrator, geared.opt.tolerance = INTEGRATORS[integrator], 1e-14
            head = f"{name:20} {kind:6} {integrator:13}"
            if args.cost:
                ratios.append(cost(geared, args.library, args.steps, args.seed))
                print(f"{head} {ratios[-1]:6.2f} of mj_inverse", flush=True)
                continue
            result = check(geared, args.library, args.steps, args.seed)
            off += result["off"]
            total += args.steps
            print(
                f"{head} moves {result['moves']:7} rests {result['rests']:7} jams {result['jams']:4} off {result['off']:4} worst {result['worst']:.1e}",
                flush=True,
            )
    if args.cost:
        print(f"median {np.median(ratios):.2f}, p90 {np.percentile(ratios, 90):.2f} of mj_inverse")
    else:
        print(f"{total} steps, {off} torques off")
    return int(args.fail and off > 0)


if __name__ == "__main__":
    sys.exit(main())
