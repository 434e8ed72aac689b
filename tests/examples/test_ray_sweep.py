"""examples/ray_sweep.py: the same bits for any number of workers and nodes, after a killed worker or driver, an interruption and an
extension. Other sweeps are refused, and failing chunks are named."""

import dataclasses
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from unittest import mock

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
os.environ.update(
    RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32)
)  # token that the nodes of a cluster share
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

LONG = bool(os.environ.get("MJGEAR_LONG"))
SETTINGS = ray_sweep.Settings(arms=45, chunk=10, lift=0.6, hold=0.2)


def killed_once(folder):
    """The work; its worker kills itself the first time that it meets chunk 2."""

    def work(settings, chunk):
        marker = pathlib.Path(folder) / "killed"
        result = ray_sweep.simulate(settings, chunk)
        if chunk == 2 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return work


def fails(folder):
    """The work, but chunk 3 raises and chunk 1 kills its worker each time."""

    def work(settings, chunk):
        if chunk == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if chunk == 3:
            raise ValueError("no arm")
        return ray_sweep.simulate(settings, chunk)

    return work


def empty(settings, chunk):
    return {"arm": [chunk]}


def refused(call, *lines):
    try:
        call()
    except SystemExit as error:
        for line in lines:
            assert line in str(error), f"{line!r} is not in: {error}"
    else:
        raise AssertionError(f"{lines} was not refused")


def here(settings, out):
    """The table of a sweep whose chunks are simulated in this process, without Ray."""
    for chunk in range(settings.chunks):
        ray_sweep.do(settings, out, chunk)
    return ray_sweep.join(settings, out)


SLOW_START = "timed out during startup"  # Ray waits 30 s for its own processes, which a busy machine may exceed


def start(workers, attempts=9):
    path = os.pathsep.join([str(SOURCE / "examples"), os.environ.get("PYTHONPATH", "")])
    try:
        ray.init(
            address="local",
            num_cpus=workers,
            include_dashboard=False,
            log_to_driver=False,
            runtime_env={"env_vars": {"PYTHONPATH": path}},
        )
    except Exception as error:
        ray.shutdown()
        if SLOW_START not in str(error) or not attempts:
            raise
        start(workers, attempts - 1)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        one = here(SETTINGS, folder / "one.parquet")
        if LONG:
            start(1)
            assert ray_sweep.sweep(SETTINGS, folder / "alone.parquet").equals(one), "one worker differs"
            ray.shutdown()
        start(2)
        two = ray_sweep.sweep(SETTINGS, folder / "two.parquet")
        assert one.equals(two), "two workers differ from this process"
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

        # extended, and cut: arms in both are the same, and no chunk is simulated again
        more = ray_sweep.sweep(dataclasses.replace(SETTINGS, arms=52), folder / "two.parquet")
        assert (
            len(more) == 52
            and more.slice(0, 45).equals(one)
            and all(part.stat().st_mtime_ns == time for part, time in stays.items())
        )
        assert ray_sweep.join(dataclasses.replace(SETTINGS, arms=13), folder / "two.parquet").equals(one.slice(0, 13))
        assert ray_sweep.join(SETTINGS, folder / "two.parquet").equals(one)

        # another sweep: settings, model, a release
        refused(
            lambda: ray_sweep.sweep(dataclasses.replace(SETTINGS, lift=0.7), folder / "two.parquet"),
            "another sweep (lift was 0.6 and is 0.7)",
        )
        for module, name, value, line in (
            (ray_sweep, "ARM", ray_sweep.ARM.replace('mass="1"', 'mass="1.1"'), "another sweep (model was "),
            (ray_sweep.mujoco, "__version__", "9.9.9", "another sweep (mujoco was "),
            (ray_sweep.mjgear, "__version__", "9.9.9", "another sweep (mjgear was "),
        ):
            before = getattr(module, name)
            setattr(module, name, value)
            refused(lambda: ray_sweep.sweep(SETTINGS, folder / "two.parquet"), line)
            setattr(module, name, before)
        (folder / "two.parquet.parts" / "basis.json").unlink()
        refused(lambda: ray_sweep.sweep(SETTINGS, folder / "two.parquet"), "no basis.json")

        # chunks that raise, or whose worker dies each time: the others are written, these named, and tried again
        refused(lambda: ray_sweep.sweep(SETTINGS, folder / "raised.parquet", work=fails(folder), retries=1),
                "2 of 5 chunks failed; 25 arms of the others", "chunk 1: ", "chunk 3: ValueError: no arm")  # fmt: skip
        assert pa.parquet.read_table(folder / "raised.parquet")["arm"].to_pylist() == [
            *range(10),
            *range(20, 30),
            *range(40, 45),
        ]
        assert ray_sweep.sweep(SETTINGS, folder / "raised.parquet").equals(one)

        # Ray has a bounded number of tasks at a time, since its driver looks at each of them again and again
        with mock.patch.object(ray, "wait", wraps=ray.wait) as wait:
            ray_sweep.sweep(ray_sweep.Settings(arms=40, chunk=1), folder / "empty.parquet", work=empty)
        assert max(len(call.args[0]) for call in wait.call_args_list) == 8 and wait.call_count == 40

        if LONG:
            interrupted(folder)
        # the file has the computed values
        assert pa.parquet.read_table(folder / "two.parquet").equals(one)
        shutil.copytree(folder / "killed.parquet.parts", folder / "table.csv.parts")  # its chunks are done
        table = ray_sweep.sweep(SETTINGS, folder / "table.csv")
        read = pa.csv.read_csv(folder / "table.csv")
        for name in table.column_names:
            assert np.array_equal(read[name].to_numpy(), table[name].to_numpy()), name
        ray.shutdown()

        # self-locking gears hold; some of the others sink
        assert one["arm"].to_pylist() == list(range(45))
        holds = np.all([one[f"{joint}_eta_backward"].to_numpy() <= 0 for joint in ray_sweep.JOINTS], axis=0)
        sunk = np.array([one[f"{joint}_sunk"].to_numpy() for joint in ray_sweep.JOINTS])
        velocity = np.array([one[f"{joint}_velocity"].to_numpy() for joint in ray_sweep.JOINTS])
        assert holds.any() and not velocity[:, holds].any() and np.abs(sunk[:, ~holds]).max() > 0.05
        print(
            f"{SETTINGS.chunks} chunks: equal for this process, two workers, a killed worker, an interruption; {holds.sum()} arms hold"
        )


PROGRAM = [sys.executable, str(SOURCE / "examples" / "ray_sweep.py"), "--arms", "120", "--chunk", "4", "--workers", "2"]


def run(*arguments):
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, check=False)


def interrupted(folder):
    """The program as users type it: after Ctrl-C and a killed driver the sweep is finished with the bits of chunks
    simulated here, and so are single jobs without Ray. Ray is initialized."""
    settings, out = ray_sweep.Settings(120, 4), folder / "sweep.parquet"
    expected = here(settings, folder / "alone-120.parquet")
    parts = out.with_name(out.name + ".parts")
    for kind, code, enough in ((signal.SIGKILL, -signal.SIGKILL, 3), (signal.SIGINT, 130, 8)):
        told = SLOW_START
        while SLOW_START in told:
            driver = subprocess.Popen(
                [*PROGRAM, "--out", str(out)],
                stderr=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                text=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # the background ignores it
            )
            while len(list(parts.glob("*.parquet"))) < enough and driver.poll() is None:
                time.sleep(0.02)
            driver.send_signal(kind)
            _, told = driver.communicate()
        assert driver.returncode == code and not out.exists(), (kind, driver.returncode, told)
        if kind == signal.SIGINT:
            line = "of 30 chunks are done; the same command goes on with the others"
            assert "Traceback" not in told and line in told, told
    again = run("--out", str(out))
    assert again.returncode == 0, again.stderr
    assert pa.parquet.read_table(out).equals(expected)

    out = folder / "jobs.parquet"
    for chunk in (1, 0, 1):
        alone = run("--out", str(out), "--only", str(chunk))
        assert alone.returncode == 0, alone.stderr
    joined = run("--out", str(out), "--join")
    assert joined.returncode == 0 and pa.parquet.read_table(out).equals(expected.slice(0, 8)), joined.stderr
    assert "there is no chunk 30" in run("--out", str(out), "--only", "30").stderr
    print("Ctrl-C and chunks without Ray: the same bits")


def nodes():
    """Two nodes of a cluster on this machine, of which one is stopped halfway: the same bits. Without an address the cluster is not joined."""
    ray_program = pathlib.Path(sys.executable).with_name("ray")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(SOURCE / "examples"), os.environ.get("PYTHONPATH", "")]),
    }
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        start(2)
        expected = ray_sweep.sweep(SETTINGS, folder / "alone.parquet")
        ray.shutdown()
        address = "127.0.0.1:6399"
        started = []
        try:
            for words in (["--head", "--port=6399", "--include-dashboard=false"], [f"--address={address}"]):
                started.append(
                    subprocess.Popen(
                        [ray_program, "start", "--block", "--num-cpus=1", *words],
                        env=environment,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                    )
                )
                await_that(lambda: answers(6399))
            ray.init(address=address, log_to_driver=False)
            await_that(lambda: sum(node["Alive"] for node in ray.nodes()) == 2)
            assert ray_sweep.sweep(SETTINGS, folder / "nodes.parquet").equals(expected)
            used = ray.get([ray.remote(num_cpus=1)(where).remote() for _ in range(8)])
            assert len(set(used)) == 2, used
            ray.shutdown()
            alone = subprocess.run(
                [*PROGRAM, "--arms", "8", "--out", str(folder / "own.parquet")],
                env={**environment, "RAY_ADDRESS": address},
                capture_output=True,
                text=True,
                check=False,
            )
            assert alone.returncode == 0 and "Connecting to existing" not in alone.stderr, alone.stderr
            print("two nodes: the same bits")
        finally:
            ray.shutdown()
            for process in reversed(started):
                process.terminate()
                process.wait()


def answers(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def await_that(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.2)


def where():
    time.sleep(0.5)
    return ray.get_runtime_context().get_node_id()


if __name__ == "__main__":
    main()
    if LONG:
        nodes()
