"""The law of gears, checked in bulk with the engine's own velocities.

a = (v+ - v)/h. u = tau - S a, with tau the torque of actuators on joints and fixed tendons, S the rotor inertia and the implicit terms of actuators. S is computed from their definition, because
the engine's derivative drops entries between branches with implicitfast and implicit. lambda = (gamma_u + gamma_v) u - gamma_v t. Then

    wrong     t v+ < 0
    beyond    |t| > |lambda| + c with the constant friction c, or |t| < |lambda| + c while the joint moves

The friction t is the part of the geared model's passive forces beyond springs, dampers, gravity compensation and fluid. Behind a gap u and
t belong to the rotor; a sensor gives its velocity. The torque T on the link is the engine's force on the joint. Also

    pulls     T acts where both sides are apart during the whole step, or pulls where they touch
"""

import mujoco
import numpy as np

# tolerances, relative to the terms of the law
SIGN, BOUND, MOVES = 1e-6, 1e-5, 1e-6
NEIGHBOURS = 1e-5  # terms of the whole robot that count in the rounding errors of each joint
# round-off of the sixteen terms that a joint's balance sums (eight forces, four terms of a servo, two of a shaft, u and t), over the smallest
# tolerance: servo and shaft are differences, whose terms may be much larger than the torques
ROUNDING = 16 * np.finfo(float).eps / SIGN
ROTOR_ANGLE, ROTOR_VELOCITY = 7, 8
DISCRETE = 4


class Unchecked(Exception):
    """The robot has actuators that are not understood here."""


def _drives(model, i):
    """Return True if an actuator turns the gears of its joints: it acts on a joint or a fixed tendon. Others act on links."""
    kind, target = mujoco.mjtTrn(model.actuator_trntype[i]), model.actuator_trnid[i, 0]
    if kind == mujoco.mjtTrn.mjTRN_TENDON:
        return model.wrap_type[model.tendon_adr[target]] == mujoco.mjtWrap.mjWRAP_JOINT
    return kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)


class Law:
    """Data of a geared model for the check, made once a run."""

    def __init__(self, model, gear, sensors):
        """gear: robots.GEARS; sensors: addresses of the numbers of each geared joint in sensordata."""
        self.model, self.gear, self.sensors = model, gear, np.asarray(sensors, dtype=int)
        ids = [i for i in range(model.nsensor) if int(model.sensor_adr[i]) in set(sensors)]
        self.joint = np.array([model.sensor_objid[i] for i in ids], dtype=int)
        self.dof = model.jnt_dofadr[self.joint]
        self.powered = not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_ACTUATION
        self.discrete = model.opt.integrator == DISCRETE
        # inertia of actuators; PGS leaves it out under "discrete"
        self.implicit = (
            self.powered
            and model.opt.integrator in (2, 3, DISCRETE)
            and not (self.discrete and model.opt.solver == mujoco.mjtSolver.mjSOL_PGS)
        )
        self.rows = self._rows()

    def _rows(self):
        """Actuators with gains: (actuator, dofs, pairs of dofs that the integrator's matrix has), and
        which rotors can be followed."""
        model = self.model
        above = np.eye(model.nv, dtype=bool)  # dofs that move the body of a dof
        for i, parent in enumerate(model.dof_parentid):
            if parent >= 0:
                above[i] |= above[parent]
        kept = np.ones_like(above) if self.discrete else above | above.T
        fixed, affine = int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtGain.mjGAIN_AFFINE)
        known = {int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)}
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        rows, through, self.loads = [], set(), []
        if model.nu != model.nactuator or (model.actuator_outnum != 1).any():
            raise Unchecked("an actuator with several controls or outputs")
        for i in range(model.nactuator):
            gain, bias = int(model.actuator_gaintype[i]), int(model.actuator_biastype[i])
            if gain not in (fixed, affine) or bias not in known:
                raise Unchecked(f"actuator {i} has gain {gain}, bias {bias}")
            if not _drives(model, i):
                self.loads.append(i)
                continue
            a, n = int(data.moment_rowadr[i]), int(data.moment_rownnz[i])
            dofs = data.moment_colind[a : a + n].copy()
            if mujoco.mjtTrn(model.actuator_trntype[i]) not in (
                mujoco.mjtTrn.mjTRN_JOINT,
                mujoco.mjtTrn.mjTRN_JOINTINPARENT,
            ):
                through |= set(dofs.tolist())
            if gain == affine or model.actuator_biasprm[i, 1:3].any():
                rows.append((i, dofs, kept[np.ix_(dofs, dofs)]))
        self.followed = np.array([d not in through for d in self.dof], dtype=bool)
        if (model.jnt_actuatorid != -1).any() or (model.tendon_actuatorid != -1).any():
            raise Unchecked("actuators with damping or armature of their own")
        return rows

    def _gains(self, episode):
        """Position and velocity gains of the actuators that act in each step (two of n x rows), 0 at their limits."""
        model, before, after = self.model, episode.before, episode.after
        kp, kv = np.zeros((episode.n, len(self.rows))), np.zeros((episode.n, len(self.rows)))
        for k, (i, *_) in enumerate(self.rows):
            force = after["actuator_force"][:, i]
            acts = np.ones(episode.n, dtype=bool)
            if model.actuator_forcelimited[i]:
                acts &= (force > model.actuator_forcerange[i, 0]) & (force < model.actuator_forcerange[i, 1])
            kind, target = mujoco.mjtTrn(model.actuator_trntype[i]), model.actuator_trnid[i, 0]
            if (
                kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
                and model.jnt_actfrclimited[target]
            ):
                torque = after["qfrc_actuator"][:, model.jnt_dofadr[target]]
                acts &= (torque > model.jnt_actfrcrange[target, 0]) & (torque < model.jnt_actfrcrange[target, 1])
            adr = model.actuator_actadr[i]
            signal = before["ctrl"][:, i] if adr < 0 else before["act"][:, adr + model.actuator_actnum[i] - 1]
            if mujoco.mjtBias(model.actuator_biastype[i]) == mujoco.mjtBias.mjBIAS_AFFINE:
                kp[:, k] -= model.actuator_biasprm[i, 1]
                kv[:, k] -= model.actuator_biasprm[i, 2]
            if mujoco.mjtGain(model.actuator_gaintype[i]) == mujoco.mjtGain.mjGAIN_AFFINE:
                kp[:, k] -= model.actuator_gainprm[i, 1] * signal
                kv[:, k] -= model.actuator_gainprm[i, 2] * signal
            kp[~acts, k] = kv[~acts, k] = 0
        if self.discrete:
            return np.maximum(kp, 0), np.maximum(kv, 0)
        return 0 * kp, kv

    def _moments(self, episode):
        """Moments of actuators (n x nactuator x nv); the dofs of adhesion change with each step."""
        result, after = np.zeros((episode.n, self.model.nactuator, self.model.nv)), episode.after
        for k in range(episode.n):
            rows = np.repeat(np.arange(self.model.nactuator), after["moment_rownnz"][k].astype(int))
            result[k, rows, after["moment_colind"][k, : rows.size].astype(int)] = after["actuator_moment"][
                k, : rows.size
            ]
        return result

    def _implicit(self, episode, moments, a, v):
        """Effect of actuators at accelerations a and velocities v (both n x nv): S a, and the torque that a velocity
        changes at the start of the step."""
        take, shift, h = np.zeros_like(a), np.zeros_like(a), self.model.opt.timestep
        if not self.implicit or not self.rows:
            return take, shift
        kp, kv = self._gains(episode)
        for k, (i, dofs, kept) in enumerate(self.rows):
            moment = moments[:, i, dofs]
            scale = h * kv[:, k] + h * h * kp[:, k]
            take[:, dofs] += scale[:, None] * moment * ((moment * a[:, dofs]) @ kept)
            shift[:, dofs] -= (h * kp[:, k] * (moment * v[:, dofs]).sum(1))[:, None] * moment
        return take, shift

    def _servo_terms(self, episode, moments):
        """Sum of the absolute values of the terms of servo forces, at the dofs (n x nv)."""
        model, before = self.model, episode.before
        scalar = np.isin(
            model.jnt_type[model.dof_jntid], (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        )
        q = np.abs(before["qpos"][:, model.jnt_qposadr[model.dof_jntid]]) * scalar
        terms = np.zeros_like(before["qvel"])
        for i in range(model.nactuator):
            adr, moment = model.actuator_actadr[i], np.abs(moments[:, i])
            signal = np.abs(before["ctrl"][:, i] if adr < 0 else before["act"][:, adr + model.actuator_actnum[i] - 1])
            # of 1, length and velocity
            values = np.array([np.ones(episode.n), (moment * q).sum(1), (moment * np.abs(before["qvel"])).sum(1)])
            gain, bias = (np.abs(prm[i, :3]) @ values for prm in (model.actuator_gainprm, model.actuator_biasprm))
            terms += (gain * signal + bias)[:, None] * moment
        return terms

    def check(self, episode):
        """dict of wrong, beyond, pulls (n each, True where a joint breaks the law) and fed (n): energy that friction gave, J."""
        model, dof, h = self.model, self.dof, self.model.opt.timestep
        before, after = episode.before, episode.after
        gamma_u, gamma_v = self.gear["gamma_u"], self.gear["gamma_v"]
        v, v_next = before["qvel"], after["qvel"]
        a = (v_next - v) / h
        gravity = np.where(np.repeat(model.jnt_actgravcomp == 0, self._dofs()), 1, 0) * after["qfrc_gravcomp"]
        base = after["qfrc_spring"] + after["qfrc_damper"] + after["qfrc_fluid"] + gravity
        t = (base - after["qfrc_passive"])[:, dof]
        moments = self._moments(episode)
        take, shift = self._implicit(episode, moments, a, v)
        tau = after["qfrc_actuator"].copy() if self.powered else np.zeros_like(a)
        for i in self.loads if self.powered else ():
            tau -= moments[:, i] * after["actuator_force"][:, [i]]
        inertia = model.dof_armature[dof]
        u = (tau + shift - take)[:, dof] - inertia * a[:, dof]
        own = sum(
            np.abs(x)
            for x in (
                tau,
                take,
                shift,
                model.dof_armature * a,
                base,
                after["qfrc_passive"],
                after["qfrc_constraint"],
                after["qfrc_bias"],
            )
        )
        terms = (own + self._servo_terms(episode, moments))[:, dof]
        scale = own[:, dof] + NEIGHBOURS * own.max(1)[:, None] + ROUNDING * terms
        w, weight = v_next[:, dof], model.dof_M0[dof]
        fast = h * scale / weight + np.abs(v[:, dof])
        pulls = np.zeros(episode.n, dtype=bool)
        checked = np.ones(len(dof), dtype=bool)
        if self.gear["gap"]:
            T = u - t  # torque on the link
            rotor = after["sensordata"][:, self.sensors + ROTOR_VELOCITY]
            angle = after["sensordata"][:, self.sensors + ROTOR_ANGLE]
            rotor, before_rotor = rotor[1:], rotor[:-1]
            q = before["qpos"][:, model.jnt_qposadr[self.joint]]
            scale = scale + ROUNDING * (
                self.gear["stiffness"] * (np.abs(angle[:-1]) + np.abs(q))
                + self.gear["damping"] * (np.abs(rotor) + np.abs(v_next[:, dof]))
            )
            pulls = self._pulls(episode, T, rotor, before_rotor, angle, scale)
            speed, rate = np.zeros_like(a), np.zeros_like(a)
            speed[:, dof], rate[:, dof] = before_rotor, (rotor - before_rotor) / h
            take, shift = self._implicit(episode, moments, rate, speed)
            u = (tau + shift - take)[:, dof] - self.gear["rotor"] * rate[:, dof]
            t = u - T
            u = t + T
            scale = scale + np.abs(take[:, dof]) + np.abs(self.gear["rotor"] * rate[:, dof]) + np.abs(shift[:, dof])
            w, weight = rotor, self.gear["rotor"]
            fast = h * scale / weight + np.abs(before_rotor)
            checked = self.followed
        bound = np.abs((gamma_u + gamma_v) * u - gamma_v * t) + self.gear["coulomb"]
        moves = np.abs(w) > MOVES * fast
        wrong = (t * np.sign(w) < -SIGN * scale) & moves
        beyond = np.abs(t) > bound + BOUND * scale
        beyond |= moves & (np.abs(np.abs(t) - bound) > BOUND * scale)
        fed = np.maximum(-(t * w * h), 0) * wrong
        return dict(
            wrong=(wrong & checked).any(1),
            beyond=(beyond & checked).any(1),
            pulls=pulls,
            fed=(fed * checked).sum(1),
            moving=(moves & checked).sum(),
        )

    def _dofs(self):
        return [{0: 6, 1: 3}.get(int(t), 1) for t in self.model.jnt_type]

    def _pulls(self, episode, T, rotor, before_rotor, angle, scale):
        """Return True if the shaft acts across an open gap, or pulls. Its angle is between the angle at the step's begin and the angle
        after the engine's step, for any mean of them in its law."""
        dof, h = self.dof, self.model.opt.timestep
        start = angle[:-1] - episode.before["qpos"][:, self.model.jnt_qposadr[self.joint]]
        old, new = before_rotor - episode.before["qvel"][:, dof], rotor - episode.after["qvel"][:, dof]
        end = start + h * new
        # a damped shaft touches early, by the time that it takes to relax
        reach = (h + self.gear["damping"] / self.gear["stiffness"]) * np.maximum(np.abs(new), np.abs(old))
        low, high = np.minimum(start, end) - reach, np.maximum(start, end) + reach
        alpha, slack = self.gear["half_gap"], BOUND * scale
        open_gap = (low > -alpha) & (high < alpha)
        return (
            (open_gap & (np.abs(T) > slack)) | ((low > alpha) & (T < -slack)) | ((high < -alpha) & (T > slack))
        ).any(1)
