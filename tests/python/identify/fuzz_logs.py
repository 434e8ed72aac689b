"""Fuzzer of logs: mjgear.identify reads any file or refuses it in one line with its name.

    fuzz_identify_logs.py           1500 logs, always the same
    fuzz_identify_logs.py SECONDS   others in every run; ./check --long gives it an hour

Logs of each kind are damaged: bytes are turned, cut, repeated and replaced by words that mean something in a log. A log that
was read has columns of one length with finite numbers and a time step above 0. MJGEAR_SEED repeats a run; the file that fails
stays.
"""

import gzip
import io
import json
import os
import pathlib
import resource
import sys
import tempfile
import time
import warnings

import numpy as np

from mjgear import identify

WORDS = [
    b"nan",
    b"inf",
    b"-1e999",
    b"1e308",
    b"0",
    b"9" * 5000,
    b"time",
    b"time [us]",
    b"position",
    b"torque:Nm",
    b"entries",
    b"dt",
    b'{"',
    b"[[",
    b"]",
    b"null",
    b"true",
    b"# mass=",
    b"#",
    b",",
    b";",
    b"\n",
    b"\r",
    b"\0",
    b'"',
    b"\xff",
    b"$\\frac{$",
    b"\xef\xbb\xbf",
    b"1_000",
    b"0x10",
    b"times",
    b"data",
    b"(4,)",
]


def whole():
    """Valid logs: name of the file -> bytes."""
    t = 0.01 * np.arange(40)
    q, u = np.sin(t), np.cos(3 * t)
    csv = "# mass=0.5 length=0.1\ntime,position,torque\n" + "".join(
        f"{a:g},{b:.6f},{c:.6f}\n" for a, b, c in zip(t, q, u)
    )
    entries = [{"timestamp": a, "position": b, "torque": c} for a, b, c in zip(t.tolist(), q.tolist(), u.tolist())]
    plain, packed = io.BytesIO(), io.BytesIO()
    arrays = {
        "times": t,
        "data": np.stack([q, u], axis=1),
        "signal_mapping": json.dumps({"position": ["joint", [0]], "torque": ["joint", [1]]}),
    }
    np.savez(plain, **arrays)
    np.savez_compressed(packed, **arrays)
    text = json.dumps({"mass": 0.5, "length": 0.1, "entries": entries})
    return {
        "w.csv": csv.encode(),
        "w.csv.gz": gzip.compress(csv.encode()),
        "w.json": text.encode(),
        "w.json.gz": gzip.compress(text.encode()),
        "w.npz": plain.getvalue(),
        "packed.npz": packed.getvalue(),
    }


def damage(content, rng):
    """A few changes of the bytes."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        at, end = sorted(rng.integers(0, len(data) + 1, 2).tolist())
        end = min(end, at + int(rng.integers(1, 60)))
        kind = rng.integers(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del data[at:end]
        elif kind == 2:
            data[at:at] = data[at:end] * int(rng.integers(1, 40))
        elif kind == 3:
            data[at:end] = WORDS[rng.integers(len(WORDS))]
        else:
            del data[at if rng.integers(4) == 0 else len(data) :]
    return bytes(data)


def judge(path):
    """Return True if the file was read.

    Raises: AssertionError: the result is not a log, or the refusal is not one line with the file's
      name.
    """
    try:
        log = identify.read(path)
    except identify.LogError as error:
        assert str(path) in str(error) and "\n" not in str(error) and len(str(error)) < 2000, error
        return False
    sizes = {column.size for column in log.data.values()}
    assert len(sizes) == 1 and min(sizes) > 0 and log.dt > 0, (sizes, log.dt)
    assert all(np.isfinite(column).all() for column in log.data.values())
    return True


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else None
    seed = int(os.environ.get("MJGEAR_SEED") or (np.random.SeedSequence().entropy % 2**32 if seconds else 1))
    print(f"MJGEAR_SEED={seed}", flush=True)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # a log that asks for more is a fault
    warnings.simplefilter("error")
    rng, begin, read, count = np.random.default_rng(seed), time.monotonic(), 0, 0
    memory = (
        "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    )  # a disk writes a file before it is replaced, five times as long
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        logs = whole()
        for name, content in logs.items():
            (pathlib.Path(folder) / name).write_bytes(content)
            assert judge(pathlib.Path(folder) / name), name
        while time.monotonic() - begin < seconds if seconds else count < 1500:
            name = list(logs)[count % len(logs)]
            content = logs[name]
            # compressed files are damaged before and after compression
            if name.endswith(".gz") and rng.integers(4):
                content = gzip.compress(damage(gzip.decompress(content), rng))
            else:
                content = damage(content, rng)
            path = pathlib.Path(folder) / name
            path.write_bytes(content)
            try:
                read += judge(path)
            except BaseException:
                kept = pathlib.Path(f"fuzz_identify_logs-{name}").absolute()
                kept.write_bytes(content)
                print(f"input {count} is kept in {kept}")
                raise
            count += 1
    print(f"{count} damaged logs: {read} read, {count - read} refused")
    assert 0 < read < count


if __name__ == "__main__":
    main()
