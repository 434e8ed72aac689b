"""Everything that the engine's matrix of a step holds, one row each: in our account, so that gears obey their law at the velocity that the
engine leaves, or refused.

The torque into a gear is its motor's, less its rotor's inertia times the acceleration and the motor's damping. The law of friction follows from it and from the
engine's velocities alone.
"""

import itertools

import mujoco
import numpy as np

import mjgear

INTEGRATORS = ("Euler", "implicitfast", "implicit", "discrete")
KEYS = {"gamma_u": 0.25, "gamma_v": 0.4, "coulomb": 0.3}
ROTOR = 0.05
MODEL = """<mujoco><option timestep=".002" integrator="{integrator}" {option}/><worldbody><site name="post" pos=".3 .4 1.4"/>
  <body pos="0 0 1"><joint name="a" axis="0 1 .2" armature=".05" {joint}/><geom type="box" size=".2 .03 .08" pos=".2 0 0" mass="1" {geom}/>
    <body pos=".4 0 0"><joint name="b" axis=".3 1 0" {other}/><geom type="box" size=".15 .06 .02" pos=".15 .02 .03" mass=".7" {geom}/>
      <site name="tip" pos=".3 0 0"/><body pos=".3 0 0"><joint name="c" type="{third}" {ball}/>
      <geom type="box" size=".05 .15 .08" pos=".02 .05 0" mass=".4" {geom}/></body></body></body>{body}</worldbody>
  <tendon><spatial name="rope" {rope}><site site="post"/><site site="tip"/></spatial>
    <fixed name="sum" {fixed}><joint joint="a" coef=".5"/><joint joint="b" coef="1.5"/></fixed></tendon>
  <actuator><motor name="m" joint="a" {motor}/>{actuator}</actuator></mujoco>"""
DEFAULTS = {
    "option": "",
    "joint": "",
    "geom": "",
    "other": "",
    "third": "ball",
    "ball": "",
    "body": "",
    "rope": "",
    "fixed": "",
    "motor": "",
    "actuator": "",
}
DAMPING = (0.5, 0.3, 0.2)  # of the gear's motor: N m s, N m s^2, N m s^3

# what the engine's matrix holds: attributes, refused with
ROWS = {
    "Coriolis and gyroscopic": ({}, ()),
    "slide at the end": ({"third": "slide"}, ()),
    "density": ({"option": 'density="40"'}, ()),
    "viscosity": ({"option": 'viscosity="6"'}, ()),
    "wind": ({"option": 'density="20" wind="3 -2 1"'}, ()),
    "ellipsoid": ({"option": 'density="40" viscosity=".1" wind="1 2 0"', "geom": 'fluidshape="ellipsoid"'}, ()),
    "damping": ({"joint": 'damping=".8"', "other": 'damping="3"', "ball": 'damping=".2"'}, ()),
    "polynomial damping": ({"joint": 'damping=".5 .3 .2"', "other": 'damping="1 .5 .3"'}, ()),
    "stiffness": ({"joint": 'stiffness="30"', "other": 'stiffness="90"', "ball": 'stiffness="5"'}, ()),
    "polynomial stiffness": ({"joint": 'stiffness="10 4 2"', "other": 'stiffness="20 9 5"'}, ()),
    "tendon damping": ({"rope": 'damping="4"', "fixed": 'damping="1"'}, ()),
    "tendon polynomial": ({"rope": 'damping=".4 .1 .05" stiffness="50 20 5"', "fixed": 'damping=".3 .1 .05" stiffness="9 3 1"'}, ()),
    "tendon stiffness": ({"rope": 'stiffness="200" springlength=".1"', "fixed": 'stiffness="20"'}, ()),
    "tendon armature": ({"rope": 'armature=".3"', "fixed": 'armature=".1"'}, ()),
    "damping of the motor": ({"motor": 'damping="{} {} {}"'.format(*DAMPING)}, ()),
    "servo on a link": ({"actuator": '<velocity joint="b" kv="4"/>'}, ()),
    "dampratio": ({"actuator": '<position joint="b" kp="60" dampratio="1"/>'}, ()),
    "servo on a rope": ({"actuator": '<position tendon="rope" kp="90" kv="9"/>'}, ()),
    "damper with gain": ({"actuator": '<damper joint="b" kv="3" ctrlrange="0 1"/>'}, ()),
    "affine gain": ({"actuator": '<general joint="b" gaintype="affine" gainprm="2 -1 -3" biastype="affine" biasprm="0 -20 -2"/>'}, ()),
    "muscle": ({"actuator": '<muscle tendon="rope" lengthrange=".1 1.5" force="30"/>'}, ()),
    "flex": ({"body": '<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".05 .05 .05" pos="1 1 1" dim="2" mass=".1" radius=".005">'
                      '<edge equality="true" damping=".1"/><pin id="0 1"/></flexcomp>'}, ("discrete",)),
}  # fmt: skip


def make(integrator, attributes):
    spec = mujoco.MjSpec.from_string(MODEL.format(integrator=integrator, **(DEFAULTS | attributes)))
    mjgear.add(spec, "a", **KEYS)
    return spec.compile()


def law_error(u, t, v, before):
    """How far friction is from its law, relative to its bound."""
    bound = abs(KEYS["gamma_u"] * u + KEYS["gamma_v"] * (u - t)) + KEYS["coulomb"]
    still = abs(v) <= 1e-10 * (1 + abs(before))
    return (max(0, abs(t) - bound) if still else abs(t - np.sign(v) * bound)) / bound


def test_law_at_the_engines_velocity():
    """Each row with each integrator: the law to 1e-6 in every step, sticking and slipping, and no step is unsolved."""
    for (name, (attributes, refused)), integrator in itertools.product(ROWS.items(), INTEGRATORS):
        if integrator in refused:
            try:
                make(integrator, attributes)
            except ValueError as error:
                assert "Euler" in str(error), (name, integrator, error)
                continue
            raise AssertionError((name, integrator, "is not refused"))
        model = make(integrator, attributes)
        data = mujoco.MjData(model)
        data.qvel[:] = np.linspace(-2, 3, model.nv)
        gear = mjgear.Gears(model, data)["a"]
        dof = model.joint("a").dofadr[0]
        seen = set()
        for k in range(300):
            before = data.qvel[dof]
            data.ctrl[:] = 0.5
            data.ctrl[0] = 9 * np.sin(0.03 * k) + 4 * (k // 80 % 2)
            mujoco.mj_step(model, data)
            v = data.qvel[dof]
            u = data.ctrl[0] - ROTOR * (v - before) / model.opt.timestep
            if "motor" in attributes:  # all integrators are implicit in it: d(v + |v| v + v^3) is 1 + 2 |v| + 3 v^2
                powers = np.abs(before) ** np.arange(3)
                u -= np.dot(DAMPING, powers) * before + np.dot(DAMPING, [1, 2, 3] * powers) * (v - before)
            error = law_error(u, float(gear.friction), v, before)
            assert error < 1e-6 and int(gear.status) == 0, (name, integrator, k, error, int(gear.status))
            seen.add(np.sign(v))
        assert {-1, 1} <= seen and not any(warning.number for warning in data.warning), (name, integrator, seen)


def test_rows_are_in_the_matrix():
    """Each row changes the motion, so that its elements are there."""
    plain = {}
    for integrator, (name, (attributes, refused)) in itertools.product(INTEGRATORS[:1], ROWS.items()):
        model = make(integrator, attributes)
        data = mujoco.MjData(model)
        data.qvel[:3] = 1
        data.ctrl[:] = 0.5
        mujoco.mj_step(model, data, 20)
        plain[name] = data.qvel[:2].copy()
    assert len({tuple(v) for v in plain.values()}) >= len(ROWS) - 1, plain  # a cloth beside the arm changes nothing


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
