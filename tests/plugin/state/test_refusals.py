"""A refusal leaves nothing behind: not in the message, not in the process, not in the next model."""

import gc
import os
import sys
import threading

import mujoco
import numpy as np

import mjgear

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

GEAR = '<config key="joint" value="a"/><config key="coulomb" value="0.1"/>'
BRAKE = '<actuator><plugin name="hold" plugin="mjgear.brake" joint="b"><config key="holding_torque" value="1"/>{}</plugin></actuator>'
STORM = 125 if scripts.SANITIZED else 1000


def text(keys=GEAR, more="", actuator="", option="", links=2):
    """MJCF of a chain of pendulums with a gear at a, and further elements."""
    chain = "".join(
        f'<body name="{name}"><joint name="{name}" axis="0 1 0" armature=".05"/><geom size=".1" pos=".2 0 0" mass="1"/>'
        for name in "abcdef"[:links]
    )
    return (f'<mujoco>{option}<extension><plugin plugin="mjgear.transmission"><instance name="g">{keys}</instance>{more}</plugin><plugin plugin="mjgear.brake"/></extension>'
            f"<worldbody>{chain}{'</body>' * links}</worldbody>{actuator}</mujoco>")  # fmt: skip


def refused(xml):
    """The message of a model that does not compile."""
    try:
        mujoco.MjModel.from_xml_string(xml)
    except (ValueError, mujoco.FatalError) as error:
        return str(error)
    raise AssertionError(f"taken: {xml}")


def test_blank_values():
    """A key whose value is only spaces is refused by name."""
    names = [*mjgear.keys(), "joint", "tendon", "type", "solver", "tolerance", "iterations", "backlash",
             "half_gap", "stiffness", "damping", "rotor_inertia", "motor_joint", "encoder", "motor", "coulomb_speed", "gamma_temperature"]  # fmt: skip
    for name in names:
        for blank in scripts.some((" ", "&#9;", "   ", "&#10; "), 2):
            keys = "".join(
                f'<config key="{key}" value="{value}"/>'
                for key, value in ({"joint": "a", "coulomb": ".1"} | {name: blank}).items()
            )
            message = refused(text(keys))
            assert f"key '{name}': the value is blank" in message, (name, message)
    for name in ("sliding_torque", "closing_time", "opening_time", "side", "normally"):
        assert f"key '{name}': the value is blank" in refused(
            text(actuator=BRAKE.format(f'<config key="{name}" value=" "/>'))
        )


def test_letters_of_messages():
    """Messages hold names of any length and alphabet, and are text."""
    for letter in "é", "字", "🦾", "é字a":
        for n in scripts.some(range(1, 80, 1 if letter == "é" else 3), 12):
            for key, value in (
                ("backlash", letter * n),
                ("type", letter * n),
                ("coulomb_speed", letter * n),
                ("eta_forward", letter * n),
            ):
                keys = f'<config key="joint" value="a"/><config key="gamma_u" value="0"/><config key="gamma_v" value="0"/><config key="{key}" value="{value}"/>'
                assert key in refused(text(keys))
            assert "joint" in refused(
                text(f'<config key="joint" value="{letter * n}"/><config key="coulomb" value="1"/>')
            )


# refused by the gears, by the engine, by another plugin, before and behind the instance that leads
WRONG = [
    text(GEAR.replace("0.1", "-1")),
    text(GEAR.replace('"a"', '"nowhere"')),
    text('<config key="joint" value="a b"/>'),
    text(option='<option integrator="RK4"/>'),
    text(more='<instance name="h"><config key="joint" value="a"/><config key="coulomb" value="1"/></instance>'),
    text(actuator=BRAKE.format('<config key="closing_time" value="-1"/>')),
    text(actuator='<actuator><motor joint="nowhere"/></actuator>'),
    text().replace("</mujoco>", '<sensor><plugin name="s" plugin="mujoco.sensor.touch_grid" objtype="site" objname="no"/></sensor></mujoco>'),
    text().replace("<plugin plugin=\"mjgear.brake\"/>", '<plugin plugin="mujoco.pid"><instance name="p"><config key="ki" value="-1"/></instance></plugin>')
          .replace("</mujoco>", '<actuator><plugin plugin="mujoco.pid" instance="p" joint="a"/></actuator></mujoco>'),
    text().replace("<worldbody>", '<worldbody><body><joint name="a"/></body>'),
    text().replace("</mujoco>", '<keyframe><key qpos="1 2 3 4 5"/></keyframe></mujoco>'),
]  # fmt: skip


def steps(model):
    """Velocities after some steps of new data."""
    data = mujoco.MjData(model)
    data.qvel[:] = 1
    mujoco.mj_step(model, data, 5)
    return data.qvel.copy()


def storm(seed, n, fault):
    """Refusals of all kinds, good models in between, and MjSpec that is compiled again after it was refused."""
    rng = np.random.default_rng(seed)
    try:
        good = [text(links=k) for k in (1, 2, 4, 6)]
        right = [steps(mujoco.MjModel.from_xml_string(xml)) for xml in good]
        kept = None
        for k in range(n):
            refused(WRONG[rng.integers(len(WRONG))])
            if k % 3 == 0:
                i = rng.integers(len(good))
                model = mujoco.MjModel.from_xml_string(good[i])
                assert np.array_equal(steps(model), right[i])
                kept = mujoco.MjData(model) if rng.random() < 0.5 else kept
            if k % 5 == 0:
                spec = mujoco.MjSpec.from_string(good[1])
                model = spec.compile()
                data = mujoco.MjData(model)
                plugin = spec.plugins[0]
                config = dict(plugin.config)
                plugin.config = config | {"coulomb": "-1"}
                try:
                    model, data = spec.recompile(model, data)
                except ValueError:
                    plugin.config = config
                    model = spec.compile()
                else:
                    raise AssertionError("a negative coulomb was taken")
                assert np.array_equal(steps(model), right[1])
            if k % 50 == 0:
                gc.collect()
    except BaseException as error:
        fault.append(error)
        raise


def test_nothing_is_left_behind():
    fault = []
    storm(1, STORM, fault)
    threads = [threading.Thread(target=storm, args=(2 + k, STORM // 8, fault)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not fault, fault


if __name__ == "__main__":
    scripts.run(globals())
