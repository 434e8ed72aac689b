"""One minute of holding: rotation of the arm's joints, with a gear and with MuJoCo's own friction."""

import matplotlib.pyplot as plt
import numpy as np

STYLE = {  # the colours of Okabe and Ito
    "gear": ("mjgear", "#0072B2"),
    "frictionloss": ("frictionloss, defaults", "#D55E00"),
    "frictionloss-noslip": ("frictionloss, 10 noslip iterations", "#E69F00"),
    "frictionloss-solimp": ("frictionloss, solimp .9999", "#CC79A7"),
    "springyield": ("springyield, undamped, rings", "#56B4E9"),
    "frictionloss-solimp-solref": ("frictionloss, solimp .9999, solref .004", "#009E73"),
    "springyield-damped": ("springyield, critically damped", "0.35"),
}
JOINTS = ("q_shoulder", "q_elbow", "q_wrist")
LEAST, MOST, SLOT = 1e-5, 2.5, 0.32  # of the axis; height of a label in decades


def draw(name, runs):
    figure, axes = plt.subplots(figsize=(7.4, 4.2), layout="constrained")
    above = np.inf
    turns = {case: np.max([np.abs(run[q] - run[q][0]) for q in JOINTS], axis=0) for case, run in runs.items()}
    for case in sorted(turns, key=lambda case: -turns[case][-1]):
        label, color = STYLE[case]
        time, turn = runs[case]["time"], turns[case]
        end = turn.max()
        axes.plot(time, np.maximum(turn, LEAST), color=color, linewidth=2.6 if case == "gear" else 1.5, clip_on=False)

        # labels behind the curves, none over another
        above = min(np.log10(max(end, LEAST)), above - SLOT)
        place = {"color": color, "va": "center", "weight": "bold", "fontsize": 8, "annotation_clip": False}
        axes.annotate(f"{label}: {end:.2g} rad", (60.8, 10**above), **place)
    axes.set(yscale="log", xlim=(0, 60), ylim=(LEAST, MOST), xlabel="time [s]", ylabel="largest turn of a joint [rad]")
    axes.set_yticks([LEAST, 1e-4, 1e-3, 1e-2, 0.1, 1], ["0", "1e-4", "1e-3", "0.01", "0.1", "1"])
    axes.set_title("One minute of holding an arm by dry friction, motors off")
    yield "minute", figure
