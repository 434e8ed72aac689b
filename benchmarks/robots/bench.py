"""Gears on robots of other packages: check the law in every step, and measure the cost.

    benchmarks/robots/bench.py [--long] [--robots NAME..] [--gears A B C] [--integrators ..] [--steps N] [--library FILE]
    benchmarks/robots/bench.py --cost ...        # cost of a step, over no friction and MuJoCo's own, interleaved in one run: on the way of
                                                 # each (plain, loss), and at the states of the geared robot (.._same)
    benchmarks/robots/bench.py --case FILE       # repeat a step that was saved: unsolved, off the law, or slow

Gears A (mild), B (self-locking) and C (mild, with backlash) on all actuated joints; random, resting and unpowered controls. Each step is
recorded (record.py) and checked with the engine's own velocities (law.py), independently of the plugin's results:

    unsolved    the status of the step is neither "solved" nor "solved, but another solution may exist"
    wrong       friction drives: t v+ < 0
    beyond      friction off its bound; of C also a shaft that pulls
    silent      wrong or beyond in a step that counts as solved
    fed         energy that friction gave in steps with the wrong sign, J
    rise        most that the energy of the unpowered robot rose above its least so far, J; plain: the same without gears
    worst       the slowest step, by processor time of the thread, over the median of its run
    over        steps that took more than 20 times the median
    diverged    episodes that ended because the engine warned of a bad position, velocity or acceleration; plain: the same
                without gears. Later steps are not counted
"""

import argparse
import concurrent.futures
import itertools
import json
import pathlib
import sys

import mujoco
import numpy as np

import cost
import law
import record
import robots

INTEGRATORS = {"Euler": 0, "implicit": 2, "implicitfast": 3, "discrete": 4}
CONES = {"pyramidal": 0, "elliptic": 1}
SOLVERS = {"PGS": 0, "CG": 1, "Newton": 2}
STATUS = 11
SOLVED = (0, 1)
SHARES = {"random": 0.6, "rest": 0.2, "unpowered": 0.2}  # of the steps
SLOW = 20  # times the median
PRICES = ("plain", "loss", "plain_same", "loss_same")  # cost over no friction and over frictionloss
COUNTS = ("steps", "unsolved", "wrong", "beyond", "silent", "over", "diverged")
TOTALS = (*COUNTS, "plain_diverged")
SAVED = 2  # cases of each kind that a row saves


def rise(energy):
    """Most that energy rose above its least so far."""
    return float((energy - np.minimum.accumulate(energy)).max())


def energy_of(episode, gear, model, sensors):
    """Energy of robot, rotors and shafts before each step (n), J."""
    total = episode.after["energy"].sum(1)
    if gear["gap"]:
        angle, rate, gap = (episode.after["sensordata"][:, sensors + k] for k in (7, 8, 6))
        twist = (angle[1:-1] - episode.before["qpos"][1:, model.jnt_qposadr[gear["joints"]]]) - gap[:-2]
        total = total[1:] + (gear["rotor"] * rate[1:-1] ** 2 / 2 + gear["stiffness"] * twist**2 / 2).sum(1)
    return total


def load(text, options, kind):
    model = mujoco.MjModel.from_xml_string(text)
    for key, value in options.items():
        setattr(model.opt, key, value)
    if kind == "unpowered":
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
        model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    return model


def addresses(model):
    """Places of each gear's numbers in sensordata."""
    return np.array(
        [
            model.sensor_adr[i]
            for i in range(model.nsensor)
            if mujoco.mjtSensor(model.sensor_type[i]) == mujoco.mjtSensor.mjSENS_PLUGIN
        ],
        dtype=int,
    )


def play(text, gear, kind, steps, seed, options, save):
    """One run; returns counts. save(name, episode, k): keep a step."""
    model = load(text, options, kind)
    sensors = addresses(model)
    check = law.Law(model, gear, sensors)
    result = dict.fromkeys(COUNTS, 0) | dict(fed=0.0, rise=0.0)
    times, slow = [], []
    for episode in record.episodes(model, kind, steps, seed):
        result["diverged"] += episode.diverged
        if not episode.n:
            continue
        found = check.check(episode)
        numbers = episode.after["sensordata"][: episode.n]
        status = numbers[:, sensors + STATUS]
        solved = np.isin(status, SOLVED).all(1)
        beyond = found["beyond"] | found["pulls"]
        silent = solved & (found["wrong"] | beyond)
        result["steps"] += episode.n
        for key, value in (("unsolved", ~solved), ("wrong", found["wrong"]), ("beyond", beyond), ("silent", silent)):
            result[key] += int(value.sum())
        result["fed"] += float(found["fed"].sum())
        if kind == "unpowered":
            result["rise"] = max(result["rise"], rise(energy_of(episode, gear, model, sensors)))
        for name, hit in (("unsolved", ~solved), ("silent", silent)):
            for k in np.flatnonzero(hit)[:SAVED]:
                save(name, model, episode.time[k], episode.state[k])
        k = int(episode.time.argmax())
        slow = sorted(slow + [(episode.time[k], episode.state[k].copy())], key=lambda x: -x[0])[:SAVED]
        times.append(episode.time.copy())
    if not times:
        raise law.Unchecked("diverges in the first step")
    times = np.concatenate(times)
    result["median"] = max(float(np.median(times)), 0.1)
    result["worst"] = float(times.max() / result["median"])
    result["over"] = int((times > SLOW * result["median"]).sum())
    for duration, state in slow:
        if duration > SLOW * result["median"]:
            save("slow", model, duration, state)
    return result


def play_plain(text, kind, steps, seed, options):
    """Rise of the energy of the robot without gears if it is unpowered, and episodes that diverged."""
    model, most, diverged = load(text, options, kind), 0.0, 0
    for episode in record.episodes(model, kind, steps, seed, ("energy",), again=False):
        diverged += episode.diverged
        if kind == "unpowered" and episode.n:
            most = max(most, rise(episode.after["energy"].sum(1)))
    return most, diverged


class Cases:
    """Steps that are saved: state and model, to be repeated with --case."""

    def __init__(self, folder, label):
        self.folder, self.label, self.count = folder, label, {}

    def __call__(self, name, model, time, state):
        if not self.folder or self.count.get(name, 0) >= SAVED:
            return
        self.count[name] = number = self.count.get(name, 0) + 1
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{self.label}-{name}{number}".replace(" ", "-").replace("/", "-")
        mujoco.mj_saveModel(model, f"{path}.mjb")
        np.savez(f"{path}.npz", state=state, time=time)


def repeat_case(path, library):
    """Repeat a saved step and print its results."""
    mujoco.mj_loadPluginLibrary(library)
    path = pathlib.Path(path).with_suffix("")
    model, saved = mujoco.MjModel.from_binary_path(f"{path}.mjb"), np.load(f"{path}.npz")
    data = mujoco.MjData(model)
    time = record.repeat(model, data, saved["state"])
    sensors = addresses(model)
    value = data.sensordata[sensors[:, None] + np.arange(13)]
    print(
        f"{path.name}: {time:.0f} us (it was {saved['time']:.0f}), status {value[0, STATUS]:g},"
        f" residual {value[0, 10]:.3g}, friction power {value[:, 5].min():.3g} to {value[:, 5].max():.3g} W"
    )


def refusal(error):
    """The plugin's own line of an error."""
    lines = [x for x in str(error).splitlines() if x.startswith("mjgear")]
    return (lines or [str(error)])[0]


def measure(task):
    """All rows of one robot."""
    name, path, servo, args = task
    mujoco.mj_loadPluginLibrary(args.library)
    mujoco.set_mju_user_warning(lambda text: None)
    spec, _ = robots.prepare(path, {}, servo)
    spec.option.noslip_iterations = args.noslip
    rows = []
    for integrator, cone, solver in itertools.product(args.integrators, args.cones, args.solvers):
        options = dict(cone=CONES[cone], solver=SOLVERS[solver])
        spec.option.integrator = INTEGRATORS[integrator]
        model = spec.compile()
        head = dict(
            robot=name,
            dofs=model.nv,
            gears=len(robots.gearable(model)),
            integrator=integrator,
            cone=cone,
            solver=solver,
            servo=servo,
            noslip=args.noslip,
        )
        kinds = {g: robots.gear(g, model) for g in args.gears}
        try:
            if args.cost:
                texts = {"plain": robots.plain(spec), "loss": robots.frictionloss(spec, model)}
                texts |= {g: robots.geared(spec, model, numbers, sensors=False) for g, numbers in kinds.items()}
                ratios = cost.compare(
                    {k: [load(x, options, c) for c in args.controls] for k, x in texts.items()},
                    args.controls,
                    args.steps,
                )
                rows += [head | dict(gear=g) | ratios[g] for g in kinds]
                continue
        except ValueError as error:
            rows += [head | dict(gear=g, refused=refusal(error)) for g in kinds]
            continue
        plain = [
            play_plain(robots.plain(spec), kind, max(int(SHARES[kind] * args.steps), 20), args.seed, options)
            for kind in args.controls
        ]
        for g, numbers in kinds.items():
            row = head | dict(gear=g)
            label = f"{name} {g} {integrator} {cone} {solver} {servo:g}"
            try:
                text = robots.geared(spec, model, numbers)
                runs = [
                    play(
                        text,
                        numbers,
                        kind,
                        max(int(SHARES[kind] * args.steps), 20),
                        args.seed,
                        options,
                        Cases(args.cases, f"{label} {kind}"),
                    )
                    for kind in args.controls
                ]
                row |= {k: sum(r[k] for r in runs) for k in COUNTS + ("fed",)}
                row |= {k: max(r[k] for r in runs) for k in ("rise", "worst")}
                row |= dict(
                    median=float(np.median([r["median"] for r in runs])),
                    plain_rise=max(p[0] for p in plain),
                    plain_diverged=sum(p[1] for p in plain),
                )
            except ValueError as error:
                row["refused"] = refusal(error)
            except law.Unchecked as error:
                row["unchecked"] = str(error)
            rows.append(row)
    return rows


def describe(row):
    """One line of the table."""
    label = (
        f"{row['gear']} {row['integrator']} {row['cone'][:4]} {row['solver']}"
        + (f" servo {row['servo']:g}" if row["servo"] else "")
        + (f" noslip {row['noslip']}" if row["noslip"] else "")
    )
    head = f"{row['robot']:24} {row['dofs']:4} {row['gears']:5} {label:34} "
    for key in ("refused", "unchecked"):
        if key in row:
            return head + f"{key}: {row[key]}"
    if "loss" in row:
        return head + " ".join(f"{row[k]:6.2f}" for k in PRICES)
    return head + (
        f"{row['steps']:7} {row['unsolved']:6} {row['wrong']:5} {row['beyond']:6} {row['silent']:6} {row['fed']:8.1e}"
        f" {row['rise']:8.1e} {row['plain_rise']:8.1e} {row['median']:8.1f} {row['worst']:7.1f} {row['over']:5}"
        + (
            f"  diverged {row['diverged']}, plain {row['plain_diverged']}"
            if row["diverged"] or row["plain_diverged"]
            else ""
        )
    )


def summarize(table, args):
    """Sums over the robots, a line for each gear and integrator."""
    for integrator, gear in itertools.product(args.integrators, args.gears):
        rows = [r for r in table if r["gear"] == gear and r["integrator"] == integrator]
        done = [r for r in rows if "refused" not in r and "unchecked" not in r]
        if not done:
            continue
        head = f"{gear} {integrator}: {len(done)} rows, {len(rows) - len(done)} refused or unchecked"
        if args.cost:
            prices = {k: [r[k] for r in done] for k in PRICES}
            print(
                head
                + "".join(
                    f", {k} {np.median(x):.2f}, p90 {np.percentile(x, 90):.2f}, most {max(x):.2f}"
                    for k, x in prices.items()
                )
            )
            continue
        total = {k: sum(r[k] for r in done) for k in TOTALS}
        print(
            head
            + ", "
            + ", ".join(f"{k} {v}" for k, v in total.items())
            + f", worst step / median {max(r['worst'] for r in done):.0f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="all robots, not only those of the short form")
    parser.add_argument("--robots", nargs="*")
    parser.add_argument("--files", nargs="*", default=[], help="other robots, MJCF")
    parser.add_argument("--gears", nargs="*", default=["A", "B", "C"])
    parser.add_argument("--integrators", nargs="*", default=["implicitfast", "discrete"])
    parser.add_argument("--cones", nargs="*", default=["pyramidal"])
    parser.add_argument("--solvers", nargs="*", default=["Newton"])
    parser.add_argument("--controls", nargs="*", default=list(record.CONTROLS))
    parser.add_argument("--servos", nargs="*", type=float, default=[0.0])
    parser.add_argument("--steps", type=int, default=1000, help="of each robot, gear and option")
    parser.add_argument("--seed", type=int, default=1, help="of the random controls")
    parser.add_argument("--noslip", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--library", default=str(robots.HERE.parent.parent / "build/lib/libmjgear.so"))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--cases", type=pathlib.Path, help="folder for steps to be repeated with --case")
    parser.add_argument("--case", nargs="*")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a step was wrong or silent")
    args = parser.parse_args()
    for path in args.case or []:
        repeat_case(path, args.library)
    if args.case:
        return 0

    listed = robots.names(args.long or bool(args.robots)) if args.robots or not args.files else {}
    chosen = {
        n: robots.fetch(wheel) / path for n, (wheel, path) in listed.items() if not args.robots or n in args.robots
    }
    chosen |= {n: n for n in robots.MADE if n in (args.robots or [])}
    chosen |= {"/".join(pathlib.Path(x).with_suffix("").parts[-2:]): x for x in args.files}
    tasks = [(n, path, servo, args) for n, path in chosen.items() for servo in args.servos]
    print(
        f"{'robot':24} {'dofs':>4} {'gears':>5} {'options':34} "
        + (
            " ".join(f"{k:>6}" for k in PRICES)
            if args.cost
            else (
                f"{'steps':>7} {'unsolv':>6} {'wrong':>5} {'beyond':>6} {'silent':>6} {'fed':>8} {'rise':>8} {'plain':>8} {'median':>8}"
                f" {'worst':>7} {'over':>5}"
            )
        ),
        flush=True,
    )
    table = []
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for rows in pool.map(measure, tasks) if args.jobs > 1 else map(measure, tasks):
            table += rows
            for row in rows:
                print(describe(row), flush=True)
            if args.json:
                part = args.json.with_name(f"{args.json.name}.part")  # an older table stays until this one is whole
                part.write_text(json.dumps(table, indent=1))
                part.replace(args.json)
    summarize(table, args)
    return 1 if args.fail and sum(r.get("silent", 0) + r.get("wrong", 0) for r in table) else 0


if __name__ == "__main__":
    sys.exit(main())
