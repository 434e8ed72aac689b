"""The law of one and two joints: Kikuuwe 5 to 8."""

import matplotlib.pyplot as plt
import numpy as np

# coefficients of the cases of drivability.c
GAMMA = {
    "BD-FD": (0.2, 0.5),
    "nBD-FD": (0.2, 1.5),
    "BD-nFD": (1.5, 0.2),
    "nBD-nFD": (1.5, 1.5),
    "nBD-FD-uneven": (-0.5, 1.2),
}


def square(run, *names):
    """Columns of a grid as square arrays."""
    side = int(round(np.sqrt(run[names[0]].size)))
    return [run[name].reshape(side, side) for name in names]


def drivability(runs):
    figure, axis = plt.subplots(figsize=(5, 4.6), layout="constrained")
    u, v = np.meshgrid(np.linspace(-2, 2, 401), np.linspace(-2, 2, 401))
    region = (abs(v) >= 1) + 2.0 * (abs(u) >= 1)
    region[u + v < 0] = np.nan
    axis.pcolormesh(u, v, region, cmap="Blues", vmin=-1, vmax=5, rasterized=True)
    for case, (gamma_u, gamma_v) in GAMMA.items():
        axis.plot(gamma_u, gamma_v, "o", color="C1")
        axis.annotate(case, (gamma_u, gamma_v), xytext=(4, 4), textcoords="offset points", fontsize=7)
    axis.set(xlabel=r"$\gamma_u$", ylabel=r"$\gamma_v$")
    axis.set_title("(n)BD: (not) backdrivable, (n)FD: (not) forward-drivable", fontsize=8)
    axis.grid(False)
    yield "kikuuwe-figure5", figure

    figure, axes = plt.subplots(1, len(runs), sharey=True, figsize=(2.6 * len(runs), 3), layout="constrained")
    for axis, (case, run) in zip(axes, runs.items()):
        f_u, f_v, moves = square(run, "f_u", "f_v", "core")
        gamma = GAMMA[case]
        axis.pcolormesh(f_u, f_v, moves, cmap="RdBu", vmin=-1.6, vmax=1.6, rasterized=True)
        axis.set_title(rf"{case}: $\gamma$ = {gamma[0]}, {gamma[1]}", fontsize=8)
        axis.set_xlabel("motor $f_u$ [N m]")
        axis.set_aspect("equal")
        axis.grid(False)
    axes[0].set_ylabel("load $f_v$ [N m]")
    figure.suptitle("white: rests; blue: moves with the motor's positive direction; red: against it", fontsize=8)
    yield "kikuuwe-figure6", figure


def lambda_(runs):
    run = next(iter(runs.values()))
    phi, rho, values, low, high, stick = square(run, "phi", "rho", "values", "low", "high", "stick")
    figure = plt.figure(figsize=(9.6, 4.4))
    figure.subplots_adjust(left=0, right=0.93, bottom=0.06, top=0.94, wspace=0.05)
    titles = ("all values, (31)", r"$\lambda_s$, connected to stick, (35)")
    for k, title in enumerate(titles):
        axis = figure.add_subplot(1, 2, k + 1, projection="3d")
        for sheet, color in ((low, "C3"), (high, "C0")) if k == 0 else ((stick, "C2"),):
            shown = np.where(abs(sheet) < 6, sheet, np.nan)
            axis.plot_wireframe(phi, rho, shown, color=color, linewidth=0.6)
        axis.set(xlabel=r"$\phi$ [N m]", ylabel=r"$\rho$", zlabel=r"$\lambda$ [N m]", zlim=(-6, 6))
        axis.set_title(title, fontsize=9)
        axis.set_xticks((-2, 0, 2))
        axis.set_yticks((-2, 0, 2))
        axis.view_init(25, -60)
    yield "kikuuwe-figure7", figure


def axproj(runs):
    run = next(iter(runs.values()))
    figure, axis = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
    v, y = np.array([run["v_0"], run["v_1"]]), np.array([run["y_0"], run["y_1"]])
    moved = np.hypot(*(v - y)) > 1e-9
    axis.quiver(*v[:, moved], *(y - v)[:, moved], angles="xy", scale_units="xy", scale=1, width=0.0015, color="0.6")
    axis.plot(*v[:, ~moved], ".", color="C2", markersize=3, label="inside: y = v")
    axis.plot(*y[:, moved], ".", color="C3", markersize=4, label="y on the border")
    axis.set(xlabel="$v_1$ [rad/s]", ylabel="$v_2$ [rad/s]")
    figure.legend(loc="outside upper center", ncols=2)
    yield "kikuuwe-figure8", figure


def draw(name, runs):
    return globals()[name.replace("lambda", "lambda_")](runs)
