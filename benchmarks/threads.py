"""Processor time of mujoco.rollout and mujoco.batch.Batch with one and two threads, with and without gears, and memory.

    PYTHONPATH=python MJGEAR_LIBRARIES=build/lib build/venv/bin/python benchmarks/threads.py

Prints a table in Markdown: processor time of a step of one simulation, the ratio of two threads to one, each measured in
turn, and the memory of one simulation in a Batch. Steps of the arm of scenes/arm from its first state, whose motors are
off: it falls on its gears.
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


keep = []

if __name__ == "__main__":
    main()
