"""The rod's motion and load over time, in the layout of the paper's figure 9."""

import matplotlib.pyplot as plt


def constant(runs):
    figure, (position, spring) = plt.subplots(2, 1, sharex=True, figsize=(6, 5), layout="constrained")
    for case, run in runs.items():
        label = case if case == "gear" else case + " N m"
        position.plot(run["time"], run["q_rod"], label=label)
        spring.plot(run["time"], run["spring"])
    position.set_ylabel("position $p$ [rad]")
    spring.set(ylabel="spring [N m]", xlabel="time [s]")
    figure.legend(loc="outside upper center", ncols=3)
    yield "constant-friction", figure


def draw(name, runs):
    return constant(runs) if name == "rod-constant" else rod(runs)


def rod(runs):
    figure, (position, load) = plt.subplots(2, 1, sharex=True, figsize=(6, 5.2), layout="constrained")
    for case, run in runs.items():
        # the implicit cases lie on top of the paper's
        if not case.endswith("-implicit"):
            label = rf"$\gamma_v$ = {case.split('=')[1]}"
            position.plot(run["time"], run["q_rod"], label=label)
            load.plot(run["time"], run["load"])

    for axes in (position, load):
        for time in (0.9, 1.4):
            axes.axvline(time, color="0.6", linewidth=0.8, linestyle="--")
    position.axhline(0, color="0.6", linewidth=0.8)
    position.set(ylabel=r"position $p$ [rad]", ylim=(-0.05, 0.2))
    for time, text in ((0.45, "motor -40 N m"), (1.15, "off"), (1.7, "+20 N m")):
        position.text(time, -0.043, text, ha="center", color="0.4")
    load.set(ylabel=r"force $f_v$ [N m]", xlabel="time [s]")
    figure.legend(loc="outside upper center", ncols=4)
    yield "figure9", figure
