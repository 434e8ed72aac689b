"""10 000 arms with gears as they vary within a production, on all cores of a machine or of a Ray cluster.

    python ray_sweep.py                                  # this machine; sweep.parquet
    python ray_sweep.py --arms 2000 --out sweep.csv
    python ray_sweep.py --address auto                   # the cluster of this machine

An arm of three worm gears lifts its load to a pose, its motors are switched off, and for the rest of the time it stands
or sinks. Chunks of arms are tasks of Ray, each a MuJoCo Batch. A chunk's random numbers belong to the chunk and not to
the worker: results are the same, bit for bit, for any number of workers and when workers die. Chunks that are done lie
in OUT.parts; after an interruption the same command goes on with the others.

Needs MuJoCo 3.17 or later, and ray, pyarrow and tqdm.
"""

import argparse
import dataclasses
import json
import os
import pathlib

import mujoco
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import ray
import tqdm

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
    """What the results depend on, and nothing else."""

    arms: int = 10_000
    chunk: int = 250
    lift: float = 1.0  # s
    hold: float = 1.0  # s
    seed: int = 1

    @property
    def chunks(self) -> int:
        return -(-self.arms // self.chunk)


def simulate(settings: Settings, chunk: int) -> dict[str, np.ndarray]:
    """Simulate the arms of a chunk; a column for each number of an arm."""
    from mujoco.batch import Batch

    import mjgear

    first = chunk * settings.chunk
    count = min(settings.chunk, settings.arms - first)
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


def sweep(settings: Settings, out: pathlib.Path, work=simulate, retries: int = 5) -> pa.Table:
    """Simulate all chunks that are not done; Ray must be initialized. A task whose worker dies is run again.

    Raises:
        SystemExit: the parts that are there are those of other settings.
    """
    parts = out.with_name(out.name + ".parts")
    parts.mkdir(parents=True, exist_ok=True)
    note = parts / "settings.json"
    mine = json.dumps(dataclasses.asdict(settings), indent=1)
    if note.exists() and note.read_text() != mine:
        raise SystemExit(f"{parts} holds chunks of other settings: remove it, or choose another --out")
    note.write_text(mine)

    files = [parts / f"{chunk:06}.parquet" for chunk in range(settings.chunks)]
    pending = [chunk for chunk in range(settings.chunks) if not files[chunk].exists()]
    task = ray.remote(num_cpus=1, max_retries=retries)(work)
    waiting = {task.remote(settings, chunk): chunk for chunk in pending}
    with tqdm.tqdm(total=settings.chunks, initial=settings.chunks - len(pending), unit="chunk") as bar:
        while waiting:
            (done,), _ = ray.wait(list(waiting), num_returns=1)
            write(pa.table(ray.get(done)), files[waiting.pop(done)])
            bar.update()
    table = pa.concat_tables([pa.parquet.read_table(file) for file in files])
    write(table, out)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", type=int, default=Settings.arms)
    parser.add_argument("--chunk", type=int, default=Settings.chunk, help="arms of a task")
    parser.add_argument("--seed", type=int, default=Settings.seed)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("sweep.parquet"), help="a .parquet or .csv file")
    parser.add_argument("--address", help="of a Ray cluster; default: workers of this machine")
    parser.add_argument("--workers", type=int, help="on this machine; default: one a core")
    arguments = parser.parse_args()
    ray.init(address=arguments.address, num_cpus=arguments.workers, include_dashboard=False, log_to_driver=False)
    settings = Settings(arguments.arms, arguments.chunk, seed=arguments.seed)
    table = sweep(settings, arguments.out)
    stands = np.all([table[f"{joint}_velocity"].to_numpy() == 0 for joint in JOINTS], axis=0)
    print(f"{stands.sum()} of {settings.arms} arms stand still with their motors off; all numbers in {arguments.out}")


if __name__ == "__main__":
    main()
