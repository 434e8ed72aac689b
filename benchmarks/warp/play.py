"""Plays a scene with MuJoCo and with MuJoCo Warp, from the same states and with the same inputs."""

import dataclasses

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp

import mjgear
import mjgear.warp

wp.config.quiet = True

SIZES = {"nconmax": 64, "njmax": 256}


@dataclasses.dataclass
class Run:
    """Positions and velocities after each step (steps, nq), (steps, nv)."""

    model: mujoco.MjModel
    q: np.ndarray
    v: np.ndarray
    gears: object = None
    before: list = dataclasses.field(default_factory=list)  # qpos, qvel, ctrl, xfrc_applied, mocap_pos, time
    status: np.ndarray | None = None  # of each step, and power of each gear, where it was asked for
    power: np.ndarray | None = None
    friction: np.ndarray | None = None  # of the gears of the plugin, in the order of its joints

    def dofs(self, names):
        return np.array([self.model.joint(name).dofadr[0] for name in names])

    def addresses(self, names):
        return np.array([self.model.joint(name).qposadr[0] for name in names])


def _state(d):
    return [x.copy() for x in (d.qpos, d.qvel, d.ctrl, d.xfrc_applied, d.mocap_pos)] + [d.time]


def engine(scene, geared=True, steps=None):
    """MuJoCo, with the plugin if geared; for some steps, or as long as the scene takes."""
    m = scene.model(geared)
    d = mujoco.MjData(m)
    scene.start(m, d)
    run = Run(m, [], [], friction=[])
    gears = list(mjgear.Gears(m, d).values()) if geared else []
    for _ in range(steps or round(scene.duration / m.opt.timestep)):
        scene.input(m, d)
        run.before.append(_state(d))
        mujoco.mj_step(m, d)
        run.q.append(d.qpos.copy())
        run.v.append(d.qvel.copy())
        run.friction.append([gear.friction for gear in gears])
    run.q, run.v, run.friction = np.array(run.q), np.array(run.v), np.array(run.friction)
    return run


def engine_steps(scene, before):
    """MuJoCo without gears, one step from each of the states."""
    m = scene.model(False)
    d = mujoco.MjData(m)
    run = Run(m, [], [])
    for state in before:
        d.qpos[:], d.qvel[:], d.ctrl[:], d.xfrc_applied[:], d.mocap_pos[:], d.time = state
        mujoco.mj_step(m, d)
        run.q.append(d.qpos.copy())
        run.v.append(d.qvel.copy())
    run.q, run.v = np.array(run.q), np.array(run.v)
    return run


class Worlds:
    """The worlds of a scene in MuJoCo Warp and a captured step."""

    def __init__(self, scene, geared=True, nworld=1, gears=mjgear.warp.Gears, **options):
        self.host_model = scene.model(geared)
        self.host = mujoco.MjData(self.host_model)
        self._start = scene.start
        self._start(self.host_model, self.host)
        package = mjgear.warp if geared else mjw
        self.model = package.put_model(self.host_model)
        self.data = package.put_data(self.host_model, self.host, nworld=nworld, **SIZES)
        self.gears = gears(self.model, self.data, **options) if geared else None
        d = self.data
        # on the CPU these are the arrays themselves
        self.ctrl, self.xfrc, self.mocap = d.ctrl.numpy(), d.xfrc_applied.numpy(), d.mocap_pos.numpy()
        self.q, self.v, self.time = d.qpos.numpy(), d.qvel.numpy(), d.time.numpy()
        self._first = [wp.clone(x) for x in self._states()]
        mjw.step(self.model, self.data)  # compiles
        with wp.ScopedCapture() as capture:
            mjw.step(self.model, self.data)
        self.graph = capture.graph
        self.reset()

    def _states(self):
        d = self.data
        return [d.qpos, d.qvel, d.act, d.qacc_warmstart, d.time]

    def reset(self):
        for x, first in zip(self._states(), self._first):
            wp.copy(x, first)
        if self.gears:
            self.gears.unsettled.zero_()
        mujoco.mj_resetData(self.host_model, self.host)
        self._start(self.host_model, self.host)

    def step(self):
        wp.capture_launch(self.graph)

    def set(self, ctrl, xfrc, mocap, world=0):
        if len(ctrl):
            self.ctrl[world] = ctrl
        self.xfrc[world] = xfrc
        if len(mocap):
            self.mocap[world] = mocap


def warp(scene, geared=True, worlds=None, **options):
    """MuJoCo Warp, running freely with the inputs of the scene, in existing worlds or in new ones."""
    worlds = worlds or Worlds(scene, geared, **options)
    worlds.reset()
    m, h = worlds.host_model, worlds.host
    run = Run(m, [], [], worlds.gears)
    for i in range(round(scene.duration / m.opt.timestep)):
        h.time = i * m.opt.timestep
        scene.input(m, h)
        worlds.set(h.ctrl, h.xfrc_applied, h.mocap_pos)
        worlds.step()
        h.qpos[:], h.qvel[:] = worlds.q[0], worlds.v[0]
        run.q.append(h.qpos.copy())
        run.v.append(h.qvel.copy())
    run.q, run.v = np.array(run.q), np.array(run.v)
    return run


def warp_steps(scene, before, geared=True, each=False, worlds=None, **options):
    """One step of MuJoCo Warp from each of the states, in existing worlds or in new ones. each: with status and power of each step."""
    worlds = worlds or Worlds(scene, geared, **options)
    worlds.reset()
    run = Run(worlds.host_model, [], [], worlds.gears, status=[], power=[])
    for q, v, ctrl, xfrc, mocap, time in before:
        worlds.set(ctrl, xfrc, mocap)
        worlds.q[0], worlds.v[0], worlds.time[0] = q, v, time
        worlds.step()
        run.q.append(worlds.q[0].copy())
        run.v.append(worlds.v[0].copy())
        if each:
            run.status.append(worlds.gears.status.numpy()[0, 0])
            run.power.append(worlds.gears.power_loss.numpy()[0].copy())
    run.q, run.v, run.status, run.power = (np.array(x) for x in (run.q, run.v, run.status, run.power))
    return run
