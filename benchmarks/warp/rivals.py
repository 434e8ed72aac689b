"""Other ways to give MuJoCo Warp the friction of gears, for comparison: without a solver.

Each replaces mjgear.warp.Gears.
"""

import warp as wp

import mjgear.warp


@wp.kernel
def _bounds(
    dof: wp.array(dtype=int),
    lam: wp.array2d(dtype=wp.float32),
    coulomb: wp.array2d(dtype=wp.float32),
    adr: wp.array2d(dtype=int),
    frictionloss: wp.array2d(dtype=float),
):
    w, g = wp.tid()
    row = adr[w, dof[g]]
    if row >= 0:
        frictionloss[w, row] = wp.abs(lam[w, g]) + coulomb[w, g]


@wp.kernel
def _load(
    dof: wp.array(dtype=int),
    gamma_u: wp.array2d(dtype=wp.float32),
    gamma_v: wp.array2d(dtype=wp.float32),
    armature: wp.array2d(dtype=float),
    adr: wp.array2d(dtype=int),
    force: wp.array2d(dtype=float),
    qfrc_actuator: wp.array2d(dtype=float),
    qacc: wp.array2d(dtype=float),
    lam: wp.array2d(dtype=wp.float32),
):
    """lambda of the motion that was found."""
    w, g = wp.tid()
    i = dof[g]
    row = adr[w, i]
    t = float(0.0)
    if row >= 0:
        t = -force[w, row]
    u = qfrc_actuator[w, i] - armature[w % armature.shape[0], i] * qacc[w, i]
    lam[w, g] = (gamma_u[w, g] + gamma_v[w, g]) * u - gamma_v[w, g] * t


@wp.kernel
def _push(
    dof: wp.array(dtype=int),
    gamma_u: wp.array2d(dtype=wp.float32),
    gamma_v: wp.array2d(dtype=wp.float32),
    coulomb: wp.array2d(dtype=wp.float32),
    armature: wp.array2d(dtype=float),
    qfrc_actuator: wp.array2d(dtype=float),
    qacc: wp.array2d(dtype=float),
    qvel: wp.array2d(dtype=float),
    t: wp.array2d(dtype=wp.float32),
    qfrc_smooth: wp.array2d(dtype=float),
):
    """-sgn(v) (|lambda| + c) with the acceleration and the friction of the last step."""
    w, g = wp.tid()
    i = dof[g]
    u = qfrc_actuator[w, i] - armature[w % armature.shape[0], i] * qacc[w, i]
    lam = (gamma_u[w, g] + gamma_v[w, g]) * u - gamma_v[w, g] * t[w, g]
    v = qvel[w, i]
    t[w, g] = 0.0
    if v > 0.0:
        t[w, g] = wp.abs(lam) + coulomb[w, g]
    elif v < 0.0:
        t[w, g] = -wp.abs(lam) - coulomb[w, g]
    qfrc_smooth[w, i] -= t[w, g]


class _Rival(mjgear.warp.Gears):
    def __init__(self, model, data):
        integrator, flags = model.opt.integrator, model.opt.disableflags
        super().__init__(model, data)
        model.opt.integrator, model.opt.disableflags = integrator, flags
        self._lam32 = wp.zeros((data.nworld, self.n), dtype=wp.float32)

    def _find_load(self, m, d):
        wp.launch(
            _load,
            dim=(d.nworld, self.n),
            inputs=[
                self._dof, self.gamma_u, self.gamma_v, m.dof_armature, d.dof_frictionadr, d.efc.force,
                d.qfrc_actuator, d.qacc,
            ],
            outputs=[self._lam32],
        )  # fmt: skip

    def _set_bounds(self, m, d):
        wp.launch(
            _bounds,
            dim=(d.nworld, self.n),
            inputs=[self._dof, self._lam32, self.coulomb, d.dof_frictionadr],
            outputs=[d.efc.frictionloss],
        )

    def _finish(self, m, d, stage):
        if stage == mjgear.warp.gears.Stage.ACC:
            self._find_load(m, d)


class Lagged(_Rival):
    """Rows of friction loss as the engine makes them, with the bound of the last step."""

    def _solve(self, m, d, solve):
        self._set_bounds(m, d)
        solve(m, d)


class FixedPoint(_Rival):
    """The same rows in three constraint solves a step; each solve takes bounds from the load of the previous solve."""

    def _solve(self, m, d, solve):
        self._set_bounds(m, d)
        for _ in range(2):
            solve(m, d)
            wp.copy(d.qacc_warmstart, d.qacc)
            self._find_load(m, d)
            self._set_bounds(m, d)
        solve(m, d)


class Explicit(_Rival):
    """Friction is a force against the velocity, from the load of the last step; the friction rows are empty."""

    def _solve(self, m, d, solve):
        self._lam32.zero_()
        wp.launch(
            _bounds,
            dim=(d.nworld, self.n),
            inputs=[self._dof, self._lam32, self._lam32, d.dof_frictionadr],
            outputs=[d.efc.frictionloss],
        )
        wp.launch(
            _push,
            dim=(d.nworld, self.n),
            inputs=[
                self._dof, self.gamma_u, self.gamma_v, self.coulomb, m.dof_armature, d.qfrc_actuator, d.qacc, d.qvel,
            ],
            outputs=[self.friction, d.qfrc_smooth],
        )  # fmt: skip
        solve(m, d)

    def _finish(self, m, d, stage):
        pass
