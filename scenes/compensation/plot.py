"""A worm joint that follows a slow sine, with and without friction compensation."""

from curves import legend, panels


def draw(name, runs):
    figure, (position, torque) = panels(2, 1, 7, 5)
    position.plot(runs["compensated"]["time"], runs["compensated"]["command"], "0.6", linewidth=3, label="command")
    for case, run in runs.items():
        position.plot(run["time"], run["q_elbow"], label=case)
        torque.plot(run["time"], run["motor_elbow"])
    position.set_ylabel("elbow [rad]")
    torque.set(ylabel="motor [N m]", xlabel="time [s]")
    legend(figure, 3)
    yield "follow", figure
