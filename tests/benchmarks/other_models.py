"""Gears for all actuated joints of every MJCF file of a folder: which are refused, and why; which steps are worse than the plain model's.

    python tests/benchmarks/other_models.py FOLDER [--steps 1000] [--seconds 120] [--table TABLE.md]

Each file is one process. Every hinge and slide that an actuator drives gets a gear that can be driven back (free), one that cannot (locking) and
one with play, with each integrator that the plain model has. Controls are random numbers in their ranges, anew every twenty steps. A row has the
steps that were not solved, the torques of friction that give power, the largest error of the law in steps that count as solved (Euler without gaps:
from velocities, actuator forces and passive forces of the engine, in units of the torques), and the processor time over that of the plain model and of one with
frictionloss. For a refused model the remedy of its message is tried. Missing meshes become spheres, and the table marks them."""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import time
import warnings

import mujoco
import numpy as np

import mjgear
from mjgear._check import actuator_roles

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks/robots"))
import robots

KINDS = {
    "free": {"gamma_u": 0.1, "gamma_v": 0.25},
    "locking": {"gamma_u": 0.1, "gamma_v": 1.2},
    "play": {"gamma_u": 0.1, "gamma_v": 0.25, "backlash": "exact", "half_gap": 0.002},
}
INTEGRATORS = {"Euler": 0, "implicit": 2, "implicitfast": 3, "discrete": 4}
HOLD = 20  # steps with the same controls
BAD = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)


def line_of(error):
    """The reason in an engine's error."""
    lines = [line for line in str(error).splitlines() if line.startswith("mjgear")]
    return (lines or [re.sub(r"\s+", " ", str(error))])[0][:300]


def read(path):
    """Return the MjSpec, and True if its meshes are files, not spheres. Joints without a name get one."""
    spec, meshes = mujoco.MjSpec.from_file(str(path)), ""
    try:
        spec.compile()
    except ValueError as error:
        if "file" not in str(error).lower() and "mesh" not in str(error).lower():
            raise
        spec = mujoco.MjSpec.from_file(str(path))
        folder = path.parent / spec.meshdir
        lost = {mesh.name for mesh in spec.meshes if mesh.file and not (folder / mesh.file).exists()}
        some = 0 < len(lost) < len(list(spec.meshes))
        balls = robots.strip(spec, lost if some else None)
        robots.separate(spec, spec.compile(), balls)
        weigh = [geom.parent.name for geom in balls if not geom.parent.explicitinertial]
        meshes = (
            f"{len(lost)} of its meshes {'is' if len(lost) == 1 else 'are'} missing" if some else "meshes became balls"
        )
        meshes += f"; inertia of balls: {', '.join(dict.fromkeys(weigh))}" if weigh else "; inertia of the file"
    for k, joint in enumerate(spec.joints):
        joint.name = joint.name or f"joint_{k}"
    return spec, meshes


# ------------------------------------------- one simulation -------------------------------------------------


class Law:
    """Largest error of the law of joints without gaps, with Euler: friction is the difference of passive forces to the plain model."""

    def __init__(self, model, plain, joints, gear):
        self.model, self.plain, self.gear = model, plain, gear
        self.dofs = np.array([model.jnt_dofadr[model.joint(name).id] for name in joints])
        roles = np.array([actuator_roles(model, model.joint(name).id) for name in joints])
        self.motors = (roles == 1).reshape(len(joints), model.nactuator)
        self.rotor = np.array([plain.dof_armature[dof] + sum(plain.actuator_armature[k] for k in range(plain.nactuator)
                               if plain.actuator_trntype[k] <= 1 and plain.actuator_trnid[k, 0] == plain.dof_jntid[dof]) for dof in self.dofs])  # fmt: skip
        self.unsolved = 0
        self.usable = not (
            plain.actuator_damping.any() or (plain.tendon_actuatorid != -1).any() or plain.jnt_actgravcomp.any()
        )
        self.twin, self.worst, self.feeds = mujoco.MjData(plain), 0.0, 0

    def torque(self, d):
        """Torque of its motors on each joint."""
        m, total = self.model, np.zeros((len(self.dofs), self.model.nv))
        for k in range(m.nactuator):
            row = np.zeros(m.nv)
            for out in range(m.actuator_outadr[k], m.actuator_outadr[k] + m.actuator_outnum[k]):
                at = slice(d.moment_rowadr[out], d.moment_rowadr[out] + d.moment_rownnz[out])
                row[d.moment_colind[at]] += d.actuator_moment[at] * d.actuator_force[out]
            total[self.motors[:, k]] += row
        motor = total[np.arange(len(self.dofs)), self.dofs]
        joints = m.dof_jntid[self.dofs]
        low, high = m.jnt_actfrcrange[joints].T
        return np.where(m.jnt_actfrclimited[joints] != 0, np.clip(motor, low, high), motor)

    def check(self, d, before, counts):
        solved, self.unsolved = counts.unsolved == self.unsolved, counts.unsolved
        if not solved:
            return
        twin, m = self.twin, self.model
        twin.qpos[:], twin.qvel[:], twin.time = before[0], before[1], d.time
        twin.ctrl[:], twin.act[:] = d.ctrl, before[2]
        mujoco.mj_forward(self.plain, twin)
        t = (twin.qfrc_passive - d.qfrc_passive)[self.dofs]
        v = d.qvel[self.dofs]
        a = (v - before[1][self.dofs]) / m.opt.timestep
        u = self.torque(d) - self.rotor * a
        gamma_u, gamma_v = self.gear["gamma_u"], self.gear["gamma_v"]
        bound = np.abs((gamma_u + gamma_v) * u - gamma_v * t)
        size = (
            np.abs(u)
            + np.abs(t)
            + np.abs(twin.qfrc_bias[self.dofs])
            + np.abs(twin.qfrc_passive[self.dofs])
            + np.abs(d.qfrc_constraint[self.dofs])
            + 1e-9
        )
        moves = np.abs(v) > 1e-9 * (1 + np.abs(d.qvel).max())
        error = np.where(moves, np.abs(t - np.sign(v) * bound), np.maximum(np.abs(t) - bound, 0)) / size
        self.worst = max(self.worst, float(error.max()))
        self.feeds += int((t * v < -1e-9 * size * (np.abs(v) + 1e-9)).sum())


def play(m, steps, law=None):
    """Warnings of the engine, processor time, and the last state."""
    d, random, spent = mujoco.MjData(m), np.random.default_rng(1), 0.0
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    gears = mjgear.Gears(m, d) if law is not None else None
    low, high = np.where(m.actuator_ctrllimited[:, None], m.actuator_ctrlrange, [-1, 1]).T
    for k in range(steps):
        if k % HOLD == 0:
            d.ctrl[:] = random.uniform(low, high)
        before = d.qpos.copy(), d.qvel.copy(), d.act.copy()
        begin = time.process_time()
        mujoco.mj_step(m, d)
        spent += time.process_time() - begin
        if sum(d.warning[int(w)].number for w in BAD):
            return k + 1, spent, d
        if law is not None:
            law.check(d, before, gears.counts)
    return 0, spent, d


def geared(spec, names, kind):
    """A copy of the model with gears."""
    copy, shaft = spec.copy(), {}
    if (
        kind == "play"
    ):  # a rotor of half of the joint's inertia, on a shaft that swings with it at a tenth of the step's rate
        model = spec.compile()
        inertia, h = np.array([model.dof_M0[model.joint(name).dofadr[0]] for name in names]), model.opt.timestep
        shaft = {"rotor_inertia": 0.5 * inertia, "stiffness": 0.01 * inertia / h**2, "damping": 0.05 * inertia / h}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mjgear.add(copy, names, armature="keep", **KINDS[kind], **{key: list(values) for key, values in shaft.items()})
    return copy


def remedied(spec, line):
    """Apply the remedy of the line: a copy of the model and the remedy; or None."""
    copy, found = spec.copy(), re.search(r'set <option integrator="(\w+)"', line)
    if found:
        copy.option.integrator = INTEGRATORS[found[1]]
        return copy, f"integrator {found[1]}"
    if "noslip_iterations" in line:
        copy.option.noslip_iterations = 0
        return copy, "noslip_iterations 0"
    if "flag sleep" in line:
        copy.option.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        return copy, "no sleep"
    if "flag warmstart" in line:
        copy.option.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_WARMSTART)
        return copy, "flag warmstart"
    if "enable the flag" in line:
        copy.option.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_SPRING)
        return copy, "flag spring"
    return None


def simulate(spec, names, kind, steps, row):
    """One model with gears against itself without."""
    plain = spec.compile()
    try:
        copy = geared(spec, names, kind)
        m = copy.compile()
    except (ValueError, mjgear.Error) as error:
        row["refused"] = line_of(error)
        return
    told = [line.split(": ", 1)[1] for line in mjgear.check(copy).warnings if "teeth" in line]
    row["told"] = f" (check warns: {told[0]})" if told else ""
    bad, spent, alone = play(plain, steps)
    row["singular"] = int(alone.warning[int(mujoco.mjtWarning.mjWARN_INERTIA)].number)
    loss = spec.copy()
    for joint in loss.joints:
        if joint.name in names:
            joint.frictionloss = max(float(np.ravel(joint.frictionloss)[0]), 0.01)
    _, spent_loss, _ = play(loss.compile(), steps)
    euler = m.opt.integrator == 0 and kind != "play"
    law = Law(m, plain, names, KINDS[kind]) if euler else None
    law = law if law and law.usable and m.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP) == 0 else None
    row["bad"], spent_gears, d = play(m, steps, law)
    counts = mjgear.Gears(m, d).counts
    row |= {"plain_bad": bad, "unsolved": int(counts.unsolved), "steps": int(counts.steps)}
    row |= {"cost": spent_gears / max(spent, 1e-9), "cost_loss": spent_gears / max(spent_loss, 1e-9)}
    row |= {"law": law.worst, "feeds": law.feeds} if law else {}


def one(path, steps):
    """Results of one file, a JSON object a line, as they come."""
    mujoco.set_mju_user_warning(lambda text: None)

    def tell(**row):
        print(json.dumps(row), flush=True)

    try:
        spec, meshes = read(path)
        model = spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        return tell(plain=line_of(error))
    names = [model.joint(j).name for j in robots.gearable(model)]
    tell(joints=len(names), actuators=int(model.nactuator), meshes=meshes)
    if not names:
        return None
    row = {"kind": "as it is", "integrator": mujoco.mjtIntegrator(model.opt.integrator).name[6:]}
    simulate(spec, names, "free", min(steps, 50), row)
    if "refused" in row and (done := remedied(spec, row["refused"])):
        after = {}
        simulate(done[0], names, "free", min(steps, 50), after)
        row["remedy"] = f"{done[1]}: " + (after.get("refused") or "loads")
        spec = done[0] if "refused" not in after else spec
    tell(**row)
    for (integrator, number), kind in ((a, b) for a in INTEGRATORS.items() for b in KINDS):
        copy = spec.copy()
        copy.option.integrator = number
        row = {"kind": kind, "integrator": integrator}
        try:
            copy.compile()
        except (ValueError, mujoco.FatalError) as error:
            tell(**row, plain=line_of(error))
            continue
        simulate(copy, names, kind, steps, row)
        tell(**row)
    return None


# ------------------------------------------- the folder -------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=120, help="of one file at most")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return one(args.folder, args.steps)
    files = sorted(
        path for path in args.folder.rglob("*.xml") if "<actuator" in path.read_text(encoding="utf-8", errors="replace")
    )
    lines, reasons, sums = [], collections.Counter(), collections.Counter()
    for path in files:
        name = str(path.relative_to(args.folder))
        try:
            done = subprocess.run(
                [sys.executable, __file__, str(path), "--one", "--steps", str(args.steps)],
                capture_output=True,
                text=True,
                timeout=args.seconds,
            )
            out, end = (
                done.stdout,
                "" if done.returncode == 0 else f"ends with {done.returncode}: {done.stderr.strip()[-200:]}",
            )
        except subprocess.TimeoutExpired as late:
            out, end = (late.stdout or b"").decode(), "stopped: out of time"
        rows = [json.loads(line) for line in out.splitlines()]
        head, runs = (rows[0] if rows else {}), [row for row in rows[1:] if "plain" not in row]
        played = [row for row in runs if "refused" not in row]
        refused = collections.Counter(row["refused"] for row in runs if "refused" in row)
        worse = [
            f"{row['kind']} {row['integrator']} step {row['bad']}{row['told']}"
            for row in played
            if row["bad"] and not row["plain_bad"]
        ]
        text = head.get("plain") or ("no actuated hinge or slide" if not head.get("joints") else "")
        notes = [text, head.get("meshes", ""), end, *(f"refused ({count}): {reason}" for reason, count in refused.items()),
                 *(f"remedy {row['remedy']}" for row in runs if "remedy" in row), *(["the plain model's inertia is singular"] if any(row["singular"] for row in played) else []), *(f"unsolved: {row['kind']} {row['integrator']} {row['unsolved']}{row['told']}" for row in played if row["unsolved"]), *(f"diverges where plain does not: {one}" for one in worse)]  # fmt: skip
        unsolved, done_steps = (sum(row[key] for row in played) for key in ("unsolved", "steps"))
        law = max([row["law"] for row in played if "law" in row], default=float("nan"))
        cost = np.median([row["cost"] for row in played if row["kind"] != "as it is"] or [np.nan])
        cost_loss = np.median([row["cost_loss"] for row in played if row["kind"] != "as it is"] or [np.nan])
        feeds = sum(row.get("feeds", 0) for row in played)
        lines.append(
            f"| {name} | {head.get('joints', '')} | {len(played)} | {unsolved} of {done_steps} | {law:.1e} | {feeds} | {cost:.2f} | {cost_loss:.2f} | {'; '.join(x for x in notes if x)} |"
        )
        print(lines[-1], flush=True)
        reasons.update(refused)
        sums.update(
            files=1,
            plain_refused="plain" in head,
            no_joint=text.startswith("no actuated"),
            played=bool(played),
            worse=bool(worse),
            unsolved=unsolved,
            steps=done_steps,
            ended=bool(end),
            feeds=feeds,
        )
    head = "| file | gears | runs | unsolved | error of the law | power | cost over plain | over frictionloss | notes |\n|:--|--:|--:|--:|--:|--:|--:|--:|:--|"
    total = ", ".join(f"{key} {value}" for key, value in sums.items())
    why = "\n".join(f"- {count}: {reason}" for reason, count in reasons.most_common())
    print(f"\n{total}\n{why}")
    if args.table:
        made = f"Written by `tests/benchmarks/other_models.py {args.folder.name} --steps {args.steps} --seconds {args.seconds:g}`, MuJoCo {mujoco.__version__}."
        args.table.write_text(
            f"# {args.folder.name}\n\n{made}\n\n{head}\n" + "\n".join(lines) + f"\n\n{total}\n\n{why}\n",
            encoding="utf-8",
        )
    return None


if __name__ == "__main__":
    sys.exit(main())
