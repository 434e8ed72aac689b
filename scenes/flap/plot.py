"""Position and command, motor torque and supply of the flap over time, one row a figure of the paper."""

from curves import panels


def draw(name, runs):
    # the ramps of figures 11 to 13 end before figures 14 and 15 begin
    share = "none" if name == "flap-ramp" else "all"
    figure, rows = panels(len(runs), 2, 9, 0.6 + 1.9 * len(runs), sharex=share, squeeze=False)
    for (position, torque), (case, run) in zip(rows, runs.items()):
        number, _, kind = case.partition("-")
        position.plot(run["time"], run["command"], color="0.5", linewidth=1, label="command")
        position.plot(run["time"], run["position"], label="flap")
        position.set_title(f"Figure {int(number[6:])}: {kind.replace('-', ' ')}" if kind else number, loc="left")
        position.set_ylabel("position [deg]")
        torque.plot(run["time"], run["motor_flap"] / 1e3, label="motor")
        torque.plot(run["time"], run["load"] / 1e3, color="0.5", linewidth=1, label="load")
        torque.plot(run["time"], run["friction_flap"] / 1e3, linewidth=1, label="friction")
        torque.set_ylabel("torque [kN m]")
        if name == "flap-ramp" and int(number[6:]) < 14:
            position.set(xlim=(-0.02, 0.42), ylim=(-0.1, 0.12))
            torque.set_xlim(-0.02, 0.42)
        if name == "flap":
            supply = torque.twinx()
            look = {"color": "#D55E00", "linewidth": 0.8, "linestyle": "--"}
            supply.plot(run["time"], run["supply"], label="supply pressure (right)", **look)
            supply.set(ylim=(0, 80), yticks=(5, 26))
            supply.set_ylabel("[MPa]", color="#D55E00")
            supply.grid(False)
    named = {line.get_label(): line for axes in figure.axes for line in axes.lines}
    figure.legend(named.values(), named.keys(), loc="outside upper center", ncols=len(named), fontsize=8)
    for axes in rows[-1]:
        axes.set_xlabel("time [s]")
    yield "figures", figure
