"""Cost of a step: variants of one robot, interleaved in one run, by processor time of the thread.

    ratios = cost.compare(variants, controls, steps)

A geared robot moves less and touches other things than one without friction. So its cost is measured twice: where each variant goes by
itself with the same controls, and at the same states, those of the geared robot, which the others replay.
"""

import time

import mujoco
import numpy as np

import record

BLOCK = 20  # steps between two changes of the variant, with the same controls
WARM = 5  # blocks that do not count
STATE = (
    mujoco.mjtState.mjSTATE_PHYSICS
)  # positions, velocities and activations, without the warm start and states of plugins


def blocks(models, plan):
    """Median time of a step of each variant on its own way, us. plan: controls, a row a block."""
    data = {k: mujoco.MjData(m) for k, m in models.items()}
    times = {k: [] for k in models}
    order = list(models)
    for b, control in enumerate(plan):
        order = order[1:] + order[:1]
        for k in order:
            data[k].ctrl[:] = control
            begin = time.thread_time_ns()
            mujoco.mj_step(models[k], data[k], BLOCK)
            if b >= WARM:
                times[k].append((time.thread_time_ns() - begin) / 1e3 / BLOCK)
    return {k: float(np.median(t)) for k, t in times.items()}


def replay(models, leader, plan):
    """The same at the states of the leader. Each variant keeps its own warm start and state of plugins from step to step."""
    data = {k: mujoco.MjData(m) for k, m in models.items()}
    lead = mujoco.MjData(models[leader])
    state = np.empty(mujoco.mj_stateSize(models[leader], STATE))
    times = {k: [] for k in models}
    order = list(models)
    for b, control in enumerate(plan):
        order = order[1:] + order[:1]
        for _ in range(BLOCK):
            mujoco.mj_getState(models[leader], lead, state, STATE)
            for k in order:
                mujoco.mj_setState(models[k], data[k], state, STATE)
                data[k].ctrl[:] = control
                begin = time.thread_time_ns()
                mujoco.mj_step(models[k], data[k])
                if b >= WARM:
                    times[k].append((time.thread_time_ns() - begin) / 1e3)
            lead.ctrl[:] = control
            mujoco.mj_step(models[leader], lead)
    return {k: float(np.median(t)) for k, t in times.items()}


def compare(variants, controls, steps):
    """Cost of geared variants over others: variants name -> models, one for each of controls; "plain" and "loss" have no gears.
    Returns gear -> {"plain", "loss", "plain_same", "loss_same"}, medians over the kinds of controls."""
    others = ("plain", "loss")
    rows = {g: {} for g in variants if g not in others}
    for c, kind in enumerate(controls):
        models = {k: v[c] for k, v in variants.items()}
        count = max(steps // BLOCK, 2) + WARM
        plan = record.controls(models["plain"], kind, count * record.HOLD, np.random.default_rng(1))
        own = blocks(models, plan)
        for g, row in rows.items():
            same = replay({k: models[k] for k in (*others, g)}, g, plan)
            for k in others:
                row.setdefault(k, []).append(own[g] / own[k])
                row.setdefault(f"{k}_same", []).append(same[g] / same[k])
    return {g: {k: float(np.median(x)) for k, x in row.items()} for g, row in rows.items()}
