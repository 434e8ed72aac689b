"""Gears of a whole robot with mujoco.sysid: parameters of gears for its models, and intervals that count logs.

    python examples/identify_arm.py arm/
    python examples/sysid_gears.py arm/arm.xml yaw,shoulder,elbow,roll,wrist,hand arm/found.xml arm/log*.npz

The logs are npz of SystemTrajectory.save_to_disk. Needs pip install 'mujoco[sysid]'.
"""

import pathlib
import sys

import mujoco
import numpy as np
from mujoco import sysid
from scipy.stats import t as student

import mjgear

# parameters of each joint: start, low, high; torques are those of the joint's actuators
GEAR = {
    "gamma_u": (0.05, 0.0, 0.9),
    "gamma_v": (0.15, 0.0, 2.0),
    "coulomb": (0.5, 0.0, 50.0),
    "damping": (0.5, 0.0, 50.0),
    "armature": (0.5, 1e-3, 20.0),
}


def set_number(spec, joint, name, value):
    """Write a number of GEAR into a joint, or into the instance that gears it."""
    if name in ("damping", "armature"):
        j = spec.joint(joint)
        setattr(j, name, value if np.ndim(getattr(j, name)) == 0 else [value, *np.zeros(np.size(j.damping) - 1)])
        return
    instance = next(p for p in spec.plugins if p.name == f"gear_{joint}")
    instance.config = {**instance.config, name: repr(float(value))}


def parameters(spec, joints):
    """Give the joints of a model gears, and return these as a sysid.ParameterDict, named JOINT.NUMBER, that writes the model."""
    made = sysid.ParameterDict()
    for joint in joints:
        mjgear.add(spec, [joint], name=f"gear_{joint}", gamma_u=0.0, gamma_v=0.0, coulomb=0.0)
        for number, (start, low, high) in GEAR.items():

            def write(spec, parameter, joint=joint, number=number):
                set_number(spec, joint, number, float(parameter.value[0]))

            made[f"{joint}.{number}"] = sysid.Parameter(f"{joint}.{number}", start, low, high, modifier=write)
    return made


def intervals(found, residuals, jacobian, level=0.95):
    """name -> value, low, high; together they hold with this level (Bonferroni). Each is the wider one of two: residuals are independent
    noise (sysid.calculate_intervals), or each log is one observation (cluster-robust, with Student's t)."""
    names = list(found.keys())
    tail, n = (1 - level) / 2 / len(names), len(residuals)
    half = np.asarray(sysid.calculate_intervals(residuals, jacobian, alpha=2 * tail)[1], dtype=float)
    if n > 1:
        inverse, ends = np.linalg.pinv(jacobian.T @ jacobian), np.cumsum([0, *(r.size for r in residuals)])
        scores = np.array([jacobian[a:b].T @ r for a, b, r in zip(ends[:-1], ends[1:], residuals)])
        variance = np.diag(inverse @ (scores.T @ scores) @ inverse) * n / (n - 1)
        half = np.maximum(half, student.ppf(1 - tail, n - 1) * np.sqrt(np.maximum(variance, 0)))
    return {
        name: (float(x), float(max(low, x - h)), float(min(high, x + h)))
        for name, x, h, low, high in zip(names, found.as_vector(), half, *found.get_bounds())
    }


def identify(robot, joints, logs, optimizer="mujoco"):
    """The robot of an MJCF file with the gears that fit to logs, and their intervals."""
    spec = mujoco.MjSpec.from_file(str(robot))
    plain = spec.compile()
    start = parameters(spec, joints)
    model = spec.compile()
    read = [sysid.SystemTrajectory.load_from_disk(pathlib.Path(log), plain) for log in logs]
    states = []
    for one in read:  # the gears' own state begins at 0
        state = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS.value))
        state[: one.initial_state.size] = one.initial_state
        states.append(state)
    sequences = sysid.ModelSequences(
        "robot", spec, list(map(str, logs)), states, [one.control for one in read], [one.sensordata for one in read]
    )
    residual = sysid.build_residual_fn(models_sequences=[sequences])
    found, result = sysid.optimize(start, residual, optimizer, verbose=False)
    residuals = [np.asarray(r).ravel() for r in residual(result.x, found.copy())[0]]
    numbers = intervals(found, residuals, np.asarray(result.jac))
    for name, (value, _, _) in numbers.items():
        set_number(spec, *name.split("."), value)
    return spec, numbers


if __name__ == "__main__":
    robot, names, written, *logs = sys.argv[1:]
    spec, numbers = identify(robot, names.split(","), logs)
    pathlib.Path(written).write_text(spec.to_xml())
    for name, (value, low, high) in numbers.items():
        print(f"{name:<28}{value:>12.5g}   {low:.4g} to {high:.4g}")
    print("all intervals together hold with 95 %")
