"""Two stages in a row as one gear, as doc/drive_trains.md says, against a chain that is solved stage by stage."""

import itertools
import os

import mujoco
import numpy as np

import mjgear  # noqa: F401  registers the plugin

H = 0.001
MODEL = """<mujoco><option timestep='.001' gravity='0 0 0'/><extension><plugin plugin='mjgear.transmission'><instance name='g'>
<config key='joint' value='j'/><config key='eta_forward' value='{}'/><config key='eta_backward' value='{}'/></instance></plugin></extension>
<worldbody><body><joint name='j' type='slide' axis='1 0 0' armature='{}'/><geom size='.1' mass='{}'/></body></worldbody><actuator><motor joint='j'/></actuator></mujoco>"""


def chain(
    v: float, f_u: float, f_v: float, m: float, J: float, M: float, stages: list[tuple[float, float]]
) -> list[float]:
    """Velocities after a step of motor m, stage, shaft J, stage, link M that moves, every piece tried."""
    found = []
    for s, *drives in itertools.product((1, -1), (True, False), (True, False)):
        # out = eta_f in if the motor drives, in = eta_b out if not; all torques are lines A - B a of the acceleration
        A, B, fits = f_u, m, []
        for k, (eta_f, eta_b) in enumerate(stages):
            gain = eta_f if drives[k] else 1 / eta_b
            fits.append((A, B, gain, drives[k]))
            A, B = gain * A, gain * B + (J if k == 0 else M)
        a = (A - f_v) / B
        after = v + H * a
        power = [(u - b * a) * s for u, b, _, _ in fits]
        # a stage that the motor drives has power into it, one that the load drives has power out of it on the other side
        right = [p >= 0 if d else g * p <= 0 for p, (_, _, g, d) in zip(power, fits, strict=True)]
        if s * after > 0 and all(right):
            found.append(after)
    return found


def test_product() -> None:
    rng = np.random.default_rng(1)
    moved, locked = 0, 0
    for _ in range(300):
        stages = [(eta := rng.uniform(0.4, 0.95), rng.uniform(-0.5, eta)) for _ in range(2)]
        if rng.uniform() < 0.5:
            stages = [(f, abs(b)) for f, b in stages]
        (f1, b1), (f2, b2) = stages
        m, M = rng.uniform(0.1, 2), rng.uniform(0.5, 3)
        model = mujoco.MjModel.from_xml_string(MODEL.format(f1 * f2, b1 * b2 if b2 >= 0 else b2 / f1, m, M))
        data = mujoco.MjData(model)
        for _ in range(20):
            v = data.qvel[0] = rng.choice([0, rng.normal() * 0.01])
            f_u, f_v = data.ctrl[0], data.qfrc_applied[0] = 10 * rng.normal(), -10 * rng.normal()
            mujoco.mj_step(model, data)
            steps = chain(v, f_u, -f_v, m, 0, M, stages)
            if len(steps) > 1:
                continue  # a chain that locks may have several motions
            expected = steps[0] if steps else 0.0
            assert abs(data.qvel[0] - expected) <= 1e-13, (stages, v, f_u, f_v, data.qvel[0], steps)
            moved += bool(steps)
            locked += min(b1, b2) < 0 and not steps
    assert moved > 1000 and locked > 100, (moved, locked)


def test_shaft() -> None:
    """Effective inertia of the shaft in front of both stages, and the error of m + J."""
    stages, m, J, M = [(0.6, 0.4), (0.8, 0.7)], 1.0, 0.1, 2.0
    up, down = 0.6 * 0.8, 0.4 * 0.7
    (lifts,) = chain(0.1, 50, 10, m, J, M, stages)
    (lowers,) = chain(-0.1, 0, 10, m, J, M, stages)
    assert abs(lifts - 0.1 - H * (up * 50 - 10) / (M + up * (m + J / 0.6))) < 1e-15
    assert abs(lowers + 0.1 + H * 10 / (M + (m + 0.4 * J) / down)) < 1e-15
    for inertia in (m + J / 0.6, m + 0.4 * J):
        assert abs(inertia - m - J) <= 0.067 * m
    for v, f_u, expected in ((0.1, 50, lifts), (-0.1, 0, lowers)):
        model = mujoco.MjModel.from_xml_string(MODEL.format(up, down, m + J, M))
        data = mujoco.MjData(model)
        data.qvel[0], data.ctrl[0], data.qfrc_applied[0] = v, f_u, -10
        mujoco.mj_step(model, data)
        assert abs(data.qvel[0] - expected) <= 0.06 * abs(expected - v)


if __name__ == "__main__":
    test_product()
    test_shaft()
    os._exit(0)
