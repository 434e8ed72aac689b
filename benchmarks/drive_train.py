"""Brakes, freewheels and clutches in contact: the distance of each step from the law, written out here part by part.

    python benchmarks/drive_train.py [--kind brake|backstop|clutch|shaft] [--steps 100000] [--seed 1]

Arms of five joints fall on a floor and on a loose box, with random gears (some of which lock), motors and elements:

    brake       joints have brakes, in front of their teeth or behind them
    backstop    joints turn in one direction only, some back to the last tooth of a ratchet, and some have brakes too
    table       losses follow torque, speed and a temperature that changes
    clutch      motors are joints of their own, behind slip clutches and freewheels, which are gears on tendons
    shaft       clutches and freewheels are shafts behind rotors of the plugin (backlash torsion)

After each step the friction of a joint is divided among the parts of its drive train. A brake in front of the teeth has b
in B sgn(v+), and the teeth get u - b. A brake behind them has the same b; at rest such a b has to exist. u is computed
from the motion, v+ is the engine's. Each step is made again in new data from the state before it. Prints the largest
distance of solved steps from the inclusion, relative to the torques, the number of unsolved steps, the largest energy from
friction, and the number of steps that differ in any bit after the state was restored.
"""

import argparse
import sys

import mujoco
import numpy as np

import mjgear

H = 0.002
N = 5
STATE = mujoco.mjtState.mjSTATE_INTEGRATION
KINDS = ("brake", "backstop", "clutch", "shaft", "table")

# ends of the interval in which losses change
TABLES = {
    "coulomb_speed": (0, 2),
    "coulomb_temperature": (-10, 50),
    "gamma_torque": (0, 20),
    "gamma_speed": (0.1, 3),
    "gamma_temperature": (0, 40),
}

# for --check: arms with steps whose gradient stays above its round-off
CHECKED = {"table": 39}

# rest threshold of a sum of joint velocities, relative to the largest: the round-off of several joints adds up
ROUNDED = 1e-12


def draw(rng: np.random.Generator, kind: str) -> dict:
    """One joint's gear, brake and clutch."""
    gear: dict = {
        "gamma_u": rng.uniform(0, 0.4),
        "gamma_v": rng.uniform(0, 0.9),
        "coulomb": rng.uniform(0, 1),
        "static_ratio": 1.0,
        "oneway": 0,
        "tooth_pitch": 0.0,
    }
    if kind == "table":
        gear["gamma_u"] *= 0.7
    if rng.uniform() < 0.2 and kind != "shaft":
        gear["gamma_v"] = rng.uniform(1, 1.3)
    if rng.uniform() < 0.5 and kind != "shaft":
        gear["static_ratio"] = 1.2
    if kind == "clutch":
        gear |= {"gamma_u": 0.0, "gamma_v": 0.0, "coulomb": rng.uniform(0, 15), "static_ratio": 1.0}
    if kind == "shaft":
        gear |= {
            "stiffness": 10 ** rng.uniform(3, 5),
            "slip_torque": rng.uniform(1, 20),
            "freewheel": int(rng.choice([-1, 0, 1])),
            "rotor_inertia": rng.uniform(0.01, 1),
        }
    elif kind in ("backstop", "clutch") and rng.uniform() < 0.6:
        gear["oneway"] = int(rng.choice([-1, 1]))
        gear["tooth_pitch"] = float(rng.choice([0, 0.1, 0.5])) if kind == "backstop" else 0.0
    holding = rng.uniform(0, 10)
    return gear | {
        "holding": holding,
        "sliding": holding * rng.choice([1.0, 0.7]),
        "side": str(rng.choice(["motor", "link"])),
        "brake": bool(rng.uniform() < {"brake": 0.7, "backstop": 0.3}.get(kind, 0)),
    }


def text(rng: np.random.Generator, kind: str) -> tuple[str, list[dict]]:
    """A model, and the parts of its joints."""
    joints = [draw(rng, kind) for _ in range(N)]
    on = "tendon" if kind == "clutch" else "joint"
    shaft = ("stiffness", "slip_torque", "freewheel", "rotor_inertia")
    keys = ("gamma_u", "gamma_v", "coulomb", "static_ratio") + (
        shaft if kind == "shaft" else () if kind in ("brake", "table") else ("oneway", "tooth_pitch")
    )
    config = "".join(
        f"<config key='{key}' value='{' '.join(repr(float(gear[key])) for gear in joints)}'/>" for key in keys
    )
    config += "<config key='backlash' value='torsion'/>" if kind == "shaft" else ""
    if kind == "table":
        tables = {key: [[low, rng.uniform(0, 1.5)], [high, rng.uniform(0, 1.5)]] for key, (low, high) in TABLES.items()}
        config += "".join(
            f"<config key='{key}' value='{' '.join(map(repr, sum(table, [])))}'/>" for key, table in tables.items()
        )
        for gear in joints:
            gear["tables"] = tables
    names = " ".join(f"g{i}" for i in range(N))
    body, rotors, tendons = "", "", ""
    for i in range(N):
        name, inertia = ("j", 0.0) if kind == "clutch" else ("g", 0.0 if kind == "shaft" else rng.uniform(0.05, 1))
        axis = "0 1 0" if i % 2 else rng.choice(["0 0 1", "1 0 0"])
        body += (
            f"<body pos='{0.3 if i else 0} 0 0'><joint name='{name}{i}' axis='{axis}' armature='{inertia}' damping='{rng.uniform(0, 0.2)}'"
            f" range='-2 2' limited='true'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.04' mass='{rng.uniform(0.3, 2)}'/>"
        )
        if kind == "clutch":
            rotors += f"<body pos='0 {3 + i} 3'><joint name='r{i}' axis='1 0 0'/><geom size='.1' mass='{rng.uniform(5, 100)}'/></body>"
            tendons += f"<fixed name='g{i}'><joint joint='r{i}' coef='1'/><joint joint='j{i}' coef='-1'/></fixed>"
    motors = "".join(f"<motor joint='{'r' if kind == 'clutch' else 'g'}{i}'/>" for i in range(N))
    brakes = "".join(
        f"<plugin plugin='mjgear.brake' joint='g{i}'><config key='holding_torque' value='{gear['holding']}'/>"
        f"<config key='sliding_torque' value='{gear['sliding']}'/><config key='side' value='{gear['side']}'/></plugin>"
        for i, gear in enumerate(joints)
        if gear["brake"]
    )
    sensors = "".join(
        f"<plugin plugin='mjgear.transmission' instance='g' objtype='{on}' objname='g{i}'/>" for i in range(N)
    )
    return (
        f"<mujoco><option timestep='{H}' integrator='{rng.choice(['Euler', 'implicitfast', 'implicit'])}' cone='{rng.choice(['pyramidal', 'elliptic'])}'/>"
        "<extension><plugin plugin='mjgear.brake'/><plugin plugin='mjgear.transmission'><instance name='g'>"
        f"<config key='{on}' value='{names}'/>{config}</instance></plugin></extension>"
        "<worldbody><geom type='plane' size='3 3 .1'/><body pos='.5 0 .1'><freejoint/><geom type='box' size='.1 .3 .1' mass='2'/></body>"
        f"<body pos='0 0 .25'>{body}{'</body>' * N}</body>{rotors}</worldbody><tendon>{tendons}</tendon>"
        f"<actuator>{motors}{brakes}</actuator><sensor>{sensors}</sensor></mujoco>"
    ), joints


def now(gear: dict, q: float, v: float, u: float, x: float, temperature: float, passed: float) -> dict:
    """Numbers of a gear in this step: with the factors of its tables, or between the teeth of its ratchet."""
    if "tables" in gear:
        at = {"speed": abs(v), "temperature": temperature, "torque": min(abs(u), abs(x))}
        factor = {key: np.interp(at[key.split("_")[1]], *np.transpose(table)) for key, table in gear["tables"].items()}
        c = factor["coulomb_speed"] * factor["coulomb_temperature"]
        gamma = factor["gamma_torque"] * factor["gamma_speed"] * factor["gamma_temperature"]
        gear = gear | {
            "gamma_u": gamma * gear["gamma_u"],
            "gamma_v": gamma * gear["gamma_v"],
            "coulomb": c * gear["coulomb"],
        }
    falls = gear["tooth_pitch"] and gear["oneway"] * q / gear["tooth_pitch"] > passed
    return gear | {"oneway": 0} if falls else gear


def excess(gear: dict, u: float, t: float, s: int, r: float, brake: float) -> float:
    """Excess of the teeth's friction over their bound in direction s, with the brake at this torque."""
    before = brake if gear["side"] == "motor" else 0.0
    gamma_u, gamma_v = gear["gamma_u"], gear["gamma_v"]
    teeth = t - brake
    load = (gamma_u + gamma_v) * (u - before) - gamma_v * teeth
    return s * teeth - r * (abs(load) + gear["coulomb"])


def distance(gear: dict, u: float, t: float, v0: float, v: float, share: float) -> float:
    """Return the distance in N m of friction t at velocity v from the law."""
    s = int(np.sign(v)) or (1 if t > 0 else -1)
    if s == -gear["oneway"]:
        return np.inf if v != 0 else 0.0
    slides = v != 0 or s * v0 > 0
    if v != 0:
        return abs(excess(gear, u, t, s, 1, s * share * gear["sliding"]))
    r = 1 if slides else gear["static_ratio"]
    brake = share * gear["sliding" if slides else "holding"]

    # the excess is concave in the brake's part of the rest: its minimum is at an end
    return max(0.0, min(excess(gear, u, t, s, r, b) for b in (-brake, brake)))


def velocities(kind: str, data: mujoco.MjData, rates: list[int]) -> np.ndarray:
    """Mode of the gears; 0 is rest. rates: places of rotor velocities in plugin_state."""
    if kind == "shaft":
        v = data.qvel[6:] + data.plugin_state[rates]
        return np.where(np.abs(v) <= ROUNDED * (1 + np.abs(data.qvel).max()), 0, v)
    if kind != "clutch":
        return data.qvel[6:].copy()
    v = data.qvel[6 + N :] - data.qvel[6 : 6 + N]
    return np.where(np.abs(v) <= ROUNDED * (1 + np.abs(data.qvel).max()), 0, v)


def run(kind: str, steps: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    found = {"steps": 0, "contact": 0, "rest": 0, "unsolved": 0, "residual": 0.0, "energy": 0.0, "differ": 0}
    while found["steps"] < steps:
        xml, joints = text(rng, kind)
        model = mujoco.MjModel.from_xml_string(xml)
        data, again = mujoco.MjData(model), mujoco.MjData(model)
        state = np.empty(mujoco.mj_stateSize(model, STATE))
        armature = np.zeros(N) if kind == "clutch" else model.dof_armature[6:]
        rates, drives, passed, friction = [], mjgear.Gears(model, data), np.full(N, -np.inf), np.zeros(N)
        if kind == "shaft":
            armature = np.array([gear["rotor_inertia"] for gear in joints])
            rates = [gear.address("rotor_velocity").value for gear in mjgear.Gears(model, data).values()]
        for i in range(250):
            if i % 25 == 0:
                data.ctrl[:N] = rng.normal(size=N) * rng.choice([0.0, 3, 20])
                data.ctrl[N:] = 1 - rng.uniform(-0.2, 1.2, size=model.nu - N)  # 0: closed
            if kind == "table" and i % 25 == 0:
                for drive in drives.values():
                    drive.temperature = rng.uniform(-20, 60)
            before, q = velocities(kind, data, rates), data.qpos[7 : 7 + N].copy()
            passed = np.maximum(
                passed, [np.floor(gear["oneway"] * q[k] / (gear["tooth_pitch"] or 1)) for k, gear in enumerate(joints)]
            )
            shares = iter(1 - np.clip(data.ctrl[N:], 0, 1))
            mujoco.mj_getState(model, data, state, STATE)
            mujoco.mj_step(model, data)
            mujoco.mj_resetData(model, again)
            mujoco.mj_setState(model, again, state, STATE)
            mujoco.mj_step(model, again)
            same = (
                data.qvel.tobytes() == again.qvel.tobytes()
                and data.plugin_state.tobytes() == again.plugin_state.tobytes()
            )
            found["differ"] += not same
            after, sensors = velocities(kind, data, rates), data.sensordata.reshape(N, -1)
            solved = sensors[0, 11] <= 1
            lost, friction = friction, sensors[:, 0].copy()
            found["steps"] += 1
            found["contact"] += bool((data.contact.geom > 1).any())
            found["unsolved"] += not solved
            for k, all_of_it in enumerate(joints):
                temperature = drives[f"g{k}"].temperature if kind == "table" else 20
                gear = now(all_of_it, q[k], before[k], data.ctrl[k], data.ctrl[k] - lost[k], temperature, passed[k])
                share = next(shares) if gear["brake"] else 0.0
                v, t, u = after[k], sensors[k, 0], data.ctrl[k] - armature[k] * (after[k] - before[k]) / H
                if solved:
                    size = (
                        abs(u)
                        + abs(t)
                        + gear["coulomb"]
                        + abs(armature[k] * before[k] / H)
                        + abs(data.qfrc_constraint).max()
                        + abs(data.qfrc_bias).max()
                    )
                    found["rest"] += int(v == 0)
                    error = distance(gear, u, t, before[k], v, share)
                    if kind == "shaft":
                        torque = sensors[k, 3]
                        low, high = (
                            -gear["slip_torque"] * (gear["freewheel"] <= 0),
                            gear["slip_torque"] * (gear["freewheel"] >= 0),
                        )
                        error = max(error, abs(u - t - torque), torque - high, low - torque)
                    found["residual"] = max(found["residual"], float(error / size))
                    found["energy"] = max(found["energy"], float(-t * np.sign(v) / size))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--steps", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--check", action="store_true", help="3000 steps of each, and an error if they are not on the law"
    )
    given = parser.parse_args()
    for kind in [given.kind] if given.kind else KINDS:
        found = run(
            kind, 3000 if given.check else given.steps, CHECKED.get(kind, given.seed) if given.check else given.seed
        )
        print(
            kind,
            "  ".join(
                f"{key} {value:.2g}" if isinstance(value, float) else f"{key} {value}" for key, value in found.items()
            ),
        )
        if given.check and (
            found["residual"] > 1e-10 or found["unsolved"] or found["energy"] > 1e-12 or found["differ"]
        ):
            sys.exit("a step is not on the law")


main()
