"""Which actuators are the motor of a gear and which act on its link, and models with actuators of every kind.

References are closed forms, and the same model without gears or with its actuators in another order."""

import os
import sys

import mujoco
import numpy as np

import mjgear  # noqa: F401, loads the plugin

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

INTEGRATORS = ("Euler", "implicit", "implicitfast", "discrete")


def instance(**keys):
    text = "".join(f'<config key="{key}" value="{value}"/>' for key, value in keys.items())
    return f'<extension><plugin plugin="mjgear.transmission"><instance name="g">{text}</instance></plugin></extension>'


# ------------------------------------------- every kind ---------------------------------------------------


KINDS = """
<orientation name="orientation" site="tip" refsite="base" kp="2" kv=".1"/>
<orientation name="wrist" joint="ball" kp="1" kv=".1" input="quat"/>
<general name="general" joint="a" gainprm="3" biastype="affine" biasprm=".1 -2 -.3"/>
<motor name="motor" jointinparent="b" gear="2"/>
<position name="position" joint="c" kp="20" kv="1"/>
<velocity name="velocity" joint="a" kv=".5"/>
<intvelocity name="intvelocity" joint="b" kp="5" kv=".2" actrange="-1 1"/>
<pid name="pid" joint="c" kp="4" ki="1" kv=".1" input="pos vel ff"/>
<damper name="damper" joint="a" kv=".2" ctrlrange="0 1"/>
<cylinder name="cylinder" tendon="rope" area=".1" timeconst=".05"/>
<muscle name="muscle" tendon="rope" lengthrange=".05 .5" force="20"/>
<adhesion name="adhesion" body="hand" gain="5" ctrlrange="0 1"/>
<dcmotor name="dcmotor" joint="b" motorconst="1" resistance="1" input="pos vel" controller="10 0 1"/>
<dcmotor name="winding" joint="c" motorconst=".5" resistance="2" inductance=".01"/>
<motor name="site" site="tip" gear="0 0 2 0 0 0"/>
<motor name="crank" cranksite="tip" slidersite="rail" cranklength="1.5"/>
<motor name="fixed" tendon="both" gear="3"/>
"""


def every_kind(integrator, lines, keys):
    return f"""<mujoco>{keys}<option integrator="{integrator}" timestep=".001"/><worldbody><site name="base" pos="0 0 .2"/>
      <site name="rail" pos="0 .5 0" euler="90 0 0"/><body name="one">
      <joint name="a" axis="0 1 0" armature=".05"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/><body pos=".3 0 0">
      <joint name="b" axis="0 1 0" armature=".04"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".4"/><body name="hand" pos=".3 0 0">
      <joint name="c" axis="1 0 0" armature=".03"/><geom size=".03" pos="0 .05 0" mass=".3"/><site name="tip" pos="0 .08 0"/>
      </body></body></body><body pos="0 0 1"><joint name="ball" type="ball"/><geom size=".1" pos=".1 0 0" mass=".2"/></body></worldbody>
      <contact><exclude body1="one" body2="hand"/></contact>
      <tendon><spatial name="rope"><site site="base"/><site site="tip"/></spatial>
      <fixed name="both"><joint joint="a" coef=".5"/><joint joint="b" coef="-1"/></fixed></tendon>
      <actuator>{"".join(lines)}</actuator></mujoco>"""


def run(xml, controls, steps=200):
    """Velocities and the gears' status of a run with controls by the actuators' names."""
    m = mujoco.MjModel.from_xml_string(xml)
    d = mujoco.MjData(m)
    rng = np.random.default_rng(1)
    values = {name: rng.uniform(0.1, 0.6, 4) for name in controls}
    for k in range(m.nactuator):
        adr, n = m.actuator_ctrladr[k], m.actuator_ctrlnum[k]
        d.ctrl[adr : adr + n] = values[m.actuator(k).name][:n]
    return m, np.array([mujoco.mj_step(m, d) or d.qvel.copy() for _ in range(steps)])


def test_every_kind():
    lines = [line for line in KINDS.splitlines() if line]
    names = [line.split('"')[1] for line in lines]
    assert len({line.split()[0] for line in lines}) == 12  # all elements of <actuator> but plugins
    for integrator in INTEGRATORS:
        # a gear without losses changes nothing
        m, plain = run(every_kind(integrator, lines, ""), names)
        assert m.nactuator == 17 and m.nu > m.nactuator and m.nout > m.nactuator
        _, ideal = run(every_kind(integrator, lines, instance(joint="a b c", eta_forward=1, eta_backward=1)), names)
        assert np.abs(ideal - plain).max() < 1e-9 * np.abs(plain).max(), (integrator, np.abs(ideal - plain).max())

        # a gear does not depend on the order of actuators; one on a tendon reads their gear ratios
        for keys in ({"joint": "a b c"}, {"joint": "b c", "tendon": "both"}):
            gear = instance(**keys, eta_forward=0.7, eta_backward=0.5, coulomb=0.02)
            _, there = run(every_kind(integrator, lines, gear), names)
            _, back = run(every_kind(integrator, lines[::-1], gear), names)
            assert np.abs(there - back).max() < 1e-9 * np.abs(there).max(), (integrator, keys, np.abs(there - back).max())
            assert np.abs(there - plain).max() > 1e-3


if __name__ == "__main__":
    scripts.run(globals())
