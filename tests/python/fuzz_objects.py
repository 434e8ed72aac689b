"""Fuzzer of the package's objects: numbers of gears, written and read in every way, beside plain arrays that are changed alike.

    fuzz_python_objects.py           15 rounds, always the same
    fuzz_python_objects.py SECONDS   others in every run; ./check --long gives it an hour

A round has a simulation, or a Batch, and changes numbers by attributes, indices, masks, parts of arrays and all gears at once. In between
are values that no gear takes, copies, pickles, threads that read, and garbage. After each change all numbers are what the plain arrays
say, and a refusal is the package's and changes nothing. At the end the motion is that of a model with these numbers in its MJCF.
MJGEAR_SEED repeats a run.
"""

import copy
import gc
import os
import pickle
import sys
import threading
import time

import mujoco
import numpy as np
from mujoco.batch import Batch

import mjgear
from geared_arm import ARM

NAMES = ("shoulder", "elbow")
RANGES = {
    "coulomb": (0, 2),
    "static_ratio": (1, 2),
    "gamma_u": (0, 0.5),
    "gamma_v": (0, 1.5),
}  # the last two stand for efficiencies
BAD = [
    None, "", "x", b"x", [], {}, object(), np.nan, np.inf, -np.inf, 10**400, 1 + 2j, True, "2 kg", "1e999", "\ud800", np.zeros((7, 7)), np.array("x"),
    np.array([np.nan] * 3), slice(0, 1), len, -1, np.float32(-1), np.array([10**400], object), [[1], [2, 3]],
]  # fmt: skip


def make(numbers):
    """A model with these numbers, by (joint, key)."""
    spec = mujoco.MjSpec.from_string(ARM % "")
    mjgear.add(spec, list(NAMES), **{key: [numbers[name, key] for name in NAMES] for key in RANGES})
    return spec.compile()


class Round:
    def __init__(self, rng):
        self.rng = rng
        self.start = {(name, key): rng.uniform(*RANGES[key]) for name in NAMES for key in RANGES}
        self.model = make(self.start)
        self.count = int(rng.integers(0, 5))  # simulations of a Batch; 0: no Batch
        self.data = Batch(self.model, self.count, nthread=1) if self.count else mujoco.MjData(self.model)
        self.gears = mjgear.Gears(self.model, self.data)
        shape = self.count or ()
        self.expected = {place: np.full(shape, value) for place, value in self.start.items()}
        self.kept = []  # arrays that were read, which stay alive

    def state(self):
        return self.data.bind("plugin_state") if self.count else self.data.plugin_state

    def check(self):
        for (name, key), expected in self.expected.items():
            found = self.gears[name][key]
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15, err_msg=f"{name} {key}")
            assert np.shape(found) == np.shape(expected)
            np.testing.assert_array_equal(getattr(self.gears, key)[..., NAMES.index(name)], found)

    def index(self):
        """A random index of the simulations of a Batch."""
        n = self.count
        return [
            int(self.rng.integers(-n, n)), slice(*sorted(self.rng.integers(-n, n + 1, 2).tolist())), self.rng.random(n) < 0.5,
            self.rng.permutation(n)[: self.rng.integers(n + 1)] - n * int(self.rng.integers(2)), slice(None, None, -1), ...,
        ][self.rng.integers(6)]  # fmt: skip

    def change(self):
        name, key = NAMES[self.rng.integers(2)], list(RANGES)[self.rng.integers(len(RANGES))]
        gear, value, expected = self.gears[name], self.rng.uniform(*RANGES[key]), self.expected[name, key]
        way = self.rng.integers(6)
        if way == 0:
            setattr(gear, key, value)
            expected[...] = value
        elif way == 1:
            gear[key] = f"{value!r} {'Nm' if key == 'coulomb' else ''}".strip()
            expected[...] = value
        elif way == 2:
            values = self.rng.uniform(*RANGES[key], size=np.shape(expected) + (2,))
            setattr(self.gears, key, values)
            for k, other in enumerate(NAMES):
                self.expected[other, key][...] = values[..., k]
        elif not self.count:
            gear.set(**{key: value})
            expected[...] = value
        elif way == 3:
            index, rows = self.index(), getattr(gear, key)
            values = self.rng.uniform(*RANGES[key], size=np.shape(expected[index]))
            rows[index] = expected[index] = values
            np.testing.assert_allclose(rows, expected, rtol=1e-13, atol=1e-15)
            self.kept.append(rows)
        elif way == 4:  # a part of an array changes the same simulations
            part, mine = getattr(gear, key)[::2], expected[::2]
            at = int(self.rng.integers(len(mine)))
            part[at:] = mine[at:] = value
        else:
            chosen = np.flatnonzero(self.rng.random(self.count) < 0.5)
            gear.set(sims=chosen, **{key: value})
            expected[chosen] = value

    def refuse(self):
        """A value that no gear takes, in some way of writing it."""
        name, key, value = (
            NAMES[self.rng.integers(2)],
            list(RANGES)[self.rng.integers(len(RANGES))],
            BAD[self.rng.integers(len(BAD))],
        )
        gear, before, way = self.gears[name], self.state().copy(), self.rng.integers(5)
        try:
            if way == 0:
                setattr(gear, key, value)
            elif way == 1:
                setattr(self.gears, key, value)
            elif way == 2:
                gear.set(**{"coulomb": 1.0, key: value} if key != "coulomb" else {"static_ratio": 1.2, key: value})
            elif way == 3 and self.count:
                getattr(gear, key)[self.index()] = value
            else:
                gear.set(sims=value, **{key: 1.0})
        except (mjgear.Error, TypeError, ValueError, IndexError, KeyError) as error:
            assert not isinstance(error, UnicodeError) and "\n\n" not in str(error)
            np.testing.assert_array_equal(self.state(), before)
        else:  # a coefficient may be negative, and no simulations may be chosen
            now = {place: np.array(self.gears[place[0]][place[1]]) for place in self.expected}
            assert all(np.isfinite(found).all() for found in now.values())
            self.expected = now

    def objects(self):
        way = self.rng.integers(4)
        if way == 0 and not self.count:
            self.gears = pickle.loads(pickle.dumps(self.gears))
            self.data, self.model = self.gears._data, self.gears._model
        elif way == 1 and not self.count:
            self.gears = copy.deepcopy(self.gears)
            self.data, self.model = self.gears._data, self.gears._model
        elif way == 2:
            texts = []
            threads = [threading.Thread(target=lambda: texts.append(str(self.gears))) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(texts) == 8 and len(set(texts)) == 1
        else:
            self.kept.clear()
            gc.collect()

    def move(self):
        """From the start, as a model with these numbers does."""
        for k in range(max(self.count, 1)):
            model = make({place: float(np.ravel(value)[k]) for place, value in self.expected.items()})
            one, other = (self.data.get_data(k) if self.count else self.data), mujoco.MjData(model)
            one.ctrl[:] = other.ctrl[:] = 40 * self.rng.normal(size=2)
            one.qvel[:] = other.qvel[:] = self.rng.normal(size=2)
            mujoco.mj_step(self.data.get_model(k) if self.count else self.model, one, 30)
            mujoco.mj_step(model, other, 30)
            np.testing.assert_allclose(one.qpos, other.qpos, rtol=1e-9, atol=1e-9)

    def run(self):
        for _ in range(int(self.rng.integers(5, 40))):
            (self.change, self.change, self.refuse, self.objects)[self.rng.integers(4)]()
            self.check()
        self.move()


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else None
    seed = int(os.environ.get("MJGEAR_SEED") or (np.random.SeedSequence().entropy % 2**32 if seconds else 1))
    print(f"MJGEAR_SEED={seed}", flush=True)
    begin, count = time.monotonic(), 0
    while time.monotonic() - begin < seconds if seconds else count < 15:
        try:
            Round(np.random.default_rng([seed, count])).run()
        except BaseException:
            print(f"round {count}")
            raise
        count += 1
    print(f"{count} rounds")


if __name__ == "__main__":
    main()
