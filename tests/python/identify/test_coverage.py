"""Count how often the 95 % intervals hold the truth. Made-up servos, each on a bench of eight logs, with a wrong torque constant.

    test_coverage.py [DRAWS]     8 without an argument; 100 take a quarter of an hour of one core

Of 100 draws, which are new in every run, at least 90 % of each number must hold. ./check makes the same 8 draws in every run. At least 3 must
hold for each number: 95 % intervals fail this with a chance of 1e-5. Intervals a fifth as wide hold in 1 to 3 of them.
"""

import dataclasses
import sys

import numpy as np
from scipy.special import bdtr

import made_up_servo
from mjgear import identify
from mjgear.identify.intervals import derived

TOLERANCE = 0.05  # tolerance of the torque constant


def cover(draws, rng, replicates, starts, made_step, step):
    """number -> (draws) True if its interval holds the truth. made_step: step of the logs' simulation, s; step: step of the fit, s."""
    servos = [made_up_servo.draw(rng) for _ in range(draws)]
    logs = made_up_servo.measure([run for s in servos for run in made_up_servo.bench_plan(s)], rng, step=made_step)
    hits = {}
    for k, servo in enumerate(servos):
        wrong = servo.torque_constant * (1 + rng.uniform(-TOLERANCE, TOLERANCE))
        machine = identify.Servo("made up", drive="current", error_gain=1.0, torque_constant=wrong)
        bench = identify.Pendulum(logs[8 * k : 8 * k + 8], machine, fit=("delay",), step=step)
        bench.noise = 0.005
        fit = identify.fit(bench, identify.MODELS["gamma"], identify.Budget(starts=starts))
        found = identify.intervals(bench, fit, replicates, {"torque_constant": TOLERANCE}, seed=k)
        truth = dataclasses.asdict(servo)
        truth |= derived(truth)
        for name, i in found.items():
            hits.setdefault(name, []).append(i.low <= truth[name] <= i.high)
        misses = [f"{n} {truth[n]:.4g} not in {i.low:.4g} to {i.high:.4g}" for n, i in found.items() if not hits[n][-1]]
        print(f"servo {k}: {'; '.join(misses) or 'all hold'}", flush=True)
    return hits


def main():
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    long = draws >= 50
    seed = made_up_servo.seed(fresh=long)
    print(f"MJGEAR_SEED={seed.entropy}, {draws} servos")
    effort = (
        {"replicates": 60, "starts": 2, "made_step": 1e-4, "step": 1e-3}
        if long
        else {"replicates": 16, "starts": 1, "made_step": 2e-4, "step": 5e-3}
    )
    hits = cover(draws, np.random.default_rng(seed), **effort)
    needed = 0.9 * draws if long else np.searchsorted(bdtr(np.arange(draws), draws, 0.95), 1e-5)
    failed = 0
    for name, held in hits.items():
        ok = sum(held) >= needed
        failed |= not ok
        print(f"{name:<28} {sum(held)} of {draws}{'' if ok else f', needed {needed:g}'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
