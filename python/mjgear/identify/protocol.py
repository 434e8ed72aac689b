"""The experiments that identify a servo, in order, for a bench that anyone can build."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mjgear import _files as files
from mjgear.identify.bench import GRAVITY
from mjgear.identify.servo import Servo

_RATE = 200.0  # Hz, of the goals


@dataclass(frozen=True)
class Experiment:
    """One motion to log.

    Attributes:
      motor_off: time from which the motor is off, s; None: on to the end.
      tells: what it is for.
    """

    name: str
    goal: Callable[[np.ndarray, float], np.ndarray]
    duration: float
    tells: str
    motor_off: float | None = None


def _smooth(t: np.ndarray, start: float, end: float, duration: float) -> np.ndarray:
    """From start to end without jumps of speed."""
    s = np.clip(t / duration, 0, 1)
    return start + (end - start) * (3 * s**2 - 2 * s**3)


#: motions between -amplitude and amplitude (rad)
EXPERIMENTS = (
    Experiment("rise_and_sink", lambda t, a: a * np.sin(2 * np.pi * t / 12), 12.0,
               "slow: friction while the motor lifts and while it lowers, hence eta_forward and eta_backward"),
    Experiment("sweep", lambda t, a: 0.6 * a * np.sin(0.9 * t**2), 6.0, "ever faster: inertia, viscous friction, back-EMF"),
    Experiment("mixed", lambda t, a: 0.7 * a * np.sin(t) + 0.3 * a * np.sin(5 * t) * np.sin(2 * t), 6.0,
               "speeds and loads mixed, reversals"),
    Experiment("lift_and_drop", lambda t, a: _smooth(t, 0, -a, 2.0), 6.0,
               "the load alone drives: eta_backward, or that it cannot", motor_off=2.5),
    Experiment("steps", lambda t, a: 0.5 * a * np.sign(np.sin(2 * np.pi * t / 3)) * (t > 0.5), 6.0, "delay, limits of voltage and current"),
    Experiment("small_reversals", lambda t, a: 0.03 * np.sin(2 * np.pi * 0.5 * t), 8.0,
               "backlash and breaking away from rest, about the lowest position"),
)  # fmt: skip


def amplitude(torque: float, stall: float) -> float:
    """Return the largest angle, up to 90 degrees, at which gravity takes at most 60 % of the stall torque."""
    return float(min(np.pi / 2, np.arcsin(min(1.0, 0.6 * stall / torque)))) if torque > 0 else np.pi / 2


def text(servo: Servo, stall: float, length: float) -> str:
    """Instructions for bench and motions.

    Args:
      stall: torque of the servo at stall, N m.
      length: of the arm, m.
    """
    heavy = 0.55 * stall / (GRAVITY * length)
    light = heavy / 3
    total = len(EXPERIMENTS) * 4 + 1
    minutes = sum(e.duration for e in EXPERIMENTS) * 4 / 60
    lines = [
        f"Bench for {servo.name} (stall torque {stall:g} N m, arm {length:g} m)",
        "",
        "Build: clamp the servo with its axis level, so that the arm swings in a vertical plane and can turn by 100 degrees to",
        f"both sides. Weigh arm and weights, measure from the axis to the weight's centre. Weights: {light:.2g} kg and {heavy:.2g} kg",
        f"({light * GRAVITY * length:.2g} and {heavy * GRAVITY * length:.2g} N m at 90 degrees). The encoder's zero is where the arm hangs still.",
        "",
        "Safety: bolt the weight on, do not hang it on a string. Stay out of the swing. Cut the supply when the winding passes",
        "70 degrees C or the motor stalls for more than 2 s; let it cool to within 5 degrees of the room between series. Do not go",
        f"beyond {np.degrees(amplitude(heavy * GRAVITY * length, stall)):.0f} degrees with the heavy weight. The motor goes off in lift_and_drop: the arm falls.",
        "",
        "Log at 100 Hz or faster: time, position, speed, goal, current or PWM duty, supply voltage, temperature, whether the motor is on.",
        "One file a motion, each with mass, length, arm_mass, kp and vin in its first line:  # mass=0.5 length=0.1 arm_mass=0.02 kp=400",
        "",
        f"Order ({total - 1} logs, {minutes:.0f} min of motion): two gains of the position loop, one soft (a third of the default) and the default one,",
        "times two weights, times these motions (goals in the CSV files):",
        "",
    ]
    for k, e in enumerate(EXPERIMENTS, 1):
        off = f", motor off from {e.motor_off:g} s" if e.motor_off is not None else ""
        lines.append(f"  {k}. {e.name:<16}{e.duration:4.0f} s{off}: {e.tells}")
    lines += [
        "",
        f"  {len(EXPERIMENTS) + 1}. stall             2 s: arm against a scale at half the stall torque; force x length / current is torque_constant,",
        "     without which only eta_forward x eta_backward can be known",
        "",
        f"Then: mjgear identify LOGS --servo {servo.name} --known torque_constant=VALUE:5%",
    ]
    return "\n".join(lines)


def write_signals(folder: Path, servo: Servo, stall: float, length: float) -> list[Path]:
    """One CSV of goals for each motion and weight: time (s), goal (rad), enable."""
    files.check_folder(folder)
    heavy = 0.55 * stall / (GRAVITY * length)
    written = []
    for weight, mass in (("light", heavy / 3), ("heavy", heavy)):
        a = amplitude(mass * GRAVITY * length, stall)
        for e in EXPERIMENTS:
            t = np.arange(0, e.duration, 1 / _RATE)
            goal = e.goal(t, a)
            on = np.ones_like(t) if e.motor_off is None else t < e.motor_off
            path = folder / f"{weight}-{e.name}.csv"
            text = io.StringIO()
            np.savetxt(
                text,
                np.column_stack([t, goal, on]),
                fmt="%.6g",
                delimiter=",",
                comments="",
                header=f"# servo={servo.name} mass={mass:.4g} length={length:g} trajectory={e.name}\ntime,goal,enable",
            )
            files.write(path, text.getvalue())
            written.append(path)
    return written
