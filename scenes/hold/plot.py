"""One minute of holding: how far the arm's joints have turned, and the hand's fall."""

import matplotlib.pyplot as plt
import numpy as np

SCENES = ("hold",)
LABEL = {"gear": "mjgear", "frictionloss": "MuJoCo's frictionloss", "frictionloss-noslip": "frictionloss, 10 noslip iterations"}
COLOR = {"gear": "#0072B2", "frictionloss": "#D55E00", "frictionloss-noslip": "#E69F00"}  # Okabe and Ito
JOINTS = ("q_shoulder", "q_elbow", "q_wrist")


def draw(name, runs):
    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    for case, run in runs.items():
        turn = np.max([np.abs(run[joint] - run[joint][0]) for joint in JOINTS], axis=0)
        axes.plot(run["time"], turn, color=COLOR[case], linewidth=2.2 if case == "gear" else 1.6)
        axes.annotate(f"{LABEL[case]}: {turn[-1]:.2g} rad", (run["time"][-1], turn[-1]), color=COLOR[case],
                      xytext=(-4, 6), textcoords="offset points", ha="right", weight="bold")
    axes.set_xlim(0, 60)
    axes.set_ylim(-0.05, 1.4)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("largest turn of a joint [rad]")
    axes.set_title("One minute of holding an arm by dry friction, motors off")
    yield "minute", figure
