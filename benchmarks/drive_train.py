"""Brakes and their kin in contact: how far each step is from the law, written out here part by part.

    python benchmarks/drive_train.py [--steps 100000] [--seed 1]

Arms of five joints fall on a floor and on a loose box, with random gears (some of which lock), motors and elements.
After each step the friction of a joint is divided among the parts of its drive train: a brake in front of the teeth has
b in B sgn(v+), the teeth get u - b, a brake behind them has the same, and at rest there must be such a b. u is computed
from the motion, v+ is the engine's. Prints the largest distance from the inclusion, relative to the torques, of steps
that the plugin calls solved, how many it does not, and the most energy that friction gave.
"""

import argparse
import sys

import mujoco
import numpy as np

import mjgear  # noqa: F401  registers the plugin

H = 0.002
N = 5


def text(rng: np.random.Generator, kind: str) -> tuple[str, list[dict]]:
    """A model, and what each of its joints has."""
    joints = []
    for i in range(N):
        gear = {"gamma_u": rng.uniform(0, 0.4), "gamma_v": rng.uniform(0, 0.9), "coulomb": rng.uniform(0, 1)}
        if rng.uniform() < 0.2:
            gear["gamma_v"] = rng.uniform(1, 1.3)
        gear["static_ratio"] = rng.choice([1.0, 1.2])
        holding = rng.uniform(0, 10)
        gear |= {"holding": holding, "sliding": holding * rng.choice([1.0, 0.7]), "side": rng.choice(["motor", "link"]), "brake": rng.uniform() < 0.7}
        joints.append(gear)
    keys = {key: " ".join(repr(float(gear[key])) for gear in joints) for key in ("gamma_u", "gamma_v", "coulomb", "static_ratio")}
    config = "".join(f"<config key='{key}' value='{value}'/>" for key, value in keys.items())
    names = " ".join(f"j{i}" for i in range(N))
    body, end = "", ""
    for i in range(N):
        axis = "0 1 0" if i % 2 else rng.choice(["0 0 1", "1 0 0"])
        body += (
            f"<body pos='{0.3 if i else 0} 0 0'><joint name='j{i}' axis='{axis}' armature='{rng.uniform(0.05, 1)}' damping='{rng.uniform(0, 0.2)}'"
            f" range='-2 2' limited='true'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.04' mass='{rng.uniform(0.3, 2)}'/>"
        )
        end += "</body>"
    motors = "".join(f"<motor joint='j{i}'/>" for i in range(N))
    brakes = "".join(
        f"<plugin plugin='mjgear.brake' joint='j{i}'><config key='holding_torque' value='{gear['holding']}'/>"
        f"<config key='sliding_torque' value='{gear['sliding']}'/><config key='side' value='{gear['side']}'/></plugin>"
        for i, gear in enumerate(joints)
        if gear["brake"]
    )
    sensors = "".join(f"<plugin plugin='mjgear.transmission' instance='g' objtype='joint' objname='j{i}'/>" for i in range(N))
    return (
        f"<mujoco><option timestep='{H}' integrator='{rng.choice(['Euler', 'implicitfast', 'implicit'])}' cone='{rng.choice(['pyramidal', 'elliptic'])}'/>"
        "<extension><plugin plugin='mjgear.brake'/><plugin plugin='mjgear.transmission'><instance name='g'>"
        f"<config key='joint' value='{names}'/>{config}</instance></plugin></extension>"
        "<worldbody><geom type='plane' size='3 3 .1'/><body pos='.5 0 .1'><freejoint/><geom type='box' size='.1 .3 .1' mass='2'/></body>"
        f"<body pos='0 0 .25'>{body}{end}</body></worldbody><actuator>{motors}{brakes}</actuator><sensor>{sensors}</sensor></mujoco>"
    ), joints


def excess(gear: dict, u: float, t: float, s: int, r: float, brake: float) -> float:
    """By how much the teeth have more friction than their bound in direction s, the brake having this torque."""
    before = brake if gear["side"] == "motor" else 0.0
    gamma_u, gamma_v = gear["gamma_u"], gear["gamma_v"]
    teeth = t - brake
    load = (gamma_u + gamma_v) * (u - before) - gamma_v * teeth
    return s * teeth - r * (abs(load) + gear["coulomb"])


def distance(gear: dict, u: float, t: float, v0: float, v: float, share: float) -> float:
    """How far friction t at velocity v is from the inclusion, in N m."""
    s = int(np.sign(v)) or (1 if t > 0 else -1)
    slides = v != 0 or s * v0 > 0
    if v != 0:
        return abs(excess(gear, u, t, s, 1, s * share * gear["sliding"]))
    r = 1 if slides else gear["static_ratio"]
    brake = share * gear["sliding" if slides else "holding"]

    # the excess is concave in what the brake takes of the rest: it is least at one of its ends
    return max(0.0, min(excess(gear, u, t, s, r, b) for b in (-brake, brake)))


def run(kind: str, steps: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    worst, unsolved, given, rests, contacts, done = 0.0, 0, 0.0, 0, 0, 0
    while done < steps:
        xml, joints = text(rng, kind)
        model = mujoco.MjModel.from_xml_string(xml)
        data = mujoco.MjData(model)
        armature = model.dof_armature[6:]
        for i in range(250):
            if i % 25 == 0:
                data.ctrl[:N] = rng.normal(size=N) * rng.choice([0.0, 3, 20])
                data.ctrl[N:] = rng.uniform(-0.2, 1.2, size=model.nu - N)
            before = data.qvel[6:].copy()
            share = iter(np.clip(data.ctrl[N:], 0, 1))
            mujoco.mj_step(model, data)
            done += 1
            contacts += bool((data.contact.geom > 1).any())
            sensors = data.sensordata.reshape(N, -1)
            if sensors[0, 11] > 1:
                unsolved += 1
            for k, gear in enumerate(joints):
                closed = next(share) if gear["brake"] else 0.0
                if sensors[0, 11] > 1:
                    continue
                v, t = data.qvel[6 + k], sensors[k, 0]
                u = data.ctrl[k] - armature[k] * (v - before[k]) / H
                rests += v == 0
                size = abs(u) + abs(t) + gear["coulomb"] + abs(armature[k] * before[k] / H) + abs(data.qfrc_constraint[6 + k]) + abs(data.qfrc_bias[6 + k])
                worst = max(worst, distance(gear, u, t, before[k], v, closed) / size)
                given = max(given, -t * v / (size * abs(v) + 1e-300))
    return {"steps": done, "contact": contacts, "rest": rests, "unsolved": unsolved, "residual": float(worst), "energy": float(given)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="2000 steps, and an error if they are not on the law")
    given = parser.parse_args()
    found = run("brake", 2000 if given.check else given.steps, given.seed)
    print("  ".join(f"{key} {value:.2g}" if isinstance(value, float) else f"{key} {value}" for key, value in found.items()))
    if given.check and (found["residual"] > 1e-10 or found["unsolved"] or found["energy"] > 0):
        sys.exit("a step is not on the law")


main()
