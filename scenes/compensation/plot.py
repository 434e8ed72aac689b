"""A worm joint that follows a slow sine, with and without friction compensation."""

import matplotlib.pyplot as plt


def draw(name, runs):
    figure, (position, torque) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
    position.plot(runs["compensated"]["time"], runs["compensated"]["command"], "0.6", linewidth=3, label="command")
    for case, run in runs.items():
        position.plot(run["time"], run["q_elbow"], label=case)
        torque.plot(run["time"], run["motor_elbow"])
    position.set_ylabel("elbow [rad]")
    torque.set(ylabel="motor [N m]", xlabel="time [s]")
    figure.legend(loc="outside upper center", ncols=3)
    yield "follow", figure
