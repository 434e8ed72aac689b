"""10 000 arms with gears as they vary within a production, on all cores of a machine or of a Ray cluster.

    python ray_sweep.py                                  # this machine; sweep.parquet
    python ray_sweep.py --arms 12000                     # 2 000 more
    python ray_sweep.py --address auto                   # the cluster of this machine
    python ray_sweep.py --only 7; python ray_sweep.py --join     # a chunk, and all together, without Ray

An arm of three worm gears lifts its load to a pose, its motors are switched off, and for the rest of the time it stands
or sinks. Chunks of arms are tasks of Ray, each a MuJoCo Batch. A chunk's random numbers belong to the chunk and not to
the worker: results are the same, bit for bit, for any number of workers and when workers die. Finished chunks are in
OUT.parts on the disk of the driver; after an interruption the same command continues with the others. A chunk that fails
does not end the sweep: the others are written, failures are named at the end, and the same command tries them again.

Needs MuJoCo 3.17 or later, and pyarrow; ray and tqdm but for --only and --join.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import sys

import mujoco
import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

import mjgear

ARM = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast"/>
  <extension>
    <plugin plugin="mjgear.transmission">
      <instance name="worms">
        <config key="joint" value="shoulder elbow wrist"/>
        <config key="eta_forward" value="0.5"/>
        <config key="eta_backward" value="0"/>
        <config key="coulomb" value="0.1"/>
      </instance>
    </plugin>
  </extension>
  <default>
    <joint axis="0 -1 0" damping="0.5"/>
    <geom type="capsule" contype="0" conaffinity="0"/>
  </default>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" armature="1"/>
      <geom fromto="0 0 0 0.4 0 0" size="0.04" mass="3"/>
      <body name="forearm" pos="0.4 0 0">
        <joint name="elbow" armature="0.5"/>
        <geom fromto="0 0 0 0.3 0 0" size="0.03" mass="2"/>
        <body name="hand" pos="0.3 0 0">
          <joint name="wrist" armature="0.1"/>
          <geom fromto="0 0 0 0.1 0 0" size="0.03" mass="1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="shoulder" kp="800" kv="80"/>
    <position joint="elbow" kp="400" kv="40"/>
    <position joint="wrist" kp="100" kv="10"/>
  </actuator>
</mujoco>
"""
JOINTS = ("shoulder", "elbow", "wrist")
POSE = (0.3, 0.5, -0.4)  # rad


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of a sweep. Its chunks depend on all but the number of arms."""

    arms: int = 10_000
    chunk: int = 250
    lift: float = 1.0  # s
    hold: float = 1.0  # s
    seed: int = 1

    @property
    def chunks(self) -> int:
        return -(-self.arms // self.chunk)


def simulate(settings: Settings, chunk: int) -> dict[str, np.ndarray]:
    """Simulate the arms of a chunk, independent of settings.arms; a column for each number of an arm."""
    from mujoco.batch import Batch

    first, count = chunk * settings.chunk, settings.chunk
    random = np.random.default_rng([settings.seed, chunk])
    model = mujoco.MjModel.from_xml_string(ARM)
    batch = Batch(model, nsim=count, nthread=1)
    gears = mjgear.Gears(model, batch)
    columns: dict[str, np.ndarray] = {"arm": np.arange(first, first + count)}
    for joint in JOINTS:
        numbers = {
            "eta_forward": random.uniform(0.4, 0.6, count),
            "eta_backward": random.uniform(-0.3, 0.3, count),
            "coulomb": random.uniform(0, 0.3, count),
        }
        gears[joint].set(**numbers)
        columns |= {f"{joint}_{name}": value for name, value in numbers.items()}

    # lift, and let go: with gain and bias of the servos at zero the motors are off
    batch.ctrl = np.tile(POSE, (count, 1))
    batch.step(nstep=round(settings.lift / model.opt.timestep))
    lifted = batch.qpos.copy()
    model.actuator_gainprm[:] = 0
    model.actuator_biasprm[:] = 0
    batch.set_models([model] * count)
    batch.step(nstep=round(settings.hold / model.opt.timestep))
    for i, joint in enumerate(JOINTS):
        columns[f"{joint}_lifted"] = lifted[:, i]
        columns[f"{joint}_sunk"] = lifted[:, i] - batch.qpos[:, i]
        columns[f"{joint}_velocity"] = batch.qvel[:, i].copy()
    return columns


def write(table: pa.Table, path: pathlib.Path) -> None:
    """Write a table as Parquet or CSV, whole or not at all."""
    unfinished = path.with_name(path.name + f".{os.getpid()}")
    if path.suffix == ".csv":
        pa.csv.write_csv(table, unfinished)
    else:
        pa.parquet.write_table(table, unfinished)
    unfinished.replace(path)


def basis(settings: Settings) -> dict[str, object]:
    """Basis of the numbers of a chunk: settings except the number of arms, the model, and releases."""
    fixed = {name: value for name, value in dataclasses.asdict(settings).items() if name != "arms"}
    return {
        **fixed,
        "model": hashlib.sha256(ARM.encode()).hexdigest(),
        "mujoco": mujoco.__version__,
        "mjgear": mjgear.__version__,
    }


def parts_of(settings: Settings, out: pathlib.Path) -> list[pathlib.Path]:
    """The files of all chunks, in a folder beside out with chunks of the same basis only.

    Raises:
        SystemExit: existing chunks have another basis.
    """
    folder = out.with_name(out.name + ".parts")
    folder.mkdir(parents=True, exist_ok=True)
    note, mine = folder / "basis.json", basis(settings)
    if not note.exists():
        if any(folder.glob("*.parquet")):
            raise SystemExit(
                f"{folder} has chunks but no basis.json that says of what; remove it, or choose another --out"
            )
        unfinished = note.with_name(f"{note.name}.{os.getpid()}")
        unfinished.write_text(json.dumps(mine, indent=1))
        unfinished.replace(note)
    theirs = json.loads(note.read_text())
    other = [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]
    if other:
        told = "; ".join(f"{name} was {str(theirs.get(name))[:12]} and is {str(mine.get(name))[:12]}" for name in other)
        raise SystemExit(f"{folder} holds chunks of another sweep ({told}): remove it, or choose another --out")
    return [folder / f"{chunk:06}.parquet" for chunk in range(settings.chunks)]


def do(settings: Settings, out: pathlib.Path, chunk: int) -> None:
    """Simulate a chunk here and write its part, unless it exists."""
    files = parts_of(settings, out)
    if not 0 <= chunk < len(files):
        raise SystemExit(f"there is no chunk {chunk}: {settings.arms} arms are chunks 0 to {len(files) - 1}")
    if not files[chunk].exists():
        write(pa.table(simulate(settings, chunk)), files[chunk])


def join(settings: Settings, out: pathlib.Path) -> pa.Table:
    """Join the existing parts.

    Raises:
        SystemExit: there is none.
    """
    files = [file for file in parts_of(settings, out) if file.exists()]
    if not files:
        raise SystemExit(f"no chunk of {out} is done")
    table = pa.concat_tables([pa.parquet.read_table(file) for file in files])
    table = table.filter(pa.compute.less(table["arm"], settings.arms))
    write(table, out)
    return table


def sweep(settings: Settings, out: pathlib.Path, work=simulate, retries: int = 5) -> pa.Table:
    """Simulate all chunks that are not done; Ray must be initialized. A task whose worker dies is run again.

    Raises:
        SystemExit: chunks failed, after all others are written and put together; or the parts are those of another sweep.
    """
    import ray
    import tqdm

    files = parts_of(settings, out)
    pending = [chunk for chunk in range(settings.chunks) if not files[chunk].exists()]
    left = iter(pending)
    task = ray.remote(num_cpus=1, max_retries=retries)(work)
    window = max(
        4 * int(ray.cluster_resources().get("CPU", 1)), 8
    )  # so many at once: Ray looks at each of them again and again
    running: dict[object, int] = {}
    failed: dict[int, str] = {}
    with tqdm.tqdm(total=settings.chunks, initial=settings.chunks - len(pending), unit="chunk") as bar:
        while True:
            for chunk in left:
                running[task.remote(settings, chunk)] = chunk
                if len(running) >= window:
                    break
            if not running:
                break
            (done,), _ = ray.wait(list(running), num_returns=1)
            chunk = running.pop(done)
            try:
                write(pa.table(ray.get(done)), files[chunk])
            except Exception as error:  # any exception of a chunk, or a worker that died each time
                cause = getattr(error, "cause", None) or error
                failed[chunk] = (
                    f"{type(cause).__name__}: {str(cause).strip().splitlines()[0] if str(cause).strip() else ''}"
                )
            bar.update()
    if failed:
        table = join(settings, out) if len(failed) < settings.chunks else []
        lines = "\n".join(f"  chunk {chunk}: {line}" for chunk, line in sorted(failed.items()))
        raise SystemExit(
            f"{len(failed)} of {settings.chunks} chunks failed; {len(table)} arms of the others are in {out}, and the same command tries again:\n{lines}"
        )
    return join(settings, out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", type=int, default=Settings.arms)
    parser.add_argument("--chunk", type=int, default=Settings.chunk, help="arms of a task")
    parser.add_argument("--seed", type=int, default=Settings.seed)
    parser.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path("sweep.parquet"), help="a .parquet or .csv file"
    )
    parser.add_argument(
        "--address", help="of a Ray cluster; default: workers of this machine, whatever else runs on it"
    )
    parser.add_argument("--workers", type=int, help="on this machine; default: one a core")
    parser.add_argument(
        "--only", type=int, metavar="CHUNK", help="simulate this chunk here, without Ray, unless it is done"
    )
    parser.add_argument("--join", action="store_true", help="put chunks that are done together, without Ray")
    arguments = parser.parse_args()
    settings, out = Settings(arguments.arms, arguments.chunk, seed=arguments.seed), arguments.out
    if arguments.only is not None:
        do(settings, out, arguments.only)
        return
    if arguments.join:
        table = join(settings, out)
    else:
        import ray

        try:
            ray.init(
                address=arguments.address or "local",
                num_cpus=arguments.workers,
                include_dashboard=False,
                log_to_driver=False,
            )
            table = sweep(settings, out)
        except KeyboardInterrupt:
            done = sum(file.exists() for file in parts_of(settings, out))
            print(
                f"\ninterrupted: {done} of {settings.chunks} chunks are done; the same command goes on with the others",
                file=sys.stderr,
            )
            sys.exit(130)
        finally:
            ray.shutdown()
    stands = np.all([table[f"{joint}_velocity"].to_numpy() == 0 for joint in JOINTS], axis=0)
    print(f"{stands.sum()} of {len(table)} arms stand still with their motors off; all numbers in {out}")


if __name__ == "__main__":
    main()
