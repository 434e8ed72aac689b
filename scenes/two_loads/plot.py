"""The same arm empty and loaded: held without its motor, lifted with it, held again; with our gear and with constants."""

from curves import legend, panels

STYLE = {  # the colours of Okabe and Ito
    "gear": ("mjgear, a worm", "#0072B2", "-"),
    "frictionloss=11": ("frictionloss 11 N m", "#E69F00", "-"),
    "frictionloss=25": ("frictionloss 25 N m", "#CC79A7", "-"),
    "frictionloss=40": ("frictionloss 40 N m", "#D55E00", "-"),
    "frictionloss=55": ("frictionloss 55 N m", "#009E73", "-"),
    "springyield=11": ("springyield 11 N m", "#E69F00", ":"),
    "springyield=40": ("springyield 40 N m", "#D55E00", ":"),
    "springyield-damped=40": ("springyield 40 N m, damped", "0.35", ":"),
}
LIFT, OFF, END = 2.0, 2.4, 3.5


def draw(name, runs):
    figure, axes = panels(1, 2, 9, 3.8)
    titles = {"empty": "empty: the motor gives 20 N m", "loaded": "with 5 kg: the motor gives 100 N m"}
    for panel, (joint, title) in zip(axes, titles.items()):
        panel.axvspan(LIFT, OFF, color="0.9")
        place = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "top", "fontsize": 7, "color": "0.35"}
        panel.annotate("motor on", ((LIFT + OFF) / 2, 0.98), **place)
        for case, (label, color, line) in STYLE.items():
            if case in runs:
                look = {"linewidth": 2.8, "zorder": 3} if case == "gear" else {"linewidth": 1.5, "zorder": 2}
                panel.plot(*(runs[case][c] for c in ("time", f"q_{joint}")), line, color=color, label=label, **look)
        panel.set(title=title, xlabel="time [s]", ylabel="angle of the arm [rad]")
    axes[0].set_xlim(0, END)
    place = {"xytext": (0, 5), "textcoords": "offset points", "ha": "right", "fontsize": 8}
    axes[0].annotate("25, 40 and 55 N m: it stays", (END, 0), **place)
    legend(figure, 4, axes[0])
    yield "angles", figure
