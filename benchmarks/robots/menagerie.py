"""Gears on every robot of the MuJoCo Menagerie, or of any folder of models: the table of doc/records/menagerie.md.

    benchmarks/robots/menagerie.py --package [ROBOT..]        # mujoco-menagerie, which downloads each robot when it is first used
    benchmarks/robots/menagerie.py --folder DIR [ROBOT..]     # a folder for each robot in DIR, or MJCF files
    ... [--steps 1000] [--json FILE] [--table TABLE.md] [--cases FOLDER]

All actuated hinges and slides get a gear that can be driven back (free), one that cannot (locking), and one with play, with each integrator. Episodes
begin at the first keyframe, if any. Every twenty steps controls are drawn from their ranges. Each step is checked with the velocities
that the engine computed (law.py), independently of the plugin's sensors. The cost is the median over steps from the same states with gears,
without, and with frictionloss, interleaved. Where a model is refused, the remedy of the message is tried. With --json a later call
continues where an earlier one ended, and the table is of all robots in FILE.

    unsolved  steps whose status is neither "solved" nor "solved, but another solution may exist"
    silent    steps off the law whose status says solved
    diverged  episodes that ended because the engine warned of a bad position, velocity or acceleration; plain: the same without gears
"""

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

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "tests/benchmarks"), str(HERE.parent.parent / "python")]
import law
import other_models
import record
import robots

import mjgear
from mjgear import _files

INTEGRATORS = other_models.INTEGRATORS
KINDS = {"free": "A", "locking": "B", "play": "C"}  # letters of robots.gear()
SOLVED = (0, 1)
STATUS = 11
TIMED = 300  # timed steps of each row
SECONDS = 1200  # most for one robot
TOLD = []  # warnings since the last run began


# ------------------------------------------- one robot ------------------------------------------------------


def lighten(spec, model):
    """Bodies keep the inertia that the compiler gave them, and purely visual meshes are removed: the same motion, compiled quickly. Returns
    the names of bodies that had their inertia from meshes."""
    of_meshes = []
    for body in spec.bodies[1:]:
        if not body.explicitinertial and any(geom.type == mujoco.mjtGeom.mjGEOM_MESH for geom in body.geoms):
            of_meshes.append(body.name or f"body {body.id}")
        k = body.id
        body.explicitinertial, body.mass = 1, model.body_mass[k]
        body.ipos, body.iquat, body.inertia = model.body_ipos[k], model.body_iquat[k], model.body_inertia[k]
        body.ialt.type, body.fullinertia = mujoco.mjtOrientation.mjORIENTATION_QUAT, np.full(6, np.nan)
    compiler = spec.compiler
    (
        compiler.inertiafromgeom,
        compiler.settotalmass,
        compiler.balanceinertia,
        compiler.boundmass,
        compiler.boundinertia,
    ) = 0, -1, 0, 0, 0
    for geom in list(spec.geoms):
        if geom.type == mujoco.mjtGeom.mjGEOM_MESH and geom.contype == 0 and geom.conaffinity == 0:
            spec.delete(geom)
    used = {geom.meshname for geom in spec.geoms if geom.meshname}
    for mesh in [mesh for mesh in spec.meshes if mesh.name not in used]:
        spec.delete(mesh)
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for group in (spec.skins, spec.textures):
        for element in list(group):
            spec.delete(element)
    return of_meshes


def some(names):
    """The first three names and the count of the others."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def read(path):
    """MjSpec of a robot that compiles quickly, and a note on its meshes."""
    spec, meshes = other_models.read(path)
    model = spec.compile()
    before = model.body_mass.copy(), model.dof_M0.copy()
    of_meshes = lighten(spec, model)
    light = spec.compile()
    for old, new in zip(before, (light.body_mass, light.dof_M0), strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-9, atol=1e-12)
    if not meshes and of_meshes:
        meshes = (
            f"inertia of {len(of_meshes)} {'body' if len(of_meshes) == 1 else 'bodies'} from meshes: {some(of_meshes)}"
        )
    return spec, meshes


def geared(spec, model, numbers):
    """A copy of the robot with the gears that robots.gear() describes and a sensor for each."""
    copy, names = spec.copy(), robots.names_of(model, numbers["joints"])
    keys = {"gamma_u": numbers["gamma_u"], "gamma_v": numbers["gamma_v"]}
    if numbers["coulomb"].any():
        keys["coulomb"] = list(numbers["coulomb"])
    if numbers["gap"]:
        keys |= {"backlash": "exact", "half_gap": numbers["half_gap"], "rotor_inertia": list(numbers["rotor"])}
        keys |= {"stiffness": list(numbers["stiffness"]), "damping": list(numbers["damping"])}
    for name in names:
        joint = copy.joint(name)
        joint.frictionloss = np.zeros_like(joint.frictionloss).tolist()
        joint.armature = 0 if numbers["gap"] else joint.armature
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mjgear.add(copy, names, name="bench", sensors=True, armature="keep", **keys)
    return copy.compile()


def with_loss(spec, model):
    """The robot with additional joint friction of MuJoCo that decelerates each joint by 1 rad/s2."""
    copy, joints = spec.copy(), robots.gearable(model)
    for name, j in zip(robots.names_of(model, joints), joints, strict=True):
        dof = model.jnt_dofadr[j]
        loss = np.zeros_like(copy.joint(name).frictionloss)
        copy.joint(name).frictionloss = (loss + max(model.dof_M0[dof] + model.dof_frictionloss[dof], 1e-9)).tolist()
    return copy.compile()


def stiffness(model, numbers):
    """Largest h kv and h^2 kp of the servos of a joint over its rotor's inertia: no step that takes them at its start is stable beyond 2 and 4."""
    data, gains = start(model), np.zeros((2, model.nv))
    mujoco.mj_forward(model, data)
    for i in range(model.nactuator):
        at = slice(data.moment_rowadr[i], data.moment_rowadr[i] + data.moment_rownnz[i])
        gains[:, data.moment_colind[at]] -= np.outer(model.actuator_biasprm[i, [2, 1]], data.actuator_moment[at] ** 2)
    h, dofs = model.opt.timestep, model.jnt_dofadr[numbers["joints"]]
    return (gains[:, dofs] * [[h], [h * h]] / numbers["rotor"]).max(1).tolist()


def start(model):
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    return data


def costs(m, others, steps):
    """Median time of a step with gears over each other model from the same state, interleaved."""
    data, twins = start(m), [mujoco.MjData(other) for other in others]
    plan = record.controls(m, "random", steps, np.random.default_rng(1))
    times = np.zeros((steps, len(others) + 1))
    for k in range(steps):
        data.ctrl[:] = plan[k // record.HOLD]
        for twin in twins:
            for name in ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat"):
                getattr(twin, name)[:] = getattr(data, name)
            twin.time = data.time
        order = [(m, data), *zip(others, twins, strict=True)]
        for i in np.roll(np.arange(len(order)), k):
            begin = time.thread_time_ns()
            mujoco.mj_step(*order[i])
            times[k, i] = time.thread_time_ns() - begin
        if any(data.warning[int(w)].number for w in other_models.BAD):
            times = times[:k]
            break
    middle = np.median(times, axis=0) if len(times) else np.full(len(others) + 1, np.nan)
    return (middle[0] / middle[1:]).tolist()


def divergences(model, steps):
    return sum(episode.diverged for episode in record.episodes(model, "random", steps, 1, ("qvel",), again=False))


def save(folder, label, model, state):
    """A step to be repeated with bench.py --case."""
    folder.mkdir(parents=True, exist_ok=True)
    mujoco.mj_saveModel(model, str(folder / f"{label}.mjb"))
    np.savez(folder / f"{label}.npz", state=state, time=0)


def play(spec, plain, kind, steps, cases):
    """Counts of a run with gears, or why it is refused."""
    numbers = robots.gear(KINDS[kind], plain)
    TOLD.clear()
    try:
        m = geared(spec, plain, numbers)
    except (ValueError, mjgear.Error) as error:
        return {"refused": other_models.line_of(error)}
    sensors = np.array(
        [m.sensor_adr[i] for i in range(m.nsensor) if m.sensor_type[i] == mujoco.mjtSensor.mjSENS_PLUGIN], dtype=int
    )
    row = {"steps": 0, "unsolved": 0, "silent": 0, "diverged": 0, "unchecked": ""}
    row["damped"], row["stiff"] = stiffness(plain, numbers) if numbers["gap"] else (0.0, 0.0)
    springs = m.jnt_stiffness.reshape(m.njnt, -1)[numbers["joints"], 0] / m.dof_M0[m.jnt_dofadr[numbers["joints"]]]
    row["spring"] = float(m.opt.timestep**2 * springs.max()) if numbers["gap"] else 0.0
    try:
        check = law.Law(m, numbers, sensors)
    except law.Unchecked as why:
        check, row["unchecked"] = None, str(why)
    for episode in record.episodes(m, "random", steps, 1, again=False):
        row["diverged"] += int(episode.diverged)
        if not episode.n:
            continue
        status = episode.after["sensordata"][: episode.n][:, sensors + STATUS]
        solved = np.isin(status, SOLVED).all(1)
        found = check.check(episode) if check else {"wrong": ~solved, "beyond": ~solved, "pulls": ~solved}
        silent = solved & (found["wrong"] | found["beyond"] | found["pulls"])
        row["steps"] += episode.n
        row["unsolved"] += int((~solved).sum())
        row["silent"] += int(silent.sum())
        for name, hit in (("unsolved", ~solved), ("silent", silent)):
            if cases and hit.any():
                save(cases[0], f"{cases[1]}-{kind}-{name}", m, episode.state[int(np.flatnonzero(hit)[0])])
    row["gains"] = max(
        [float(found[1]) for line in TOLD if (found := re.search(r"gains .* are ([\d.e+]+) times its inertia", line))],
        default=0.0,
    )
    row["cost"], row["cost_loss"] = costs(m, [plain, with_loss(spec, plain)], min(steps, TIMED))
    return row


def measure(path, steps, cases=None):
    """Rows of one robot: its description, and then one for each integrator and kind of gear."""
    mujoco.set_mju_user_warning(TOLD.append)
    try:
        spec, meshes = read(path)
    except (ValueError, mujoco.FatalError) as error:
        yield {"plain": other_models.line_of(error)}
        return
    model = spec.compile()
    gears = robots.gearable(model)
    yield {"dofs": int(model.nv), "joints": len(gears), "actuators": int(model.nactuator), "meshes": meshes}
    if not gears:
        return
    for integrator, number in INTEGRATORS.items():
        spec.option.integrator = number
        row = {"integrator": integrator}
        try:
            plain = spec.compile()
        except (ValueError, mujoco.FatalError) as error:
            yield {**row, "plain": other_models.line_of(error)}
            continue
        bad = divergences(plain, steps)
        for kind in KINDS:
            found = play(spec, plain, kind, steps, (cases, f"{path.parent.name}-{integrator}") if cases else None)
            if "refused" in found and (done := other_models.remedied(spec, found["refused"])):
                after = play(done[0], done[0].compile(), kind, steps, None)
                found = {
                    **after,
                    "refused": found["refused"],
                    "remedy": done[1] + (f": {after['refused']}" if "refused" in after else ": loads"),
                }
            yield {**row, "kind": kind, "plain_diverged": bad, **found}


# ------------------------------------------- all of them ----------------------------------------------------


def of_package(names):
    """Robots of the package: {name: file, or why it cannot be had}."""
    sys.path.insert(0, str(robots.fetch("mujoco_menagerie")))
    import mujoco_menagerie

    files = {}
    for name in names or mujoco_menagerie.names():
        try:
            files[name] = mujoco_menagerie.get(name).xml()
        except mujoco_menagerie.MenagerieError as error:
            files[name] = str(error)
    return files


def of_folder(folder, names):
    """Robots of a folder: in each folder the scene, or the first file with actuators; else each file."""
    files = {
        path.stem: path for path in sorted(folder.glob("*.xml")) if "<actuator" in path.read_text(errors="replace")
    }
    for inside in sorted(path for path in folder.iterdir() if path.is_dir()):
        # a scene before a robot alone, one with actuators before one without
        order = sorted(inside.glob("*.xml"), key=lambda path: ("mjx" in path.name, not path.name.startswith("scene"),
                       "<actuator" not in path.read_text(errors="replace"), path.name))  # fmt: skip
        if order:
            files[inside.name] = order[0]
    return {name: path for name, path in files.items() if not names or name in names}


def notes_of(rows, head):
    """Limits of a robot's numbers."""
    runs = [row for row in rows if "kind" in row]
    told = collections.Counter()
    for row in runs:
        where, why = f"{row['kind']} {row['integrator']}", ""
        gains = (
            max(one.get("gains", 0) for one in runs if one["kind"] == row["kind"])
            if row["integrator"].startswith("implicit")
            else 0
        )  # told once
        if gains:
            why = f" (a warning told: gains of a motor that the integrator applies at the end of the step are {gains:.2g} times its joint's inertia; set discrete)"
        elif row["integrator"] == "Euler" and row.get("damped", 0) > 2:
            why = f" (h kv of a servo is {row['damped']:.2g} times its rotor's inertia, and Euler takes kv at the start of the step; set discrete)"
        elif row["integrator"] != "discrete" and row.get("stiff", 0) > 4:
            why = f" (h^2 kp of a servo is {row['stiff']:.2g} times its rotor's inertia, and {row['integrator']} takes kp at the start of the step; set discrete)"
        elif row["integrator"] != "discrete" and row.get("spring", 0) > 4:
            why = f" (h^2 k of a joint's spring is {row['spring']:.2g} times the inertia of its link, whose armature is behind the gap; set discrete)"
        if row.get("unsolved"):
            told[f"unsolved: {where} {row['unsolved']}{why}"] += 1
        if row.get("silent"):
            told[f"silent: {where} {row['silent']}"] += 1
        if row.get("diverged", 0) > row["plain_diverged"]:
            told[f"diverges where plain does not: {where}{why}"] += 1
        if "refused" in row:
            told[f"refused: {row['refused']}; remedy {row.get('remedy', 'not known here')}"] += 1
        if row.get("unchecked"):
            told[f"law not checked: {row['unchecked']}"] += 1
    for row in rows:
        if "plain" in row:
            told[
                f"the engine refuses the plain model{' with ' + row['integrator'] if 'integrator' in row else ''}: {row['plain']}"
            ] += 1
    return [text for text in (head.get("meshes"), head.get("end"), *told) if text]


def line_of(name, rows):
    head = rows[0] if rows else {}
    runs = [row for row in rows if "steps" in row]
    if not head.get("joints"):
        why = head.get("plain") or head.get("end") or "no actuated hinge or slide"
        return f"| {name} | {head.get('dofs', '')} | 0 | | | | | | | {why} |"
    sums = {key: sum(row[key] for row in runs) for key in ("steps", "unsolved", "silent", "diverged")}
    bad = sum(row["plain_diverged"] for row in runs)
    cost = [
        ", ".join(
            f"{np.nanmedian([row[key] for row in runs if row['kind'] == kind] or [np.nan]):.2f}" for kind in KINDS
        )
        for key in ("cost", "cost_loss")
    ]
    return (f"| {name} | {head['dofs']} | {head['joints']} | {sums['steps']} | {sums['unsolved']} | {sums['silent']} | {sums['diverged']} ({bad}) | {cost[0]} | {cost[1]} | "
            f"{'; '.join(notes_of(rows, head))} |")  # fmt: skip


def write(path, found, made):
    """The table of all robots that were measured."""
    lines = [line_of(name, rows) for name, rows in sorted(found.items())]
    runs = [row for rows in found.values() for row in rows if "steps" in row]
    sums = [
        (
            "integrator",
            "gears",
            "robots",
            "steps",
            "unsolved",
            "silent",
            "diverged",
            "plain",
            "over plain",
            "over frictionloss",
        )
    ]
    for integrator in INTEGRATORS:
        for kind in KINDS:
            mine = [row for row in runs if row["integrator"] == integrator and row["kind"] == kind]
            total = [
                sum(row[key] for row in mine) for key in ("steps", "unsolved", "silent", "diverged", "plain_diverged")
            ]
            cost = [f"{np.nanmedian([row[key] for row in mine] or [np.nan]):.2f}" for key in ("cost", "cost_loss")]
            sums.append((integrator, kind, len(mine), *total, *cost))
    table = ["| " + " | ".join(map(str, row)) + " |" for row in sums]
    table.insert(1, "|:--|:--|" + "--:|" * 8)
    head = "| robot | dofs | gears | steps | unsolved | silent | diverged (plain) | over plain | over frictionloss | notes |\n|:--|--:|--:|--:|--:|--:|--:|--:|--:|:--|"
    played = sum(any("steps" in row for row in rows) for rows in found.values())
    loaded = sum("plain" not in (rows or [{"plain": 1}])[0] for rows in found.values())
    text = [
        f"{len(found)} robots, {loaded} loaded, {played} with gears.",
        "",
        *table,
        "",
        "Costs are for free, locking, play: medians over the integrators.",
        "",
        head,
        *lines,
    ]
    old = (
        path.read_text(encoding="utf-8").split("<!-- the rest is written -->")[0]
        if path.exists()
        else "# Record: robots of the Menagerie\n\n"
    )
    _files.write(path, f"{old}<!-- the rest is written -->\n\n{made}\n\n" + "\n".join(text) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--package", action="store_true")
    where.add_argument("--folder", type=pathlib.Path)
    where.add_argument("--one", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--cases", type=pathlib.Path, help="folder for a step of each kind that was unsolved or silent")
    parser.add_argument(
        "--fail",
        action="store_true",
        help="exit with 1 where a step was unsolved or silent or a robot with gears ended",
    )
    args = parser.parse_args()
    if args.one:
        for row in measure(args.one, args.steps, args.cases):
            print(json.dumps(row), flush=True)
        return 0
    files = of_package(args.robots) if args.package else of_folder(args.folder, args.robots)
    found = json.loads(args.json.read_text()) if args.json and args.json.exists() else {}
    for name, path in files.items():
        if name in found:
            continue
        if isinstance(path, str):
            found[name] = [{"plain": path}]
        else:
            command = [
                sys.executable,
                __file__,
                "--one",
                path,
                "--steps",
                str(args.steps),
                *(["--cases", args.cases] if args.cases else []),
            ]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
                out, end = (
                    done.stdout,
                    "" if done.returncode == 0 else f"ends with {done.returncode}: {done.stderr.strip()[-200:]}",
                )
            except subprocess.TimeoutExpired as late:
                out, end = (late.stdout or b"").decode(), f"stopped after {SECONDS} s"
            found[name] = [json.loads(line) for line in out.splitlines()] or [{}]
            found[name][0] |= {"end": end} if end else {}
        print(line_of(name, found[name]), flush=True)
        if args.json:
            _files.write(args.json, json.dumps(found))
    if args.table:
        source = "--package" if args.package else f"--folder {args.folder.name}"
        write(
            args.table,
            found,
            f"Written by `benchmarks/robots/menagerie.py {source} --steps {args.steps}`, MuJoCo {mujoco.__version__}.",
        )
    failed = any(row.get("unsolved") or row.get("silent") or row.get("end") for rows in found.values() for row in rows)
    return 1 if args.fail and failed else 0


if __name__ == "__main__":
    sys.exit(main())
