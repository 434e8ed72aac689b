"""An arm carries a load along a slow path: the path as seen from the side, and the distance of the load from it."""

import matplotlib.pyplot as plt


def draw(name, runs):
    figure, (path, error) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for k, (case, run) in enumerate(runs.items()):
        if not k:
            path.plot(run["goal_x"], run["goal_z"], "0.75", linewidth=4, label="path")
        path.plot(run["tip_x"], run["tip_z"], label=case)
        error.semilogy(run["time"], run["error"].clip(1e-3))
    path.set(xlabel="reach [m]", ylabel="height [m]")
    path.set_aspect("equal", "datalim")
    error.set(xlabel="time [s]", ylabel="error of the load [mm]")
    figure.legend(loc="outside upper center", ncols=4)
    yield "path", figure
