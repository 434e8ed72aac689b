"""Error over step size against a line of first order, and the force of the floor."""

import matplotlib.pyplot as plt
import numpy as np

SAMPLE = 0.004


def sample(run, column):
    """A column at multiples of the largest step."""
    step = run["time"][1] - run["time"][0]
    return run[column][:: round(SAMPLE / step)]


def draw(name, runs):
    fine = runs.pop("fine")
    joints = [column for column in fine if column.startswith("q_")]
    steps, errors = [], []
    for run in runs.values():
        steps.append(run["time"][1] - run["time"][0])
        errors.append(np.sqrt(np.mean([(sample(run, q) - sample(fine, q)) ** 2 for q in joints])))
    order = np.argsort(steps)
    steps, errors = np.array(steps)[order], np.array(errors)[order]

    figure, (error, force) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    error.loglog(1e3 * steps, errors, "o-", label="with gears and contacts")
    error.loglog(1e3 * steps, errors[-1] * steps / steps[-1], "--", color="0.6", label="first order")
    error.set_xticks(1e3 * steps, [f"{1e3 * step:g}" for step in steps])
    error.minorticks_off()
    error.set(xlabel="step [ms]", ylabel="rms error of the angles [rad]")
    error.legend()
    for case in ("h=4ms", "h=1ms"):
        force.plot(runs[case]["time"], runs[case]["floor"], label=case)
    force.plot(fine["time"], fine["floor"], "k", linewidth=0.8, label="fine")
    force.set(xlabel="time [s]", ylabel="force of the floor [N]")
    force.legend()
    yield "order", figure
