"""The servo's logs: measured, with this gear, and with MuJoCo's own friction."""

import matplotlib.pyplot as plt

EACH, TITLE = 6, ("sum of sines", "lift and drop", "up and down", "sine of squared time")
DROP = 2.0  # the motor lets go of the pendulum that it lifted, s
OFFSET = {"gear": 0.02173, "frictionloss": 0.02233}  # resolution of the encoder, as in replay.c
STYLE = {"gear": ("mjgear", "#0072B2", "-"), "frictionloss": ("MuJoCo's frictionloss", "#D55E00", "--")}


def overshoot(time, measured, played):
    """Swing of the dropped pendulum: this gear overshoots more than MuJoCo's friction."""
    swing = {"measured": measured, **{STYLE[case][0]: q for case, q in played.items()}}
    highest = {name: q[(time > DROP) & (time < DROP + 1)].max() for name, q in swing.items()}
    return "dropped, it overshoots to\n" + "\n".join(f"{q:.2f} rad {name}" for name, q in highest.items())


def draw(name, runs):
    figure, axes = plt.subplots(2, 2, figsize=(9, 5.6), layout="constrained")
    first = next(iter(runs.values()))
    for i, panel in enumerate(axes.flat):
        part = (first["time"] > i * EACH + 0.003) & (first["time"] < (i + 1) * EACH)
        time = first["time"][part] - i * EACH
        panel.plot(time, first["measured"][part], color="black", linewidth=2.6, alpha=0.55, label="measured")
        for case, (label, color, line) in STYLE.items():
            panel.plot(time, runs[case]["q_servo"][part] - OFFSET[case], color=color, linestyle=line, label=label)
        if TITLE[i] == "lift and drop":
            played = {case: runs[case]["q_servo"][part] - OFFSET[case] for case in STYLE}
            text = overshoot(time, first["measured"][part], played)
            panel.annotate(text, (0.98, 0.04), xycoords="axes fraction", ha="right", fontsize=8)
        panel.set(title=TITLE[i], xlabel="time [s]", ylabel="position [rad]")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    yield "measured", figure
