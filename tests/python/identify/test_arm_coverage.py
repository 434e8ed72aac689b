"""Count how often the 95 % intervals of whole arms hold the truth, and how often the right friction is chosen. Arms drawn anew.

    test_arm_coverage.py DRAWS [LOGS]     100 draws take an hour and a half of one core; ./check --long runs them

Each of six joints draws its friction from made_up_arm.RUNGS. Torques have noise of 2 %, are quantized and up to 4 ms late; the
model's inertias are off by up to 10 %, torque constants by up to 5 %. Of the draws of each number at least 90 % must hold;
numbers of joints whose friction was not recognized count as missed. All six joints must be right in 90 % of the arms.
"""

import dataclasses
import sys
import time

import numpy as np

import made_up_arm
import made_up_servo
from mjgear.identify.arm import identify_logs, law


def truths(made):
    """JOINT.NUMBER and LINK.mass -> value."""
    found = {}
    for joint, f, scale, delay in zip(made_up_arm.JOINTS, made.joints, made.scale, made.delay):
        numbers = {k: v for k, v in dataclasses.asdict(f).items() if k not in ("rung", "viscous")}
        forward, backward = (1 - f.gamma_u) / (1 + f.gamma_v), (1 - f.gamma_v) / (1 + f.gamma_u)
        numbers |= {
            "damping": f.viscous,
            "torque_scale": 1 / scale,
            "delay": delay,
            "eta_forward": forward,
            "eta_backward": backward,
            "eta_product": forward * backward,
        }
        found |= {f"{joint}.{k}": v for k, v in numbers.items()}
    return found | {made.real.body(b).name + ".mass": made.real.body_mass[b] for b in range(1, made.real.nbody)}


def main():
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    logs = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    seed = made_up_servo.seed(fresh=True)
    print(f"MJGEAR_SEED={seed.entropy}, {draws} arms of {logs} logs")
    rng = np.random.default_rng(seed)
    hits, arms, joints, seconds = {}, 0, 0, []
    for k in range(draws):
        made, made_logs = made_up_arm.draw(rng, logs=logs, seconds=12.0, noise=0.02)
        start = time.process_time()
        found = identify_logs(made.spec, made_up_arm.JOINTS, made_logs, inertia_tolerance=0.1, torque_tolerance=0.05)
        seconds.append(time.process_time() - start)
        right = {
            j: rung.terms == made_up_arm.RUNGS[f.rung]
            for j, rung, f in zip(made_up_arm.JOINTS, found.rungs, made.joints)
        }
        wrong = [
            f"{j} {f.rung} taken for {law.title(r.terms)}"
            for j, f, r in zip(made_up_arm.JOINTS, made.joints, found.rungs)
            if not right[j]
        ]
        arms += all(right.values())
        joints += sum(right.values())
        for name, value in truths(made).items():
            i = found.found.numbers.get(name)
            if i is not None:
                owner, number = name.rsplit(".", 1)
                hits.setdefault(number, []).append(right.get(owner, True) and i.low <= value <= i.high)
        print(
            f"arm {k}: {seconds[-1]:.0f} s of a core; {'; '.join(wrong) or 'all six frictions are right'}", flush=True
        )
    failed = arms < 0.9 * draws
    print(
        f"all six frictions right in {arms} of {draws} arms, {joints} of {6 * draws} joints; {np.mean(seconds):.0f} s of a core each, {max(seconds):.0f} s at most"
    )
    for number, held in hits.items():
        failed |= sum(held) < 0.9 * len(held)
        print(f"{number:<20}{sum(held):>5} of {len(held):<5} {100 * np.mean(held):.1f} %")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
