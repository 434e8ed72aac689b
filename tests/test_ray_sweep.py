"""examples/ray_sweep.py: the same bits for any number of workers, when a worker is killed, and after an interruption."""

import os
import pathlib
import signal
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "examples"))

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet
    import ray
except ImportError as error:
    print(error)
    sys.exit(77)

import ray_sweep

SETTINGS = ray_sweep.Settings(arms=45, chunk=10, lift=0.6, hold=0.2)


def killed_once(folder):
    """The work, whose worker is killed from within the first time that it meets chunk 2."""

    def work(settings, chunk):
        marker = pathlib.Path(folder) / "killed"
        result = ray_sweep.simulate(settings, chunk)
        if chunk == 2 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return work


def start(workers):
    ray.init(
        num_cpus=workers,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join([str(SOURCE / "examples"), os.environ.get("PYTHONPATH", "")])}},
    )


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        start(1)
        one = ray_sweep.sweep(SETTINGS, folder / "one.parquet")
        ray.shutdown()
        start(2)
        two = ray_sweep.sweep(SETTINGS, folder / "two.parquet")
        assert one.equals(two), "one and two workers differ"
        killed = ray_sweep.sweep(SETTINGS, folder / "killed.parquet", work=killed_once(folder))
        assert (folder / "killed").exists() and one.equals(killed), "a killed worker changes results"

        # after an interruption: chunks that are done stay as they are
        parts = sorted((folder / "two.parquet.parts").glob("*.parquet"))
        assert len(parts) == 5
        for part in parts[1::2]:
            part.unlink()
        stays = {part: part.stat().st_mtime_ns for part in parts[::2]}
        again = ray_sweep.sweep(SETTINGS, folder / "two.parquet")
        assert again.equals(one) and all(part.stat().st_mtime_ns == time for part, time in stays.items())
        try:
            ray_sweep.sweep(ray_sweep.Settings(arms=45, chunk=10, lift=0.7, hold=0.2), folder / "two.parquet")
        except SystemExit as error:
            assert "other settings" in str(error)
        else:
            raise AssertionError("chunks of other settings were taken")

        # what is written is what was computed
        assert pa.parquet.read_table(folder / "two.parquet").equals(one)
        table = ray_sweep.sweep(SETTINGS, folder / "table.csv")
        read = pa.csv.read_csv(folder / "table.csv")
        for name in table.column_names:
            assert np.array_equal(read[name].to_numpy(), table[name].to_numpy()), name
        ray.shutdown()

        # gears that cannot be driven back hold; among those that can, some sink
        assert one["arm"].to_pylist() == list(range(45))
        holds = np.all([one[f"{joint}_eta_backward"].to_numpy() <= 0 for joint in ray_sweep.JOINTS], axis=0)
        sunk = np.array([one[f"{joint}_sunk"].to_numpy() for joint in ray_sweep.JOINTS])
        velocity = np.array([one[f"{joint}_velocity"].to_numpy() for joint in ray_sweep.JOINTS])
        assert holds.any() and not velocity[:, holds].any() and np.abs(sunk[:, ~holds]).max() > 0.05
        print(f"{SETTINGS.chunks} chunks: equal for one and two workers, a killed worker, an interruption; {holds.sum()} arms hold")


if __name__ == "__main__":
    main()
