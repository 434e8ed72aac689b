"""Arms of six joints that do not exist, for tests of the identification of whole arms.

Motions are Fourier series, so that velocities and accelerations are exact. MuJoCo's own inverse dynamics gives the torque of
the links. The torque of the motor is the root of the friction law of doc/theory.md, found by bisection. The logs are those
of a real robot: quantized, noisy, late, with a wrong torque constant, and with a model of other inertias.
"""

import dataclasses

import mujoco
import numpy as np

from mjgear.identify.arm.logs import ArmLog

JOINTS = ("j1", "j2", "j3", "j4", "j5", "j6")
RUNGS = {
    "native": frozenset(),
    "curved": frozenset({"curved"}),
    "stribeck": frozenset({"stribeck"}),
    "gear": frozenset({"load"}),
    "gear + curved": frozenset({"load", "curved"}),
    "gear + stribeck": frozenset({"load", "stribeck"}),
    "quadratic": frozenset({"load", "stribeck", "quadratic"}),
}
SAMPLE = 0.002  # s
GAINS = np.array([40.0, 4.0])  # gains of position and speed, in units of the torque of each joint


@dataclasses.dataclass
class Friction:
    """Parameters of one joint; names are the plugin's, curved is N m (s/rad)^2."""

    rung: str
    armature: float
    coulomb: float
    viscous: float
    gamma_u: float = 0.0
    gamma_v: float = 0.0
    curved: float = 0.0
    stribeck_friction: float = 0.0
    stribeck_velocity: float = 1.0
    gamma_stribeck: float = 0.0
    gamma_quadratic: float = 0.0


@dataclasses.dataclass
class Made:
    """An arm: its true parameters, and its maker's model."""

    real: mujoco.MjModel
    model: mujoco.MjModel
    spec: mujoco.MjSpec
    joints: list
    scale: np.ndarray
    delay: np.ndarray
    gains: np.ndarray  # (2, joints) of position and speed, at the output side


def spec(rng, lengths=None):
    """An arm of about a metre, six hinges, its links as capsules and a hand."""
    made = mujoco.MjSpec()
    made.option.timestep = 0.001
    axes = ([0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0])
    lengths = (0.15, 0.4, 0.25, 0.15, 0.1, 0.08)
    radius = (0.08, 0.06, 0.05, 0.045, 0.04, 0.035)
    parent, place = made.worldbody, [0, 0, 0.3]
    for k, (name, axis) in enumerate(zip(JOINTS, axes)):
        length = lengths[k] * rng.uniform(0.85, 1.15)
        body = parent.add_body(name=f"link{k + 1}", pos=place)
        body.add_joint(name=name, axis=axis, armature=0.0)
        along = [0, 0, length] if k == 0 else [length, 0, 0]
        off = rng.uniform(-0.02, 0.02, 3) * (k > 0)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=[*off, *along],
            size=[radius[k], 0, 0],
            density=2000 * rng.uniform(0.7, 1.3),
            contype=0,
            conaffinity=0,
        )
        parent, place = body, along
    parent.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[0.08, 0.05 * rng.uniform(0.5, 1.5), 0.02],
        size=[0.05, 0.04, 0.03],
        mass=rng.uniform(1.0, 2.5),
        contype=0,
        conaffinity=0,
    )
    return made


def perturb(made, rng, tolerance):
    """The same arm with masses, centres and inertias changed by up to a tolerance; centres by that part of the gyration radius."""
    other = made.copy()
    model = other.compile()
    for body in other.bodies[1:]:
        b = model.body(body.name)
        mass, inertia = float(b.mass[0]), np.array(b.inertia)
        radius = np.sqrt(inertia.sum() / 2 / mass)
        factor = 1 + rng.uniform(-tolerance, tolerance)
        body.explicitinertial = True
        body.mass = mass * factor
        body.inertia = inertia * factor * (1 + 0.5 * rng.uniform(-tolerance, tolerance))
        body.ipos = np.array(b.ipos) + radius * rng.uniform(-tolerance, tolerance, 3) / np.sqrt(3)
        body.iquat = np.array(b.iquat)
        for geom in body.geoms:
            geom.mass = 0
    return other


def fourier(rng, seconds, speed=1.0, size=0.9):
    """Positions, velocities, accelerations (n, 6) of a random series of five harmonics."""
    t = SAMPLE * np.arange(round(seconds / SAMPLE))
    w = 2 * np.pi * rng.uniform(0.09, 0.12) * speed
    q, v, a = np.zeros((3, t.size, 6))
    middle = rng.uniform(-0.5, 0.5, 6)
    for j in range(6):
        c, s = rng.standard_normal((2, 5))
        k = np.arange(1, 6)
        phase = w * k * t[:, None]
        q0 = np.sin(phase) @ c + np.cos(phase) @ s
        v0 = (np.cos(phase) * w * k) @ c - (np.sin(phase) * w * k) @ s
        a0 = -(np.sin(phase) * (w * k) ** 2) @ c - (np.cos(phase) * (w * k) ** 2) @ s
        scale = size / np.max(np.abs(q0))
        q[:, j], v[:, j], a[:, j] = middle[j] + scale * q0, scale * v0, scale * a0
    return q, v, a


def links(model, q, v, a):
    """(n, 6) torque that the links take, from MuJoCo."""
    data = mujoco.MjData(model)
    out = np.empty_like(q)
    for k in range(q.shape[0]):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k], v[k], a[k]
        mujoco.mj_inverse(model, data)
        out[k] = data.qfrc_inverse
    return out


def motor(x, v, a, f):
    """Torque of the motor: the root u of u - x = s (|gamma_u u + gamma_v x| + c), and m a."""
    s = np.sign(v)
    x = x + f.viscous * v + f.curved * v * np.abs(v)
    S = np.exp(-((v / f.stribeck_velocity) ** 2))
    gu, gv = f.gamma_u + S * f.gamma_stribeck, f.gamma_v + S * f.gamma_stribeck
    c = f.coulomb + S * f.stribeck_friction

    def excess(u):
        both = u * x > 0
        u_more = np.abs(u) > np.abs(x)
        more_v = np.where(both & u_more, S * f.gamma_quadratic * np.abs(x), 0.0)
        more_u = np.where(both & ~u_more, S * f.gamma_quadratic * np.abs(u), 0.0)
        return u - x - s * (np.abs((gu + more_u) * u + (gv + more_v) * x) + c)

    far = 20 * (np.abs(x) + c + 1)
    low, high = -far, far
    for _ in range(80):
        middle = (low + high) / 2
        above = excess(middle) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2 + f.armature * a


def draw_friction(rng, rung, torque, inertia, fastest):
    """Friction of a joint that carries a torque (root mean square, N m)."""
    f = Friction(
        rung,
        armature=inertia * rng.uniform(0.3, 1.0),
        coulomb=torque * rng.uniform(0.06, 0.2),
        viscous=torque / fastest * rng.uniform(0.06, 0.2),
    )
    terms = RUNGS[rung]
    if "load" in terms:
        f.gamma_u, f.gamma_v = rng.uniform(0.02, 0.12), rng.uniform(0.06, 0.3)
    if "curved" in terms:
        f.curved = f.viscous / fastest * rng.uniform(0.4, 1.0) * rng.choice([-0.6, 1.0])
    if "stribeck" in terms:
        f.stribeck_friction = f.coulomb * rng.uniform(0.5, 1.2)
        f.stribeck_velocity = fastest * rng.uniform(0.04, 0.12)
    if "quadratic" in terms:
        f.gamma_stribeck = rng.uniform(0.05, 0.12)
        f.gamma_quadratic = rng.uniform(0.05, 0.15) / torque
    return f


def draw(
    rng,
    rungs=None,
    inertia_tolerance=0.1,
    scale_tolerance=0.05,
    seconds=15.0,
    logs=8,
    noise=0.01,
    loads=(0.0, 2.0),
    still=(),
):
    """An arm and its logs, half of them with a payload.

    Args:
      rungs: names of RUNGS, one a joint; None: drawn.
      noise: of the torques, of their size.
      still: numbers of joints that are held.
    """
    real_spec = spec(rng)
    real = real_spec.compile()
    given = perturb(real_spec, rng, inertia_tolerance)
    motions = [fourier(rng, seconds, speed=1.0 if k % 3 else 0.4) for k in range(logs)]
    for q, v, a in motions:
        for j in still:
            q[:, j], v[:, j], a[:, j] = 0.4, 0, 0
    payload = [loads[k % 2] for k in range(logs)]
    carried = []
    for mass in payload:
        loaded = real_spec.copy()
        if mass:
            loaded.body("link6").add_geom(
                type=mujoco.mjtGeom.mjGEOM_SPHERE,
                pos=[0.1, 0, 0.05],
                size=[1e-4, 0, 0],
                mass=mass,
                contype=0,
                conaffinity=0,
            )
        carried.append(loaded.compile())
    x = [links(model, *m) for model, m in zip(carried, motions)]
    torque = np.sqrt(np.mean(np.concatenate(x) ** 2, axis=0))
    fastest = np.max(np.abs(np.concatenate([m[1] for m in motions])), axis=0)
    hardest = np.sqrt(np.mean(np.concatenate([m[2] for m in motions]) ** 2, axis=0))
    fastest[list(still)] = hardest[list(still)] = 1
    names = [rungs[j] if rungs else str(rng.choice(list(RUNGS))) for j in range(6)]
    joints = [draw_friction(rng, names[j], torque[j], 0.3 * torque[j] / hardest[j], fastest[j]) for j in range(6)]
    scale = 1 + rng.uniform(-scale_tolerance, scale_tolerance, 6)
    delay = rng.uniform(0.0, 0.004, 6)
    made = []
    for k, (q, v, a) in enumerate(motions):
        tau = np.stack([scale[j] * motor(x[k][:, j], v[:, j], a[:, j], joints[j]) for j in range(6)], axis=1)
        t = SAMPLE * np.arange(len(q))
        late = np.stack([np.interp(t - delay[j], t, tau[:, j]) for j in range(6)], axis=1)
        size = np.sqrt(np.mean(tau**2, axis=0))
        # the goals of a position loop that commands these very torques
        goal = q + (tau / scale + GAINS[1] * torque * v) / (GAINS[0] * torque)
        late += noise * size * rng.standard_normal(late.shape)
        step = size / 500  # resolution of a driver
        late = np.round(late / step) * step
        counts = 2**18 / (2 * np.pi)
        seen = np.round((q + 1e-5 * rng.standard_normal(q.shape)) * counts) / counts
        facts = {"trajectory": f"{k}"}
        if payload[k]:
            facts |= {"payload": payload[k], "payload_x": 0.1, "payload_y": 0.0, "payload_z": 0.05}
        made.append(ArmLog(f"log{k}", SAMPLE, seen, late, goal=goal, facts=facts))
    return Made(real, given.compile(), given, joints, scale, delay, np.outer(GAINS, torque)), made
