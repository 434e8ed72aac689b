"""hold(): twenty random arms against closed forms of their kinematics and against simulations; worst poses, payloads, speeds, the command."""

import json
import math
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

import mujoco
import numpy as np

import mjgear

TOOL = sys.argv.pop(1)
G = 9.81


class Arm:
    """A serial arm of random hinges with random gears; the last link carries the site "tool"."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        n = random.integers(2, 5)
        self.axes = [axis / np.linalg.norm(axis) for axis in random.normal(size=(n, 3))]
        self.offsets = random.uniform(-0.3, 0.3, (n, 3))
        self.coms = random.uniform(-0.2, 0.2, (n, 3))
        self.masses = random.uniform(0.2, 2, n)
        self.gears = [
            {
                "gamma_u": random.uniform(0, 0.4), "gamma_v": random.choice([random.uniform(0, 0.5), random.uniform(1.05, 1.4)]),
                "coulomb": random.choice([0.0, random.uniform(0.1, 5)]), "static_ratio": random.choice([1.0, random.uniform(1, 1.4)]),
            }
            for _ in range(n)
        ]  # fmt: skip
        self.pose = random.uniform(-1, 1, n)

    def model(self, payload=0.0):
        spec = mujoco.MjSpec.from_string("<mujoco><option timestep='0.001' gravity='0 0 -9.81'/></mujoco>")
        body = spec.worldbody
        for i, (axis, offset, com, mass) in enumerate(
            zip(self.axes, self.offsets, self.coms, self.masses, strict=True)
        ):
            body = body.add_body(pos=offset)
            body.add_joint(
                name=f"j{i}", axis=axis, armature=5
            )  # so heavy that rest is the only solution of self-locking gears too
            body.mass, body.ipos, body.inertia, body.explicitinertial = mass, com, [0.01, 0.01, 0.01], True
            motor = spec.add_actuator(name=f"m{i}", trntype=mujoco.mjtTrn.mjTRN_JOINT, target=f"j{i}")
            motor.set_to_motor()
        body.add_site(name="tool", pos=[0.1, 0.05, 0.2])
        if payload:
            load = body.add_body(pos=[0.1, 0.05, 0.2])
            load.mass, load.ipos, load.inertia, load.explicitinertial = payload, [0, 0, 0], [1e-9, 1e-9, 1e-9], True
        for i, gear in enumerate(self.gears):
            mjgear.add(spec, f"j{i}", name=f"g{i}", type="coefficients", **gear)
        return spec.compile()

    def loads(self, pose, payload=0.0):
        """Return the torque about each axis that balances gravity of the links behind it and of the payload."""
        at, turn, joints, weights = np.zeros(3), np.eye(3), [], []
        for axis, offset, com, mass, angle in zip(self.axes, self.offsets, self.coms, self.masses, pose, strict=True):
            at = at + turn @ offset
            cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
            joints.append((at, turn @ axis))
            turn = turn @ (np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross)
            weights.append((at + turn @ com, mass))
        tool = (at + turn @ [0.1, 0.05, 0.2], payload)
        return np.array(
            [
                sum(mass * G * np.dot(axis, np.cross(com - place, [0, 0, 1])) for com, mass in [*weights[i:], tool])
                for i, (place, axis) in enumerate(joints)
            ]
        )


def capacity(gear):
    """|x| = k (gamma_v |x| + c), with the motor off."""
    k = gear["static_ratio"]
    return math.inf if k * gear["gamma_v"] >= 1 else k * gear["coulomb"] / (1 - k * gear["gamma_v"])


def breakaways(gear, load):
    """Motor torques that start it against and with the load."""
    k, a, b, x = gear["static_ratio"], gear["gamma_u"], gear["gamma_v"], abs(load)
    c = k * gear["coulomb"]
    lift = (x * (1 + k * b) + c) / (1 - k * a)
    lower = (x * (1 - k * b) - c) / (1 + k * a)
    if a * lower + b * x < 0:
        lower = (x * (1 + k * b) - c) / (1 - k * a)
    return math.copysign(1, load) * lift, math.copysign(1, load) * lower


def rests(model, pose, torques, steps=200):
    """Velocities after some steps from rest; all 0 where nothing moved in any step."""
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = pose, torques
    for _ in range(steps):
        mujoco.mj_step(model, data)
        if np.any(data.qvel):
            return data.qvel.copy()
    return data.qvel.copy()


class Test(unittest.TestCase):
    def test_twenty_arms(self):
        held = fell = 0
        for seed in range(20):
            arm = Arm(seed)
            model = arm.model()
            told = mjgear.hold(model, (0, "tool"), poses=arm.pose)
            loads = arm.loads(arm.pose)
            for i, (one, gear, load) in enumerate(zip(told.joints.values(), arm.gears, loads, strict=True)):
                self.assertAlmostEqual(one.load, load, delta=1e-12 * (1 + abs(load)))
                self.assertTrue(one.capacity == capacity(gear) or abs(one.capacity - capacity(gear)) < 1e-9)
                self.assertEqual(one.holds, abs(load) <= capacity(gear))
                lift, lower = breakaways(gear, load)
                self.assertAlmostEqual(one.lift, lift, delta=1e-9 * (1 + abs(lift)))
                self.assertAlmostEqual(one.lower, lower, delta=1e-9 * (1 + abs(lower)))
                self.assertEqual(one.brake > 0, not one.holds)

                # the engine, with all other joints carried by their motors
                off = np.where(np.arange(len(loads)) == i, 0.0, loads)
                moved = rests(model, arm.pose, off)
                self.assertEqual(not moved.any(), one.holds, (seed, i))
                held, fell = held + one.holds, fell + (not one.holds)
                for torque, way in ((one.lift, np.sign(load)), (one.lower, -np.sign(load))):
                    for share, moves in ((-1e-4, False), (1e-4, True)):
                        at = off + np.eye(len(loads))[i] * (torque + share * way * (abs(torque) + abs(load)))
                        moved = rests(model, arm.pose, at)
                        self.assertEqual(bool(moved.any()), moves, (seed, i, torque, share))
                        self.assertTrue(not moves or np.sign(moved[i]) == way)
                if not one.holds:
                    self.assertFalse(
                        rests(
                            model, arm.pose, off + np.eye(len(loads))[i] * np.sign(load) * one.brake * (1 + 1e-6)
                        ).any()
                    )
        self.assertGreater(min(held, fell), 10)

    def test_payload(self):
        """At the payload at which a joint slips it holds a little less and not a little more."""
        slipped = 0
        for seed in range(20):
            arm = Arm(seed)
            told = mjgear.hold(arm.model(), (0.3, "tool"), poses=arm.pose)
            for i, one in enumerate(told.joints.values()):
                self.assertAlmostEqual(one.load, arm.loads(arm.pose, 0.3)[i], delta=1e-12 * (1 + abs(one.load)))
                if 0 < one.payload < 1000:
                    slipped += 1
                    for share, moves in ((0.999, False), (1.001, True)):
                        mass = share * one.payload
                        torques = np.where(np.arange(len(arm.pose)) == i, 0.0, arm.loads(arm.pose, mass))
                        self.assertEqual(bool(rests(arm.model(mass), arm.pose, torques).any()), moves, (seed, i, mass))
        self.assertGreater(slipped, 8)

    def test_worst_pose(self):
        """No pose of a fine grid is worse, and the load of the pose agrees with the arm's kinematics."""
        for seed in range(20):
            arm = Arm(seed)
            if len(arm.axes) != 2:
                continue
            told = mjgear.hold(arm.model(), (1.0, "tool"), samples=20)
            grid = np.linspace(-math.pi, math.pi, 61)
            loads = np.abs([arm.loads([a, b], 1.0) for a in grid for b in grid]).max(0)
            for one, most, i in zip(told.joints.values(), loads, range(2), strict=True):
                self.assertGreaterEqual(abs(one.load), most - 1e-9)
                self.assertLess(abs(one.load), 1.01 * most)
                self.assertAlmostEqual(one.load, arm.loads(one.pose, 1.0)[i], delta=1e-9)

    def test_speed(self):
        """A slide that carries a weight keeps its speed with the reported torque."""
        for keys in (
            {"preset": "mx106_m6"},
            {"gamma_u": 0.2, "gamma_v": 1.2, "coulomb": 0.3},
            {"eta_forward": 0.6, "coulomb": 2},
        ):
            spec = mujoco.MjSpec.from_string(
                "<mujoco><option timestep='0.001' gravity='0 0 -9.81'/><worldbody><body><joint name='s' type='slide' axis='0 0 1' damping='0.4' armature='5'/>"
                "<geom size='.1' mass='1'/></body></worldbody><actuator><motor joint='s'/></actuator></mujoco>"
            )
            mjgear.add(spec, "s", **keys)
            model = spec.compile()
            one = mjgear.hold(model, poses=np.zeros(1), speed=0.7).joints["s"]
            for torque, v in ((one.lifting, 0.7), (one.lowering, -0.7)):
                data = mujoco.MjData(model)
                for _ in range(10):
                    data.qvel[0], data.ctrl[0] = v, torque
                    mujoco.mj_step(model, data)
                self.assertAlmostEqual(data.qvel[0], v, delta=1e-10)

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path, picture = pathlib.Path(folder) / "arm.xml", pathlib.Path(folder) / "hold.svg"
            path.write_text(
                "<mujoco><worldbody><body><joint name='elbow' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.02' mass='1'/>"
                "<site name='tool' pos='.3 0 0'/></body></worldbody><actuator><motor joint='elbow'/></actuator></mujoco>"
            )
            run = lambda *words: subprocess.run(
                [TOOL, "hold", path, *words], capture_output=True, text=True, check=False
            )
            worm = run("--gear", "worm", "--payload", "2kg@tool", "--picture", picture)
            self.assertEqual((worm.returncode, worm.stderr), (0, ""), worm.stderr)
            self.assertIn("elbow", worm.stdout)
            self.assertIn("<svg", picture.read_text()[:2000])
            screw = run("--gear", "harmonic_drive", "--json")
            self.assertEqual(screw.returncode, 3)
            told = json.loads(screw.stdout)["joints"]["elbow"]
            self.assertEqual((told["holds"], told["capacity"]), (False, 0))
            self.assertAlmostEqual(abs(told["load"]), 0.15 * G, delta=1e-6)
            bare = run()
            self.assertEqual(bare.returncode, 1)
            self.assertIn("has no gear", bare.stderr)
            self.assertIn("did you mean tool", run("--gear", "worm", "--payload", "1kg@tol").stderr)
            self.assertIn("Format 'foo' is not supported", run("--gear", "worm", "--picture", "x.foo").stderr)

            # a full disk: the file has a name, and an older picture stays
            def limit():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

            picture.write_text("as it was")
            words = [TOOL, "hold", path, "--gear", "worm", "--picture", picture]
            full = subprocess.run(words, capture_output=True, text=True, preexec_fn=limit)
            self.assertEqual(full.returncode, 1)
            self.assertEqual(full.stderr, f"mjgear hold: cannot write or read {picture}: File too large\n")
            self.assertEqual(picture.read_text(), "as it was")
            with open("/dev/full", "w") as disk:
                full = subprocess.run(words[:5], stdout=disk, stderr=subprocess.PIPE, text=True)
            self.assertIn("mjgear hold: cannot write or read standard output: No space left", full.stderr)


if __name__ == "__main__":
    unittest.main()
