"""Processor time of mujoco.rollout and mujoco.batch.Batch with one and two threads, with and without gears, and memory.

    PYTHONPATH=python MJGEAR_LIBRARIES=build/lib build/venv/bin/python benchmarks/threads.py

Prints tables in Markdown: processor time of a step of one simulation; the ratio of two threads to one, measured in turn; the memory of one
simulation in a Batch; the cost of gears of each simulation's own, in a Batch that is stepped once or ten times a call; the cost of draws.
Steps of the arm of scenes/arm from its first state, whose motors are off: it falls on its gears. The last table has a chain of seven joints
under constant torques. Its draws differ by 1e-6, so that both columns make the same motion.
"""

import pathlib
import statistics
import time

import mujoco
import numpy as np
from mujoco import rollout
from mujoco.batch import Batch

import mjgear

SCENE = pathlib.Path(__file__).parents[1] / "scenes" / "arm" / "arm.xml"
SIMULATIONS, STEPS, ROUNDS = 32, 250, 7


def model(geared):
    spec = mujoco.MjSpec.from_file(str(SCENE))
    if not geared:
        for sensor in [s for s in spec.sensors if s.type == mujoco.mjtSensor.mjSENS_PLUGIN]:
            spec.delete(sensor)
        for plugin in list(spec.plugins):
            spec.delete(plugin)
    return spec.compile()


def chain():
    """Seven joints in a chain, each with a gear and a motor."""
    spec = mujoco.MjSpec.from_string('<mujoco><option timestep="0.002" integrator="implicitfast"/></mujoco>')
    body = spec.worldbody
    for k in range(7):
        body = body.add_body(pos=(0.2, 0, 0))
        body.add_joint(name=f"j{k}", axis=((1, 0, 0), (0, 1, 0))[k % 2], armature=0.2, damping=[0.1, 0, 0])
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            size=(0.03, 0, 0),
            fromto=(0, 0, 0, 0.2, 0, 0),
            mass=1,
            contype=0,
            conaffinity=0,
        )
        actuator = spec.add_actuator(target=f"j{k}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_motor()
    mjgear.add(spec, [f"j{k}" for k in range(7)], eta_forward=0.8, eta_backward=0.7, coulomb=0.3)
    return spec.compile()


def drawn(m, simulations):
    """Batches with the model's gears, and with gears of each simulation's own."""
    batches = [Batch(m, nsim=simulations, nthread=1) for _ in range(2)]
    for batch in batches:
        batch.ctrl = np.random.default_rng(0).uniform(-5, 5, (simulations, m.nu))
    near = {"eta_forward": (0.8, 0.8 + 1e-6), "eta_backward": (0.7, 0.7 + 1e-6), "coulomb": (0.3, 0.3 + 1e-6)}
    mjgear.randomize(mjgear.Gears(m, batches[1]), near, rng=0)
    return batches


def resident():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    raise OSError("no VmRSS")


def states(m):
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(m, full))
    mujoco.mj_getState(m, d, state, full)
    return np.tile(state, (SIMULATIONS, 1))


def of_rollout(m, threads):
    initial, datas = states(m), [mujoco.MjData(m) for _ in range(threads)]
    runner = rollout.Rollout(nthread=threads)

    def run():
        runner.rollout([m] * SIMULATIONS, datas, initial, nstep=STEPS)

    return run


def of_batch(m, threads):
    batch = Batch(m, nsim=SIMULATIONS, nthread=threads)
    first = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, first, 0)

    def run():
        batch.reset()
        batch.qpos = np.tile(first.qpos, (SIMULATIONS, 1))
        batch.step(nstep=STEPS)

    return run


def main():
    print("| | gears | 1 thread, us a step | 2 threads, us a step | ratio |\n|:--|:--|--:|--:|--:|")
    for name, make in (("rollout", of_rollout), ("Batch", of_batch)):
        for geared in (False, True):
            runs = [make(model(geared), threads) for threads in (1, 2)]
            times = [[], []]
            for run in runs:
                run()
            for _ in range(ROUNDS):
                for run, taken in zip(runs, times):
                    begin = time.process_time()
                    run()
                    taken.append(1e6 * (time.process_time() - begin) / SIMULATIONS / STEPS)
            ratio = statistics.median(b / a for a, b in zip(*times))
            one, two = (statistics.median(t) for t in times)
            print(f"| {name} | {'yes' if geared else 'no'} | {one:.1f} | {two:.1f} | {ratio:.2f} |", flush=True)

    print("\n| gears | memory of a simulation, KiB |\n|:--|--:|")
    for geared in (False, True):
        m = model(geared)
        sizes = []
        for count in (2000, 18000):  # so many that other memory of the process does not count
            before = resident()
            batch = Batch(m, nsim=count, nthread=1)
            batch.step(nstep=2)
            sizes.append(resident() - before)
            keep.append(batch)
        print(f"| {'yes' if geared else 'no'} | {(sizes[1] - sizes[0]) / 16000 / 1024:.1f} |")

    print(
        "\n| simulations | steps a call | the model's gears, us a step | drawn gears, us a step | ratio |\n|--:|--:|--:|--:|--:|"
    )
    m = chain()
    for simulations in (1, 16, 256):
        batches = drawn(m, simulations)
        for steps in (1, 10):
            calls = max(1, 1024 // simulations // steps)
            taken = [[], []]
            for _ in range(20 * ROUNDS):
                for times, batch in zip(taken, batches):
                    batch.step(nstep=steps)  # its memory comes back into the cache
                    begin = time.process_time_ns()
                    for _ in range(calls):
                        batch.step(nstep=steps)
                    times.append((time.process_time_ns() - begin) / 1e3 / simulations / steps / calls)
            least, ratio = [min(times) for times in taken], statistics.median(np.divide(*taken[::-1]))
            print(f"| {simulations} | {steps} | {least[0]:.2f} | {least[1]:.2f} | {ratio:.2f} |", flush=True)

    print("\n| mjgear.randomize of seven gears | ms |\n|:--|--:|")
    intervals, rng = (
        {"eta_forward": (0.7, 0.9), "eta_backward": (0.6, 0.8), "coulomb": (0.1, 0.5)},
        np.random.default_rng(0),
    )
    one, many = mjgear.Gears(m, mujoco.MjData(m)), mjgear.Gears(m, Batch(m, nsim=1024, nthread=1))
    for name, gears, sims in (
        ("of an MjData", one, None),
        ("of one of 1 024 simulations", many, [3]),
        ("of 1 024 simulations", many, None),
    ):
        calls, least = 200 if gears is one or sims else 5, np.inf
        for _ in range(2 * ROUNDS):
            begin = time.process_time()
            for _ in range(calls):
                mjgear.randomize(gears, intervals, rng, sims=sims)
            least = min(least, 1e3 * (time.process_time() - begin) / calls)
        print(f"| {name} | {least:.3f} |", flush=True)


keep = []

if __name__ == "__main__":
    main()
