"""A servo's load-dependent friction, written into frictionloss before each step, beside the same law within the step.

    benchmarks/lagged.py [--check] [--minutes 1]

Both arms have the parameters of preset sts3215_m4 (model M4 of better-actuator-models) and the same states. The lagged arm follows the published recipe: before each
step the bound of friction is computed from the last step's motor and external torques and written into dof_frictionloss. Prints the record
doc/records/lagged.md. --check runs short parts and fails unless the exact law holds still and the lagged one creeps.
"""

import argparse
import math
import time

import mujoco
import numpy as np

import mjgear

PRESET = mjgear.presets()["sts3215_m4"].keys
LINKS, MASSES = (0.15, 0.12, 0.08), (0.15, 0.1, 0.08)
TOLERANT, STIFF = {}, {"solref_friction": [0.004, 1], "solimp_friction": [0.9999, 0.9999, 0.001, 0.5, 2]}


def arm(h, gears, options):
    """Three links in a row, hinges about y; with gears or with frictionloss that is written before each step."""
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.integrator = h, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    body, at = spec.worldbody, 0.0
    for i, (length, mass) in enumerate(zip(LINKS, MASSES, strict=True)):
        body = body.add_body(pos=[at, 0, 0])
        joint = body.add_joint(name=f"j{i}", axis=[0, -1, 0], armature=PRESET["armature"], damping=PRESET["viscous"])
        for name, value in options.items():
            setattr(joint, name, value)
        joint.frictionloss = 0 if gears else 1e-3
        body.mass, body.ipos, body.inertia, body.explicitinertial = (
            mass,
            [length / 2, 0, 0],
            [1e-5, mass * length**2 / 12, mass * length**2 / 12],
            True,
        )
        motor = spec.add_actuator(name=f"m{i}", trntype=mujoco.mjtTrn.mjTRN_JOINT, target=f"j{i}")
        motor.set_to_motor()
        at = length
    if gears:
        mjgear.add(spec, ["j0", "j1", "j2"], "sts3215_m4")
    return spec.compile()


class Lagged:
    """The published recipe: bound of M4 at the torques of the last step."""

    def __init__(self, model):
        self.model, self.k = model, PRESET

    def update(self, data):
        """Write frictionloss for the next step."""
        k, model = self.k, self.model
        rows = data.efc_type[: data.nefc] == int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)
        own = np.zeros(model.nv)
        own[data.efc_id[: data.nefc][rows]] = data.efc_force[: data.nefc][rows]
        external = -data.qfrc_bias + data.qfrc_constraint - own
        load = np.abs(data.qfrc_actuator - external)
        rest = np.exp(-(np.abs(data.qvel / k["stribeck_velocity"]) ** k["stribeck_exponent"]))
        model.dof_frictionloss[:] = (
            k["coulomb"] + k["gamma_u"] * load + rest * (k["stribeck_friction"] + k["gamma_u_stribeck"] * load)
        )


def play(kind, h, seconds, pose, torque, options=TOLERANT, watch=None):
    """Simulate; watch(data) is called after each step. Returns data."""
    model = arm(h, kind == "exact", options)
    data, law = mujoco.MjData(model), Lagged(model) if kind == "lagged" else None
    data.qpos[:], data.ctrl[:] = pose, torque
    mujoco.mj_forward(model, data)
    for _ in range(round(seconds / h)):
        if law:
            law.update(data)
        mujoco.mj_step(model, data)
        if watch:
            watch(data)
    return data


def gravity(pose):
    """Motor torques that hold the arm without friction."""
    model = arm(0.002, True, TOLERANT)
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    mujoco.mj_forward(model, data)
    return data.qfrc_bias.copy()


def creep(kind, minutes, options):
    """Return final speed and rotation of an arm whose motors carry nine tenths of its load."""
    pose = np.array([0.3, -0.2, 0.4])
    data = play(kind, 0.002, 60 * minutes, pose, 0.9 * gravity(pose), options)
    return np.abs(data.qvel).max(), np.abs(data.qpos - pose).max()


def band(kind, options, steps=12):
    """Return the largest share of its load that the first motor may carry while the arm turns less than a degree in a second: (least, most), by bisection."""
    pose = np.array([0.3, -0.2, 0.4])
    load, ends = gravity(pose), []

    def stands(share):
        data = play(kind, 0.002, 1.0, pose, load * [share, 1, 1], options)
        return np.abs(data.qpos - pose).max() < math.radians(1)

    for inside, outside in ((1.0, 0.0), (1.0, 3.0)):
        for _ in range(steps):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if stands(middle) else (inside, middle)
        ends.append(inside)
    return ends


def closed_band():
    """The same by the law: load (1 - k) = +- (c + gamma (k + 1) load), with the coefficients at rest."""
    load = gravity(np.array([0.3, -0.2, 0.4]))[0]
    gamma, c = PRESET["gamma_u"] + PRESET["gamma_u_stribeck"], PRESET["coulomb"] + PRESET["stribeck_friction"]
    return (1 - gamma - c / load) / (1 + gamma), (1 + gamma + c / load) / (1 - gamma)


def swing(kind, h, options=TOLERANT):
    """Angles every 8 ms of an arm that motors drive to and fro for a second."""
    out = []

    def watch(data):
        data.ctrl[:] = 1.2 * load * math.cos(2 * math.pi * data.time)
        if (
            round(data.time / 0.008) * 0.008 > data.time - h / 2
            and abs(round(data.time / 0.008) * 0.008 - data.time) < h / 2
        ):
            out.append(data.qpos.copy())

    pose = np.array([0.6, -0.4, 0.5])
    load = gravity(pose)
    play(kind, h, 1.0, pose, 1.2 * load, options, watch)
    return np.array(out)


def power(kind, options=TOLERANT):
    """Largest power that friction gives to an arm that falls with its motors off, W; 0 or less where it only takes."""
    most, gears = [-math.inf], []

    def watch(data):
        if kind == "exact":
            gears[:] = gears or [mjgear.Gears(data.model, data)]
            force = -gears[0].friction
        else:
            rows = data.efc_type[: data.nefc] == int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)
            force = np.zeros(data.model.nv)
            force[data.efc_id[: data.nefc][rows]] = data.efc_force[: data.nefc][rows]
        most[0] = max(most[0], float((force * data.qvel).max()))

    play(kind, 0.002, 3.0, np.array([0.6, -0.4, 0.5]), np.zeros(3), options, watch)
    return most[0]


def cost(rounds=9, steps=5000):
    """Least processor time of a step of a moving arm: the engine with constant frictionloss, and exact."""
    pose, found = np.array([0.6, -0.4, 0.5]), {}
    for _ in range(rounds):
        for kind in ("constant", "exact"):
            model = arm(0.002, kind == "exact", TOLERANT)
            data = mujoco.MjData(model)
            data.qpos[:] = pose
            start = time.process_time()
            mujoco.mj_step(model, data, steps)
            found[kind] = min(found.get(kind, math.inf), time.process_time() - start)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--minutes", type=float, default=1)
    options = parser.parse_args()
    kinds = (
        ("lagged", TOLERANT, "lagged"),
        ("lagged", STIFF, "lagged, stiff constraint"),
        ("exact", TOLERANT, "exact"),
    )
    if options.check:
        assert creep("exact", 0.1, TOLERANT) == (0, 0)
        assert creep("lagged", 0.1, TOLERANT)[0] > 1e-5
        assert power("exact") <= 0
        return
    print(f"""# Record: friction of the last step and of this step

An arm of three links with the parameters of preset `sts3215_m4`, written by

    benchmarks/lagged.py

Lagged is the published recipe: the bound of the last step's torques in `frictionloss`. Exact is this plugin.

| | speed of a held joint after {options.minutes:g} min | turn | stands while its motor bears | power that friction gives, at most |
|:--|--:|--:|:--|--:|""")
    for kind, how, name in kinds:
        speed, turn = creep(kind, options.minutes, how)
        low, high = band(kind, how)
        print(
            f"| {name} | {speed:.1e} rad/s | {turn:.1e} rad | {low:.3f} to {high:.3f} of its load | {max(0.0, power(kind, how)):.1e} W |"
        )
    print("| closed form | 0 | 0 | {:.3f} to {:.3f} of its load | 0 |".format(*closed_band()))
    print(
        "\nLargest error of an angle in a driven second, of each against itself at 0.125 ms, rad:\n\n| step | 4 ms | 2 ms | 1 ms | 0.5 ms |\n|:--|--:|--:|--:|--:|"
    )
    finest = {name: swing(kind, 0.000125, how) for kind, how, name in kinds}
    for kind, how, name in kinds:
        print(
            f"| {name} | "
            + " | ".join(
                f"{np.abs(swing(kind, h, how) - finest[name]).max():.1e}" for h in (0.004, 0.002, 0.001, 0.0005)
            )
            + " |"
        )
    apart = np.abs(finest["lagged"] - finest["exact"]).max()
    print(
        f"\nAt 0.125 ms the two are {apart:.2f} rad apart: the recipe leaves out the torques that accelerate rotor and link."
    )
    spent = cost()
    print(
        f"\nThe engine's step with this friction costs {spent['exact'] / spent['constant']:.2f} times one with constant `frictionloss`, of which the recipe takes one "
        "and its own computation."
    )


if __name__ == "__main__":
    main()
