"""Models of actuators on held-out logs of four public sets: error against cost.

    git clone https://github.com/Rhoban/bam DATA/bam
    git clone https://github.com/rimim/bam DATA/rimim-bam
    git clone https://github.com/mauicv/servo-sysid DATA/servo-sysid
    benchmarks/actuators/bench.py DATA > doc/records/actuators.md

Every model gets the same logs, motor, controller and fit (mjgear.identify). Each group of logs is predicted by a fit to the other groups.
--sets and --models name some of them, --check compares the laws of laws.c with the engine, and needs no data.
"""

import argparse
import ctypes
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time

import mujoco
import numpy as np
from scipy.stats import t as student

from mjgear import _files, _library, identify
from mjgear.identify import models
from mjgear.identify.models import MODELS, Model, Parameter

HERE = pathlib.Path(__file__).parent
INPUTS, HIDDEN = 3, 6  # of the net, as in laws.c

# ---------------------------------------- models ----------------------------------------------------------------------

_draw = 0.3 * np.random.default_rng(1).normal(size=HIDDEN * (INPUTS + 2) + 1)
_draw[-1] = -3.0  # little friction at first
WEIGHTS = [Parameter(f"w{i}", "1", "", -10, 10, 0.3, (x, x), "weight of the net") for i, x in enumerate(_draw)]
models.PARAMETERS.update({p.name: p for p in [
    Parameter("bristle", "N m/rad", "torque", 1.0, 3000, 20, (20, 200), "stiffness of friction before it slips"),
    Parameter("bristle_damping", "N m s/rad", "torque/speed", 0.0, 20, 0.08, (0.0, 0.2), "damping of the bristle"),
    *WEIGHTS,
]})  # fmt: skip

OTHERS = {m.name: m for m in (
    Model("springyield", "MuJoCo's spring that yields, damping", "yield", ("coulomb", "viscous", "bristle"), akin="native"),
    Model("lugre", "LuGre, as of MuJoCo's dcmotor, damping", "lugre",
          ("coulomb", "viscous", "stribeck_friction", "stribeck_velocity", "bristle", "bristle_damping"), akin="native"),
    Model("net", f"bound of friction by a net of {HIDDEN} tanh units on speed, motor torque and load; damping", "net", ("viscous", *(p.name for p in WEIGHTS))),
    Model("pace", "as PACE fits: static and dynamic friction, damping, delay", "gear", (*MODELS["falling"].parameters, "delay"), ("falling",)),
)}  # fmt: skip
MODELS.update(OTHERS)
LAWS = ("yield", "lugre", "net")
DEFAULT = ("native", "springyield", "lugre", "net", "M1", "M2", "M3", "M4", "M5", "M6",
           "curved", "gamma", "gamma_curved", "gamma_motor", "stribeck", "quadratic", "pace", "gamma_delay", "stribeck_delay")  # fmt: skip


def compiled():
    """laws.c as a library, compiled by the C compiler."""
    source = HERE.parent.parent
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "laws.so"
        shared = next(_library.folder().glob("libmjgear_core.so.*"))
        subprocess.run([os.environ.get("CC", "cc"), "-O3", "-shared", "-fPIC", "-I", source / "core", HERE / "laws.c", "-o", made, shared,
                        f"-Wl,-rpath,{shared.parent.resolve()}", "-lm"], check=True)  # fmt: skip
        return ctypes.CDLL(str(made)).simulateOther


class Bench(identify.Pendulum):
    """A pendulum with the further laws."""

    simulate_other = None

    def _positions(self, model, values, logs):
        if model.law not in LAWS:
            yield from super()._positions(model, values, logs)
            return
        given = {**self.known, **values}
        own = np.array([given.get("bristle", 1.0), given.get("bristle_damping", 0.0), self.scale["speed"], self.scale["torque"],
                        *(given.get(p.name, 0.0) for p in WEIGHTS)])  # fmt: skip
        for i in logs:
            rollout, p = self._rollouts[i], self.vector(model, values, self._bases[i])
            q = np.empty(rollout.n)
            Bench.simulate_other(q.ctypes.data_as(ctypes.c_void_p), rollout._here, p.ctypes.data_as(ctypes.c_void_p), LAWS.index(model.law),
                                 own.ctypes.data_as(ctypes.c_void_p))  # fmt: skip
            yield i, np.where(np.isfinite(q), np.clip(q, -1e3, 1e3), 1e3)


# ---------------------------------------- public sets -----------------------------------------------------------------


def unpacked(repository, commit, path):
    """Files of a commit under a path: name -> bytes."""
    packed = subprocess.run(["git", "-C", repository, "archive", commit, path], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        return {pathlib.Path(f.name).name: files.extractfile(f).read() for f in files if f.isfile()}


def read(files, **options):
    """Logs of files in memory."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (pathlib.Path(folder) / name).write_bytes(content)
        return identify.read_all(sorted(pathlib.Path(folder).glob("*.json")), **options)


def xl330(data):
    machine = identify.servo("xl330")
    return (
        read(unpacked(data / "bam", "af2260462471ff45ac18af159b1327ea51d8db15", "bam/data.bak/raw")),
        machine,
        "trajectory",
    )


def sts3250(data):
    return read(unpacked(data / "bam", "b53408c", "data_raw_feetech"), dt=0.01), identify.servo("sts3215"), "trajectory"


def go1(data):
    machine = identify.Servo("go1", drive="torque", error_gain=1.04, derivative=0.28, limit=23.7)
    files = unpacked(data / "rimim-bam", "38071b1", "example_data/data_raw_go1")
    return read(files, dt=0.008, columns={"velocity": "speed:6.33"}), machine, "load"


def miuzei(data):
    """Inertia and gravity from their MJCF, whose zero is horizontal. Assumed: full duty of 6 V at a sixth of a radian."""
    repository, commit = data / "servo-sysid", "e4a4840"
    files = unpacked(repository, commit, "src/sysid/dataset/real-action-state-dataset.json")
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "meshes").mkdir()
        for name, content in unpacked(repository, commit, "src/sysid/desc/meshes").items():
            (pathlib.Path(folder) / "meshes" / name).write_bytes(content)
        robot = pathlib.Path(folder) / "robot.xml"
        robot.write_bytes(unpacked(repository, commit, "src/sysid/desc/robot.xml")["robot.xml"])
        model = mujoco.MjModel.from_xml_path(str(robot))
    state = mujoco.MjData(model)
    angles = np.linspace(-1, 1, 9)
    load = []
    for angle in angles:
        state.qpos[:] = angle
        mujoco.mj_forward(model, state)
        load.append(state.qfrc_bias[0])
    a, b = np.linalg.lstsq(np.column_stack([np.sin(angles), np.cos(angles)]), load, rcond=None)[0]
    place = {"inertia": float(state.M[0] - model.dof_armature[0]), "gravity": math.hypot(a, b)}
    turned = math.atan2(b, a)
    found = []
    for k, one in enumerate(json.loads(next(iter(files.values())))["data"]):
        if one["type"] == "prbs":
            continue
        q, goal = (turned + np.array(one[name]) for name in ("sensor_data", "actions"))
        data_ = {"position": q, "goal": goal, "velocity": np.gradient(q, 0.02)}
        found.append(identify.Log(f"{k} {one['type']}", 0.02, data_, {**place, "trajectory": one["type"], "kp": 1.0}))
    return found, identify.Servo("miuzei", error_gain=6.0, limit=1.0, supply=6.0), "trajectory"


SETS = {
    "XL330": (xl330, "Rhoban/bam af22604, Apache-2.0", ()),
    "STS3250": (sts3250, "Rhoban/bam b53408c, Apache-2.0", ()),
    "Go1": (go1, "rimim/bam 38071b1, Apache-2.0", ("torque_scale",)),
    "Miuzei": (miuzei, "mauicv/servo-sysid e4a4840, BSD-3-Clause", ()),
}


# ---------------------------------------- table -----------------------------------------------------------------------


def measured(name, data, chosen, starts):
    """Of one public set: model -> held-out error and its ratio to that of native, parameters, s of a processor for a fit, ns of a step."""
    make, _, more = SETS[name]
    logs, machine, way = make(data)
    budget = identify.Budget(starts=starts)
    bench = Bench(logs, machine, "goal", fit=more, step=5e-3)
    held = identify.leave_out(
        bench,
        [MODELS[m] for m in chosen],
        [way],
        budget,
        told=lambda text: print(f"{name}: {text}", file=sys.stderr, flush=True),
    )
    groups = list(held.groups[way].values())
    steps, found = sum(log.n * bench.substeps(i) for i, log in enumerate(logs)), {}
    for m in chosen:
        fits, spent = [f[m] for f in held.fits[way].values()], []
        for _ in range(5):
            begin = time.process_time()
            bench.errors(MODELS[m], fits[0].values)
            spent.append(time.process_time() - begin)
        found[m] = {"error": held.mean(m, way), "ratio": ratio(held.errors[way][m], held.errors[way]["native"], groups),
                    "parameters": len(bench.space(MODELS[m]).names), "fit": float(np.mean([f.seconds for f in fits])), "step": 1e9 * min(spent) / steps}  # fmt: skip
    return {"logs": len(logs), "groups": len(groups), "by": way, "models": found}


def ratio(errors, native, groups):
    """Held-out errors (logs) over those of native: geometric mean over groups, and its interval."""
    means = np.array([np.mean(np.log(errors[logs] / native[logs])) for logs in groups])
    wide = student.ppf(0.975, len(means) - 1) * means.std(ddof=1) / math.sqrt(len(means))
    return np.exp(means.mean() + wide * np.array([0, -1, 1])).tolist()


def record(table, names, chosen):
    """The record as Markdown."""
    lines = ["# Record: models of actuators on public logs", "", "Written by", "",
             "    benchmarks/actuators/bench.py DATA > doc/records/actuators.md", "",
             "Each group of logs is predicted by fits to the other groups. A ratio is the held-out error over that of `native`, geometric mean over groups,",
             "with its 95 % interval (Student's t over groups). With four or five groups the intervals are wide: one that includes 1 decides nothing.",
             "M1 to M6 have the friction of the last step's torques, as published; the gears have that of this step.", "",
             "| set | source, licence | logs | left out by | error of `native`, rad |", "|:--|:--|--:|:--|--:|"]  # fmt: skip
    for name in names:
        one = table[name]
        lines.append(
            f"| {name} | {SETS[name][1]} | {one['logs']} | {one['by']}, {one['groups']} groups | {one['models']['native']['error']:.4f} |"
        )
    lines += [
        "",
        f"| model | {' | '.join(names)} | mean | parameters | fit, s | step, ns |",
        "|:--" + "|--:" * (len(names) + 4) + "|",
    ]
    for m in chosen:
        ones = [table[name]["models"][m] for name in names]
        ratios = [one["ratio"] for one in ones]
        mean = math.exp(np.mean([math.log(r[0]) for r in ratios]))
        texts = [f"{r[0]:.2f} ({r[1]:.2f}, {r[2]:.2f})" for r in ratios]
        least, most = (f(one["parameters"] for one in ones) for f in (min, max))
        count = f"{least}" if least == most else f"{least} to {most}"
        lines.append(f"| `{m}` | {' | '.join(texts)} | {mean:.2f} | {count} | {np.mean([one['fit'] for one in ones]):.1f} | "
                     f"{np.mean([one['step'] for one in ones]):.0f} |")  # fmt: skip
    lines += ["", "Fit: processor time of one fit. Step: of one step of the bench's simulation, in which the motor takes its share.", "",
              *(f"- `{m}`: {MODELS[m].title}" for m in chosen)]  # fmt: skip
    return "\n".join(lines)


def check():
    """The laws of laws.c and those of the engine make the same motion: a pendulum that a goal moves, to 1e-9 rad."""
    time_ = np.arange(0, 2, 0.002)
    goal = 1.2 * np.sin(3 * time_)
    facts = {"inertia": 0.01, "gravity": 0.6, "kp": 1.0}
    log = identify.Log("made up", 0.002, {"position": 0 * time_, "velocity": 0 * time_, "goal": goal}, facts)
    bench = Bench([log], identify.Servo("made up", drive="torque", error_gain=8.0, derivative=0.3), "goal", step=0.002)
    values = {"coulomb": 0.1, "viscous": 0.02, "bristle": 20.0, "bristle_damping": 0.0, "stribeck_friction": 0.05, "stribeck_velocity": 0.5,
              "armature": 0.002, "offset": 0.0}  # fmt: skip
    for name, text in (("springyield", f'stiffness="20" springyield="{math.degrees(0.1 / 20)}"'), ("lugre", "")):
        *_, (_, ours) = bench._positions(MODELS[name], values, [0])
        lugre = (
            '<dcmotor joint="j" motorconst="1e-9" resistance="1" lugre="20 0 0.1 0.15 0.5"/>' if name == "lugre" else ""
        )
        model = mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="0.002" integrator="Euler"/><worldbody><body>
          <joint name="j" axis="0 -1 0" armature="0.002" damping="0.02" {text}/>
          <inertial pos="0 0 0" mass="1e-9" diaginertia="0.01 0.01 0.01"/></body></worldbody>
          <actuator>{lugre}</actuator></mujoco>""")
        data, theirs = mujoco.MjData(model), []
        for k in range(len(time_)):
            theirs.append(data.qpos[0])
            late = goal[0] if k == 0 else (goal[k] + goal[k - 1]) / 2
            data.qfrc_applied[0] = 8.0 * (late - data.qpos[0]) - 0.3 * data.qvel[0] - 0.6 * math.sin(data.qpos[0])
            mujoco.mj_step(model, data)
        apart = np.abs(ours - theirs).max()
        print(f"{name}: moved {np.abs(theirs).max():.2f} rad, {apart:.1e} rad from the engine")
        assert np.abs(theirs).max() > 1 and apart < 1e-9, (name, apart)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", type=pathlib.Path, help="folder of the three clones")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models", default=",".join(DEFAULT))
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument(
        "--keep",
        type=pathlib.Path,
        metavar="FILE.json",
        help="keep results; models that are there are not fitted again",
    )
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    Bench.simulate_other = compiled()
    if options.check:
        if not hasattr(mujoco.MjModel, "jnt_springyield"):
            print("this MuJoCo has no springyield")
            sys.exit(77)
        check()
        return
    table = json.loads(options.keep.read_text()) if options.keep and options.keep.exists() else {}
    names, chosen = options.sets.split(","), options.models.split(",")
    for name in names:
        done = table.get(name, {}).get("models", {})
        missing = [m for m in chosen if m not in done]
        if missing:
            found = measured(name, options.data, list(dict.fromkeys(["native", *missing])), options.starts)
            table[name] = {**found, "models": {**found["models"], **done}}
            if options.keep:
                _files.write(options.keep, json.dumps(table, indent=1))
    print(record(table, names, chosen))


if __name__ == "__main__":
    main()
