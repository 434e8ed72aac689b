"""Cost of a step: variants of one robot, interleaved in one run, by processor time of the thread."""

import time

import mujoco
import numpy as np

import record

BLOCK = 20  # steps between two changes of the variant, with the same controls
WARM = 5  # blocks that do not count


def blocks(models, kind, steps):
    """Time of blocks of steps of each variant, dict of us a step. The variants get the same controls."""
    data = {k: mujoco.MjData(m) for k, m in models.items()}
    first = next(iter(models.values()))
    count = max(steps // BLOCK, 2)
    plan = record.controls(first, kind, (count + WARM) * record.HOLD, np.random.default_rng(1))
    times = {k: np.empty(count) for k in models}
    order = list(models)
    for b in range(-WARM, count):
        order = order[1:] + order[:1]
        for k in order:
            data[k].ctrl[:] = plan[b + WARM]
            begin = time.thread_time_ns()
            mujoco.mj_step(models[k], data[k], BLOCK)
            if b >= 0:
                times[k][b] = (time.thread_time_ns() - begin) / 1e3 / BLOCK
    return times


def compare(variants, controls, steps):
    """Median cost of each variant relative to the first: variants name -> models, one for each of controls. Returns name -> ratio,
    the median over the kinds of controls."""
    ratios = {k: [] for k in variants}
    base = next(iter(variants))
    for c, kind in enumerate(controls):
        times = blocks({k: v[c] for k, v in variants.items()}, kind, steps)
        for k in variants:
            ratios[k].append(np.median(times[k]) / np.median(times[base]))
    return {k: float(np.median(r)) for k, r in ratios.items()}
