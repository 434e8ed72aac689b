"""A refused model loads after the remedy of its line; a model that passes `mjgear check` loads, and no other does.

test_remedies.py mjgear"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import mujoco
import numpy as np

import mjgear

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
TOOL = sys.argv[1] if len(sys.argv) > 1 else "mjgear"
GEAR = '<config key="joint" value="a"/><config key="eta_forward" value=".7"/>'
FLEX = """<flexcomp name="soft" type="grid" dim="3" count="2 2 2" spacing=".02 .02 .02" mass=".2" radius=".002" pos="0 0 2">
  <elasticity young="5e3" poisson="0.2"/><pin id="0"/></flexcomp>"""


def model(**parts):
    """A double pendulum with a gear at its first joint; parts replace elements of it."""
    p = {"option": '<option integrator="implicitfast"/>', "keys": GEAR, "more": "", "joint": "", "body": "", "tendon": "", "actuator": '<motor name="m" joint="a"/>',
         "home": '<plugin plugin="mjgear.transmission" instance="g"/>'} | parts  # fmt: skip
    return f"""<mujoco>{p["option"]}<extension><plugin plugin="mjgear.transmission"><instance name="g">{p["keys"]}</instance></plugin>{p["more"]}</extension>
      <worldbody><site name="o"/><site name="p" pos="0 0 1"/><body name="base">{p["home"]}<joint name="a" armature=".01" axis="0 1 0" {p["joint"]}/><geom size=".05" pos=".2 0 0"/>
      <body name="link" pos=".3 0 0"><joint name="b" axis="0 1 0" armature=".01"/><geom size=".05" pos=".2 0 0"/><site name="s" pos=".3 .1 0"/>{p["body"]}</body></body>
      <body name="other" pos="0 1 0"><joint name="c" axis="0 1 0" armature=".01"/><geom size=".05" pos=".2 0 0"/></body></worldbody>
      <tendon>{p["tendon"]}</tendon><actuator>{p["actuator"]}</actuator></mujoco>"""


def option(**attributes):
    return {"option": "<option " + " ".join(f'{key}="{value}"' for key, value in attributes.items()) + "/>"}


def keys(**values):
    return {"keys": "".join(f'<config key="{key}" value="{value}"/>' for key, value in values.items())}


PAIR = '<fixed name="t" {}><joint joint="b" coef="1"/><joint joint="c" coef="1"/></fixed>'
SERVO = '<position tendon="t" kp="10" kv="1"/>'
ROPE = keys(tendon="t", eta_forward=0.7)
FLAGS = '<option integrator="implicitfast"><flag spring="disable" damper="disable" {}/></option>'
PGS = '<option solver="PGS"><flag warmstart="disable"/></option>'
WEDGE = '<fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed>'
BRAKE = '<plugin name="hold" plugin="mjgear.brake" joint="a" {}>{}</plugin>'
TORQUE = '<config key="holding_torque" value="1"/>'
BRAKES = {"more": '<plugin plugin="mjgear.brake"/>'}

# mistake, words of the remedy in its line, and the models after each remedy
REMEDIES = [
    (option(integrator="RK4"), 'set <option integrator="implicitfast"/> (or Euler, implicit, discrete)', [option(integrator=one) for one in ("implicitfast", "Euler", "implicit", "discrete")]),
    (option(integrator="RK4") | {"body": FLEX}, 'set <option integrator="Euler"/>', [option(integrator="Euler") | {"body": FLEX}]),
    (option(integrator="discrete") | {"body": FLEX}, 'set <option integrator="Euler"/>', [option(integrator="Euler") | {"body": FLEX}]),
    (option(noslip_iterations=3), 'set <option noslip_iterations="0"/>', [option(noslip_iterations=0)]),
    (option(noslip_iterations=3) | keys(joint="a", gamma_u=0, gamma_v=0) | BRAKES | {"actuator": BRAKE.format("", TORQUE)}, 'set <option noslip_iterations="0"/>',
     [option(noslip_iterations=3) | keys(joint="a", gamma_u=0, gamma_v=0)]),
    ({"option": PGS}, 'enable the flag warmstart, or set <option solver="Newton"/>', [option(solver="PGS"), {"option": PGS.replace("PGS", "Newton")}]),
    ({"option": FLAGS.format('actuation="disable"')}, "enable the flag spring, damper or actuation",
     [{"option": FLAGS.format("")}, {"option": FLAGS.format('actuation="disable"').replace('spring="disable"', "")}, {"option": FLAGS.format('actuation="disable"').replace('damper="disable"', "")}]),
    (keys(joint="a", eta_forward=0.7, tendon="t") | {"tendon": "<spatial name='t'><site site='o'/><site site='p'/></spatial>"}, "moves no joint; leave it out", [{}]),
    (ROPE | {"tendon": PAIR.format('armature=".1"')}, "set its armature to 0, and give a joint that turns with the motor", [ROPE | {"tendon": PAIR.format("")}]),
    (ROPE | {"tendon": PAIR.format(""), "actuator": SERVO}, 'set <option integrator="discrete"/>', [ROPE | {"tendon": PAIR.format(""), "actuator": SERVO} | option(integrator="discrete")]),
    (ROPE | {"tendon": PAIR.format(""), "actuator": '<motor tendon="t" damping="1"/>'}, 'set <option integrator="discrete"/>',
     [ROPE | {"tendon": PAIR.format(""), "actuator": '<motor tendon="t" damping="1"/>'} | option(integrator="discrete")]),
    (ROPE | {"tendon": PAIR.format(""), "option": '<option integrator="implicitfast"><flag sleep="enable"/></option>'}, "disable the flag sleep", [ROPE | {"tendon": PAIR.format("")}]),
    (ROPE | {"tendon": WEDGE, "joint": 'actuatorfrcrange="-1 1"', "actuator": '<motor tendon="t"/>'}, "give the tendon that range",
     [ROPE | {"tendon": WEDGE.replace('"t"', '"t" actuatorfrcrange="-1 1"'), "actuator": '<motor tendon="t"/>'}, ROPE | {"tendon": WEDGE, "joint": 'actuatorfrcrange="-1 1"'}]),
    (ROPE | {"tendon": WEDGE, "joint": 'actuatorgravcomp="true"'}, "leave it out", [ROPE | {"tendon": WEDGE}]),
    (keys(joint="a b", tendon="t", eta_forward=0.7) | {"tendon": WEDGE}, "take the gear off one of them", [keys(joint="a", tendon="t", eta_forward=0.7) | {"tendon": WEDGE}, keys(joint="a b", eta_forward=0.7)]),
    (keys(joint="b", tendon="t", eta_forward=0.7) | {"tendon": WEDGE, "actuator": BRAKE.format("", TORQUE)} | BRAKES, "(a brake is one)", [keys(joint="b", tendon="t", eta_forward=0.7) | {"tendon": WEDGE}]),
    ({"actuator": '<plugin plugin="mjgear.transmission" instance="g" joint="a"/>'}, "write <motor> or another actuator", [{}]),
    (BRAKES | {"actuator": BRAKE.format('gear="2"', TORQUE)}, "which a brake does not; give", [BRAKES | {"actuator": BRAKE.format("", TORQUE)}]),
    (BRAKES | {"actuator": BRAKE.format("", "")}, "give its torque", [BRAKES | {"actuator": BRAKE.format("", TORQUE)}]),
    (BRAKES | {"actuator": BRAKE.format("", TORQUE + '<config key="sliding_torque" value="2"/>')}, "exchange them",
     [BRAKES | {"actuator": BRAKE.format("", TORQUE.replace("1", "2") + '<config key="sliding_torque" value="1"/>')}]),
    (keys(joint="a", eta_forward=0.7, motor="none_such"), "use the name of an actuator", [keys(joint="a", eta_forward=0.7, motor="m"), {}]),
    (keys(joint="elbow", eta_forward=0.7), "use the name of a hinge or slide joint", [{}]),
    (keys(joint="a"), "give gamma_u and gamma_v, eta_forward and eta_backward, starting torques, or a type and its keys",
     [keys(joint="a", gamma_u=0.1, gamma_v=0.2), {}, keys(joint="a", starting_forward=1, starting_backward=2), keys(joint="a", type="worm", lead_angle="0.3", pressure_angle="0.3", mu="0.1")]),
    (keys(joint="a", gamma_u=1.2, gamma_v=0.2), "choose a value below 1", [keys(joint="a", gamma_u=0.9, gamma_v=0.2)]),
    (keys(joint="a", eta_forward=0.7, armature=0.1), "write it as an attribute of the joint or tendon", [{}]),
    (keys(joint="a b", eta_forward="0.7 0.6 0.5"), "give one value for all joints or one per joint", [keys(joint="a b", eta_forward="0.7"), keys(joint="a b", eta_forward="0.7 0.6")]),
    (keys(joint="a", eta_forward=0.7, tolerance=2), "choose a value between 0 and 1, such as 1e-12", [keys(joint="a", eta_forward=0.7, tolerance="1e-12")]),
    (keys(joint="a", eta_forward=0.7, iterations=0.5), "choose a positive integer", [keys(joint="a", eta_forward=0.7, iterations=5)]),
    (keys(joint="a a", eta_forward=0.7), "name each once", [{}]),
    ({"actuator": '<motor joint="a" armature="-1"/>'}, "the inertia of a rotor is 0 or more", [{}, {"actuator": '<motor joint="a" armature="-.01"/>'}]),
]  # fmt: skip


def test_remedies():
    for wrong, words, remedies in REMEDIES:
        with scripts.refuses(words):
            mujoco.MjModel.from_xml_string(model(**wrong))
        for remedy in remedies:
            m = mujoco.MjModel.from_xml_string(model(**remedy))
            mujoco.mj_step(m, mujoco.MjData(m))


# ------------------------------------------- lengths of muscles -------------------------------------------


def muscles(count, keys=""):
    """Legs with muscles whose lengths the compiler has to find, and a motor at each ankle."""
    legs = "".join(
        f"""<body pos="0 {k} 0"><joint name="knee{k}" axis="0 1 0" range="-60 60" armature=".01"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/>
      <site name="i{k}" pos=".1 0 .05"/><body pos=".4 0 0"><joint name="ankle{k}" axis="0 1 0" range="-40 40" armature=".01"/>
      <geom type="capsule" fromto="0 0 0 .2 0 0" size=".02" mass=".3"/></body></body><site name="o{k}" pos="0 {k} .1"/>"""
        for k in range(count)
    )
    tendons = "".join(f'<spatial name="t{k}"><site site="o{k}"/><site site="i{k}"/></spatial>' for k in range(count))
    actuators = "".join(f'<muscle tendon="t{k}"/><motor joint="ankle{k}"/>' for k in range(count))
    joints = " ".join(f"ankle{k}" for k in range(count))
    extension = (
        f'<extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="{joints}"/>{keys}</instance></plugin></extension>'
        if keys
        else ""
    )
    return f"<mujoco>{extension}<worldbody>{legs}</worldbody><tendon>{tendons}</tendon><actuator>{actuators}</actuator></mujoco>"


def test_lengths_of_muscles():
    """The lengths equal the plain model's, the gears act afterwards, and wrong options are refused all the same."""
    said = []
    with warned(said):
        for count in (1, 6):  # several are looked for in threads
            plain = mujoco.MjModel.from_xml_string(muscles(count))
            text = muscles(count, '<config key="eta_forward" value=".5"/><config key="eta_backward" value="-.1"/>')
            m = mujoco.MjModel.from_xml_string(text)
            np.testing.assert_allclose(m.actuator_lengthrange, plain.actuator_lengthrange, atol=1e-12)
            d = mujoco.MjData(m)
            mujoco.mj_step(m, d, 10)
            assert d.qvel[1] == 0 and d.qvel[0] != 0
            with scripts.refuses("set <option integrator"):
                mujoco.MjModel.from_xml_string(text.replace("<worldbody>", '<option integrator="RK4"/><worldbody>'))
    assert not [line for line in said if "RK4" not in line], said


# ------------------------------------------- options that change -------------------------------------------


@contextlib.contextmanager
def warned(lines):
    mujoco.set_mju_user_warning(lines.append)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(None)


def test_options_after_loading():
    """Data of a model with options that were refused at load are made, with the reason as a warning; they step."""
    changes = {
        "RK4": lambda m: setattr(m.opt, "integrator", mujoco.mjtIntegrator.mjINT_RK4),
        "noslip": lambda m: setattr(m.opt, "noslip_iterations", 3),
        "springs and dampers disabled": lambda m: setattr(
            m.opt, "disableflags", 2 * int(mujoco.mjtDisableBit.mjDSBL_ACTUATION) - 1
        ),
    }
    for number, (word, change) in enumerate(changes.items()):
        said = []
        m = mujoco.MjModel.from_xml_string(model(keys=keys(joint="a", eta_forward=0.7 - 0.01 * number)["keys"]))
        usual = mujoco.MjData(m)
        change(m)
        if "springs" in word:
            bits = mujoco.mjtDisableBit
            m.opt.disableflags = bits.mjDSBL_SPRING | bits.mjDSBL_DAMPER | bits.mjDSBL_ACTUATION
        with warned(said):
            d = mujoco.MjData(m)
            assert len(said) == 1 and word in said[0] and "after the model was compiled" in said[0], said
            mujoco.MjData(m)
            assert len(said) == 1, said  # once a model
            for data in (d, usual):
                mujoco.mj_step(m, data)
        np.testing.assert_array_equal(d.qvel, usual.qvel)


# ------------------------------------------- check and loading ---------------------------------------------


def check(path):
    done = subprocess.run(
        [TOOL, "check", "--json", path],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LD_PRELOAD": ""},
    )
    return json.loads(done.stdout)["problems"]


def loads(path):
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return None


def test_wrapped_rope():
    """The engine has no armature of a tendon that wraps around a geom: add and check name a remedy, and it works."""
    rope = ROPE | {"body": '<geom name="drum" type="cylinder" size=".02 .1" euler="90 0 0" pos=".1 0 .05"/>', "actuator": '<motor tendon="t"/>',
                   "tendon": '<spatial name="t" {}><site site="o"/><geom geom="drum"/><site site="s"/></spatial>'}  # fmt: skip
    words = "set the tendon's armature to 0, and give a joint that turns with the motor the rotor's inertia"
    with tempfile.TemporaryDirectory() as folder:
        for armature, refused in (('armature=".1"', True), ("", False)):
            path = pathlib.Path(folder) / "rope.xml"
            path.write_text(model(**rope | {"tendon": rope["tendon"].format(armature)}), encoding="utf-8")
            found = check(path)
            assert bool(found) == refused == (loads(path) is None) and all(words in line for line in found), found
            plain = mujoco.MjSpec.from_string(model(**rope | {"tendon": rope["tendon"].format(""), "keys": GEAR}))
            with scripts.refuses(words) if refused else contextlib.nullcontext():
                mjgear.add(plain, tendons="t", name="rope", eta_forward=0.7, armature=0.1 if refused else 0.0)
                plain.compile()


def test_deleted_joint():
    """The refusal of a gear whose joint was deleted names the call that removes the gear, and it works."""
    spec = mujoco.MjSpec.from_string(model())
    spec.delete(spec.joint("a"))
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    with scripts.refuses("if it was deleted, mjgear.remove in Python takes its gear off"):
        spec.compile()
    mjgear.remove(spec, "a")
    assert spec.compile().nplugin == 0


def test_check_agrees():
    """check predicts loading for every model of this project, and for every refused one above."""
    with tempfile.TemporaryDirectory() as folder:
        files = [
            path
            for room in ("models", "scenes", "examples")
            for path in sorted((SOURCE / room).rglob("*.xml"))
            if "mjgear" in path.read_text(encoding="utf-8")
        ]
        texts = [model(**one) for wrong, _, remedies in REMEDIES for one in (wrong, *remedies)] + [
            muscles(2, '<config key="eta_forward" value=".5"/>')
        ]
        texts += [text.replace('<option integrator="implicitfast"/>', "") for text in texts[-3:]]
        for k, text in enumerate(texts):
            files.append(pathlib.Path(folder) / f"{k}.xml")
            files[-1].write_text(text, encoding="utf-8")
        assert len(files) > 60
        for path in files:
            found = check(path)
            assert bool(found) == (loads(path) is None), (
                path,
                found,
                re.sub(r"\s+", " ", path.read_text(encoding="utf-8")),
            )


if __name__ == "__main__":
    scripts.run(globals())
