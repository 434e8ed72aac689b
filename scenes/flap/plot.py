"""Position and command, motor torque and supply of the flap over time, one row a figure of the paper."""

import matplotlib.pyplot as plt

SCENES = ("flap", "flap-ramp", "flap-creep")


def draw(name, runs):
    figure, rows = plt.subplots(len(runs), 2, sharex=True, figsize=(9, 1.9 * len(runs)),
                                layout="constrained", squeeze=False)
    for (position, torque), (case, run) in zip(rows, runs.items()):
        number, _, kind = case.partition("-")
        position.plot(run["time"], run["command"], color="0.5", linewidth=1, label="command")
        position.plot(run["time"], run["position"], label="flap")
        position.set_title(f"figure {int(number[6:])}: {kind.replace('-', ' ')}", loc="left")
        position.set_ylabel("deg")
        torque.plot(run["time"], run["motor_flap"] / 1e3, label="motor")
        torque.plot(run["time"], run["load"] / 1e3, color="0.5", linewidth=1, label="load")
        torque.plot(run["time"], run["friction_flap"] / 1e3, linewidth=1, label="friction")
        torque.set_ylabel("kN m")
        if name == "flap":
            supply = torque.twinx()
            supply.plot(run["time"], run["supply"], color="tab:red", linewidth=0.8, linestyle="--")
            supply.set_ylim(0, 80)
            supply.set_yticks((5, 26))
            supply.set_ylabel("MPa", color="tab:red")
            supply.grid(False)
    rows[0][0].legend(loc="best", fontsize=7)
    rows[0][1].legend(loc="best", fontsize=7)
    for axes in rows[-1]:
        axes.set_xlabel("time [s]")
    yield "figures", figure
