"""The check of the robot bench: no step of a made-up robot breaks the law, and every number of the law that is changed by a thousandth
is found. A check that finds nothing would make the whole bench worthless."""

import os
import pathlib
import sys

import mujoco
import numpy as np

sys.path.insert(0, str(pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"]) / "benchmarks/robots"))
import bench
import law
import record
import robots

# servo with damping gain, plain motor, servo through a tendon over three joints of two branches, a clamped servo; floor and limits
# in reach
ROBOT = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 1"/><body pos="0 0 .5">
  <joint name="a" axis="0 1 0" armature=".05" damping=".3" range="-1.2 1.2"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="2"/>
  <body pos=".5 0 0"><joint name="b" axis="0 1 0" armature=".02" frictionloss=".05"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
    <body pos=".3 0 0"><joint name="c" axis="0 0 1" armature=".01"/><geom type="capsule" fromto="0 0 0 .1 0 0" size=".02" mass=".3"/>
      <body pos=".1 0 0"><joint name="d" axis="0 0 1" armature=".01"/><geom type="capsule" fromto="0 0 0 .1 0 0" size=".02" mass=".2"/>
      </body></body>
    <body pos=".3 0 .1"><joint name="e" axis="0 0 1" armature=".01"/><geom type="capsule" fromto="0 0 0 .1 0 0" size=".02" mass=".2"/>
    </body></body></body></worldbody>
  <tendon><fixed name="finger"><joint joint="c" coef="1"/><joint joint="d" coef=".5"/><joint joint="e" coef="-.8"/></fixed></tendon>
  <actuator><position joint="a" kp="200" kv="20" ctrlrange="-1 1"/><motor joint="b" ctrlrange="-5 5"/>
  <position tendon="finger" kp="5" kv=".2" ctrlrange="-1 1"/>
  <position joint="b" kp="50" kv="3" forcerange="-2 2" ctrlrange="-1 1"/></actuator></mujoco>"""
STEPS = 400


def play(kind, integrator, change=None, cone="pyramidal", solver="Newton", warm=True, robot=ROBOT):
    """Counts of the check's findings in STEPS steps of each kind of controls; change: its assumed numbers of the gears."""
    spec = mujoco.MjSpec.from_string(robot)
    spec.option.integrator = bench.INTEGRATORS[integrator]
    spec.option.cone = bench.CONES[cone]
    spec.option.solver = bench.SOLVERS[solver]
    if not warm:
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_WARMSTART
    model = spec.compile()
    gear = robots.gear(kind, model)
    text = robots.geared(spec, model, gear)
    found = dict.fromkeys(("wrong", "beyond", "pulls", "moving", "steps"), 0)
    for controls in record.CONTROLS:
        geared = bench.load(text, {}, controls)
        check = law.Law(geared, gear | (change or {}), bench.addresses(geared))
        for episode in record.episodes(geared, controls, STEPS, 1, again=False):
            found["steps"] += episode.n
            for key, value in check.check(episode).items():
                if key in found:
                    found[key] += int(value.sum())
    return found


def test_law_is_kept():
    for integrator in bench.INTEGRATORS:
        for kind in "ABC":
            for cone in bench.CONES:
                found = play(kind, integrator, cone=cone)
                print(kind, integrator, cone, found)
                assert found["steps"] == len(record.CONTROLS) * STEPS
                assert found["moving"] > STEPS // 2
                assert not found["wrong"] and not found["beyond"] and not found["pulls"]


def test_other_solvers():
    """The law is kept with PGS, which starts at the solution, and with Newton without a warm start."""
    for integrator in ("implicitfast", "discrete"):
        for solver, warm in (("PGS", True), ("Newton", False)):
            for kind in "AC":
                found = play(kind, integrator, solver=solver, warm=warm)
                print(kind, integrator, solver, "warm" if warm else "cold", found)
                assert found["moving"] > STEPS // 2
                assert not found["wrong"] and not found["beyond"] and not found["pulls"]


def test_changed_law_is_found():
    for integrator in bench.INTEGRATORS:
        for kind, change, key in (
            ("A", {"gamma_u": 0.2002}, "beyond"),
            ("A", {"gamma_v": 0.3003}, "beyond"),
            ("A", {"coulomb": np.array([0, 0.051, 0, 0, 0])}, "beyond"),
            ("B", {"gamma_v": 1.099}, "beyond"),
            ("C", {"gamma_u": 0.2002}, "beyond"),
            ("C", {"half_gap": 0.01}, "pulls"),
            ("C", {"rotor": np.array([0.0501, 0.02, 0.01, 0.01, 0.01])}, "beyond"),
        ):
            found = play(kind, integrator, change)
            print(kind, integrator, change, found[key])
            assert found[key] > STEPS // 20


def test_springs_that_yield():
    """Springs of joints and of a tendon that flow above a torque (springyield, MuJoCo 4.0) act on the link, behind the gear. The law is
    kept with every integrator, and a restored state with flow goes on bit for bit, gaps included."""
    robot = ROBOT
    for plain, yields in (
        ('name="a" axis="0 1 0"', 'stiffness="60" springyield="10"'),
        ('name="c" axis="0 0 1"', 'stiffness="20" springyield="3"'),
        ('name="finger"', 'stiffness="8" springyield=".02"'),
    ):
        robot = robot.replace(plain, f"{plain} {yields}")
    for integrator in bench.INTEGRATORS:
        for kind in "AC":
            found = play(kind, integrator, robot=robot)
            assert found["moving"] > STEPS // 2 and not found["wrong"] and not found["beyond"] and not found["pulls"], (
                integrator,
                kind,
                found,
            )
            spec = mujoco.MjSpec.from_string(robot)
            spec.option.integrator = bench.INTEGRATORS[integrator]
            model = spec.compile()
            model = mujoco.MjModel.from_xml_string(robots.geared(spec, model, robots.gear(kind, model)))
            data, other = mujoco.MjData(model), mujoco.MjData(model)
            data.ctrl[:] = 0.8, 4, -0.7, 0.5
            mujoco.mj_step(model, data, 150)
            assert (data.plastic != 0).sum() >= 2, data.plastic
            everything = mujoco.mjtState.mjSTATE_INTEGRATION
            state = np.zeros(mujoco.mj_stateSize(model, everything))
            mujoco.mj_getState(model, data, state, everything)
            mujoco.mj_setState(model, other, state, everything)
            for each in data, other:
                each.ctrl[:] = -0.8, -4, 0.7, -0.5
                mujoco.mj_step(model, each, 150)
            assert (data.qpos == other.qpos).all() and (data.plastic == other.plastic).all()
        print(f"springs that yield, {integrator}: plastic up to {abs(data.plastic).max():.2g}")


def test_friction_of_its_own():
    """A robot's own friction is in its gears or in MuJoCo's rows, of the same size, and never in both."""
    spec = mujoco.MjSpec.from_string(ROBOT)
    model = spec.compile()
    own = model.dof_frictionloss.copy()
    assert own.any()
    loss = mujoco.MjModel.from_xml_string(robots.frictionloss(spec, model))
    assert np.allclose(loss.dof_frictionloss, model.dof_M0 + own, rtol=1e-5, atol=0)
    for kind in "ABC":
        text = robots.geared(spec, model, robots.gear(kind, model))
        assert not mujoco.MjModel.from_xml_string(text).dof_frictionloss.any()
        coulomb = text.split('key="coulomb" value="')[1].split('"')[0]
        assert [float(number) for number in coulomb.split()] == list(own)


def test_wrong_sign_is_found():
    """The episode is reversed: velocities have the opposite sign, and friction drives wherever a joint slips."""
    spec = mujoco.MjSpec.from_string(ROBOT)
    model = spec.compile()
    gear = robots.gear("A", model)
    geared = bench.load(robots.geared(spec, model, gear), {}, "random")
    check = law.Law(geared, gear, bench.addresses(geared))
    episode = next(record.episodes(geared, "random", STEPS, 1, again=False))
    episode.after["qvel"] = -episode.after["qvel"]
    found = check.check(episode)
    assert found["wrong"].sum() > STEPS // 2 and found["fed"].sum() > 0


def test_step_is_repeated():
    """A saved state gives the same step, to the last bit."""
    spec = mujoco.MjSpec.from_string(ROBOT)
    model = spec.compile()
    geared = bench.load(robots.geared(spec, model, robots.gear("C", model)), {}, "random")
    episode = next(record.episodes(geared, "random", 100, 1, again=False))
    data = mujoco.MjData(geared)
    for k in range(0, 100, 7):
        record.repeat(geared, data, episode.state[k])
        assert (data.qvel == episode.after["qvel"][k]).all()


if __name__ == "__main__":
    mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
