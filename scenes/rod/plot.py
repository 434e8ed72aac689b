"""The rod's motion and load over time, in the layout of the paper's figure 9."""

from curves import stacked


def phases(position, load):
    """Motor on, off, and on against the spring."""
    for axes in (position, load):
        for time in (0.9, 1.4):
            axes.axvline(time, color="0.6", linewidth=0.8, linestyle="--")
    position.axhline(0, color="0.6", linewidth=0.8)
    position.set_ylim(-0.05, 0.2)
    for time, text in ((0.45, "motor -40 N m"), (1.15, "off"), (1.7, "+20 N m")):
        position.text(time, -0.043, text, ha="center", color="0.4")


def draw(name, runs):
    if name == "rod-constant":
        labels = ("position $p$ [rad]", "spring [N m]")
        unit = {"gear": "gear"}
        figure = stacked(runs, ("q_rod", "spring"), labels, (6, 5), 3, lambda case: unit.get(case, case + " N m"))
        yield "constant-friction", figure
        return

    # the implicit cases lie on top of the paper's
    shown = {case: run for case, run in runs.items() if not case.endswith("-implicit")}
    labels = ("position $p$ [rad]", "force $f_v$ [N m]")
    gamma = r"$\gamma_v$ = {}"
    figure = stacked(shown, ("q_rod", "load"), labels, (6, 5.2), 4, lambda case: gamma.format(case[8:]), phases)
    yield "figure9", figure
