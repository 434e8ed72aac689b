"""Enumerations of sensors and results, and the order of a sensor's numbers."""

from __future__ import annotations

import enum

# numbers of a sensor, in the order of doc/sensors.md
RESULTS = (
    "friction",
    "internal_force",
    "torque_in",
    "torque_out",
    "mode",
    "power_loss",
    "gap",
    "rotor_angle",
    "rotor_velocity",
    "iterations",
    "residual",
    "status",
    "fallbacks",
    "state",
)


class Word(enum.IntEnum):
    """A number that prints as its word; made from a sensor's float too: ``State(data.sensor("elbow_gear").data[13])``."""

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


class State(Word):
    """State of a gear (mjgpState of the plugin)."""

    STUCK = 0  # stands still by its friction
    DRIVING = 1  # moves, the motor drives
    DRIVEN = 2  # moves, the load drives the gear
    LOCKED = 3  # stands still, and no load moves it
    IN_GAP = 4  # its teeth do not touch
    DRIVEN_BY_BOTH = 5  # moves, motor and load both give power, which its friction takes


class Mode(Word):
    """Direction in which a gear slips."""

    BACKWARD = -1
    STUCK = 0
    FORWARD = 1


class Status(Word):
    """Status of the last step (mjgStatus of mjgear.h)."""

    SOLVED = 0  # to the tolerance
    JAMMED = 1  # solved, but ill posed: another solution may exist
    ITERATION_LIMIT = 2  # not solved to the tolerance
    ARGUMENT = -1  # errors of the solver's arguments
    NOT_FINITE = -2
    NOT_PD = -3
    WORKSPACE = -4
    SIZE = -5


class Motion(Word):
    """Kind of motion of a gear for ``inverse`` (mjgMotion of mjgear_plugin.h)."""

    NONE = -1  # no torque makes the motion
    MOVES = 1  # one torque makes it
    RESTS = 2  # it stands still with any torque between the bounds
    ROTOR = 3  # its rotor is behind a gap, and the rotor's acceleration is missing
    HELD = 4  # it moves, and its static friction would hold it
    JAMS = 5  # its load drives it, and its gear locks
    SLEEPS = 6  # its tree is asleep


# the words of State, by its number
STATES = tuple(str(state) for state in State)
# the words of Motion, by its number
MOTIONS = {int(motion): str(motion) for motion in Motion}
