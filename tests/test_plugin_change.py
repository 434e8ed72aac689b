"""Gears that change while a simulation runs: in force from the next step on, one mjData at a time,
validated as a whole, from many threads at once; gaps and the solver too."""

import ctypes
import os
import threading

import mujoco

PATH = os.environ["MJGEAR_PLUGIN_PATH"]
MODEL = """<mujoco><extension><plugin plugin="mjgear.transmission"><instance name="a">
  <config key="joint" value="j"/><config key="type" value="worm"/><config key="lead_angle" value="0.2"/>
  <config key="pressure_angle" value="0.35"/><config key="mu" value="0.3"/></instance></plugin></extension>
  <worldbody><body><joint name="j" type="slide" axis="0 0 1" armature="1"/><geom size=".1" mass="2"/></body>
  <body><joint name="free" axis="0 1 0"/><geom size=".1"/></body></worldbody>
  <actuator><motor joint="j"/></actuator></mujoco>"""

GAP = """<mujoco><option timestep="0.001"/><extension><plugin plugin="mjgear.transmission"><instance name="a">
  <config key="joint" value="j"/><config key="gamma_u" value="0.1"/><config key="gamma_v" value="0.3"/>
  <config key="backlash" value="exact"/><config key="half_gap" value="{half_gap}"/>
  <config key="stiffness" value="{stiffness}"/><config key="damping" value="20"/>
  <config key="{rotor}" value="{value}"/></instance></plugin></extension>
  <worldbody><body><joint name="m" axis="0 1 0" damping="5"/><geom size=".1" mass="10"/></body>
  <body><joint name="j" axis="0 1 0" damping="5"/><geom size=".1" mass="10"/></body></worldbody>
  <actuator><motor joint="{driven}"/></actuator>
  <sensor><plugin name="s" plugin="mjgear.transmission" instance="a" objtype="joint" objname="j"/></sensor>
  </mujoco>"""


class Gears:
    def __init__(self):
        self.library = ctypes.CDLL(PATH)

    @staticmethod
    def address(thing):
        return ctypes.c_void_p(thing._address)

    def change(self, model, data, joint, function="mjg_setGears", **keys):
        names = (ctypes.c_char_p * len(keys))(*(key.encode() for key in keys))
        values = (ctypes.c_double * len(keys))(*keys.values())
        error = ctypes.create_string_buffer(500)
        status = self.library[function](self.address(model), self.address(data), joint, names,
                                        values, len(keys), error, len(error))
        return status, error.value.decode()

    def read(self, model, data, joint, key):
        value = ctypes.c_double(-1)
        status = self.library.mjg_getGear(ctypes.byref(value), self.address(model),
                                          self.address(data), joint, key.encode())
        return status, value.value

    def solver(self, model, data, name=None):
        """Set it, or read it without a name."""
        if name is None:
            self.library.mjg_getSolver.restype = ctypes.c_char_p
            return self.library.mjg_getSolver(self.address(model), self.address(data)).decode()
        error = ctypes.create_string_buffer(500)
        status = self.library.mjg_setSolver(self.address(model), self.address(data), name.encode(),
                                            error, len(error))
        return status, error.value.decode()

    def reset(self, model, data):
        return self.library.mjg_resetGears(self.address(model), self.address(data))


def steps(model, data, n=100):
    mujoco.mj_step(model, data, n)
    return data.qvel[0]


def trajectory(model, data):
    """Driven to and fro, through the gap if there is one."""
    rows = []
    for k in range(2000):
        data.ctrl = 30 if k % 500 < 250 else -30
        mujoco.mj_step(model, data)
        rows.append((*data.qpos, *data.qvel))
    return rows


def gaps(gears):
    """A gap that is changed is the gap of a model that is written so, whether the rotor is the plugin's or
    a joint, and whichever of two joints is named."""
    for rotor, value, driven, names in (("rotor_inertia", 0.5, "j", [1]), ("motor_joint", "m", "m", [0, 1])):
        first, other = (mujoco.MjModel.from_xml_string(GAP.format(
            half_gap=half_gap, stiffness=stiffness, rotor=rotor, value=value, driven=driven))
            for half_gap, stiffness in ((0.01, 2000), (0.04, 900)))
        expected, plain = (trajectory(m, mujoco.MjData(m)) for m in (other, first))
        assert expected != plain
        for joint in names:
            data = mujoco.MjData(first)
            assert gears.change(first, data, joint, half_gap=0.04, stiffness=900) == (0, "")
            assert trajectory(first, data) == expected, rotor
            assert gears.read(first, data, joint, "half_gap") == (1, 0.04)
            assert gears.read(first, data, joint, "damping") == (1, 20)
            assert gears.read(first, data, joint, "exponent")[0] == 0
            mujoco.mj_resetData(first, data)
            assert gears.reset(first, data) == 0
            assert trajectory(first, data) == plain, rotor

    # the motor presses against an equal torque on the joint: half of the gap, and the twist of the shaft
    model = mujoco.MjModel.from_xml_string(GAP.format(
        half_gap=0.01, stiffness=2000, rotor="rotor_inertia", value=0.5, driven="j").replace(
        'value="0.1"', 'value="0"').replace('value="0.3"', 'value="0"'))
    data = mujoco.MjData(model)
    assert gears.change(model, data, 1, half_gap=0.03, stiffness=500, damping=10) == (0, "")
    data.ctrl, data.qfrc_applied[1] = 5, -5
    mujoco.mj_step(model, data, 5000)
    twist = data.sensor("s").data[7] - data.qpos[1]
    assert abs(twist - (0.03 + 5 / 500)) < 1e-9, twist

    # refusals leave all as it was
    for keys, words in (({"half_gap": -1, "stiffness": 7}, "half_gap must be"),
                        ({"stiffness": float("nan")}, "stiffness"),
                        ({"exponent": 2}, "does not use it"),
                        ({"rotor_inertia": 0}, "positive inertia")):
        status, error = gears.change(model, data, 1, **keys)
        assert status == -1 and words in error and "'j'" in error, error
    assert gears.read(model, data, 1, "stiffness") == (1, 500)
    assert gears.read(model, data, 1, "rotor_inertia") == (1, 0.5)


def words(gears, model):
    """A gear described in other words, and another solver, are those of a model that is written so."""
    def written(keys):
        lines = "".join(f'<config key="{key}" value="{value}"/>' for key, value in keys.items())
        text = MODEL[:MODEL.index('<config key="type"')] + lines + MODEL[MODEL.index("</instance>"):]
        other = mujoco.MjModel.from_xml_string(text)
        return trajectory(other, mujoco.MjData(other))

    plain = trajectory(model, mujoco.MjData(model))
    for keys in ({"gamma_u": 0.1, "gamma_v": 0.4}, {"eta_forward": 0.7, "eta_backward": 0.5}):
        data = mujoco.MjData(model)
        assert gears.change(model, data, 0, coulomb=0.5) == (0, "")
        assert gears.change(model, data, 0, "mjg_describeGear", **keys) == (0, "")
        expected = written({**keys, "coulomb": 0.5})
        assert trajectory(model, data) == expected != plain
        assert gears.read(model, data, 0, "mu")[0] == 0
    # a change that is too much for the gear leaves it as it was
    status, error = gears.change(model, data, 0, "mjg_describeGear", gamma_u=1, gamma_v=0)
    assert status == -1 and "the motor cannot drive" in error
    assert gears.read(model, data, 0, "eta_forward") == (1, 0.7)

    assert gears.solver(model, data) == "newton"
    assert gears.solver(model, data, "lemke") == (0, "")
    copy = mujoco.MjData(model)
    mujoco.mj_copyData(copy, model, data)
    assert gears.solver(model, copy) == "lemke"
    status, error = gears.solver(model, data, "simplex")
    assert status == -1 and "'simplex'" in error and gears.solver(model, data) == "lemke"
    assert gears.reset(model, data) == 0 and gears.solver(model, data) == "newton"


def main():
    mujoco.mj_loadPluginLibrary(PATH)
    gears = Gears()
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)

    # locked, then oiled, then dry again
    assert steps(model, data) == 0
    assert gears.change(model, data, 0, mu=0.1) == (0, "")
    assert gears.read(model, data, 0, "mu") == (1, 0.1)
    assert steps(model, data) < 0
    other = mujoco.MjData(model)
    assert steps(model, other) == 0, "another mjData has changed"
    assert gears.change(model, data, 0, mu=0.3) == (0, "")
    assert steps(model, data, 2000) == 0

    # copies take it along, reset keeps it, the model's gears come back on request
    gears.change(model, data, 0, mu=0.1)
    copy = mujoco.MjData(model)
    mujoco.mj_copyData(copy, model, data)
    assert gears.read(model, copy, 0, "mu") == (1, 0.1)
    mujoco.mj_resetData(model, data)
    assert steps(model, data) < 0
    assert gears.reset(model, data) == 0
    mujoco.mj_resetData(model, data)
    assert steps(model, data) == 0
    assert gears.read(model, data, 0, "mu") == (1, 0.3)
    assert gears.read(model, data, 0, "coulomb")[0] == 0
    assert gears.read(model, data, 0, "gamma_v")[0] == 1

    # several keys at once, or none of them
    status, error = gears.change(model, data, 0, mu=0.1, coulomb=-1, colomb=2, armature=1)
    assert status == -1 and gears.read(model, data, 0, "mu") == (1, 0.3)
    for word in ("'j'", "unknown key 'colomb', did you mean coulomb", "mjModel.dof_armature"):
        assert word in error, f"{word} is not in: {error}"
    status, error = gears.change(model, data, 0, coulomb=-1)
    assert status == -1 and "coulomb = -1" in error and "at least 0" in error
    status, error = gears.change(model, data, 0, eta_forward=0.5)
    assert status == -1 and "eta_forward contradicts type worm" in error
    assert gears.change(model, data, 0, mu=float("nan"))[0] == -1
    status, error = gears.change(model, data, 1, mu=0.1)
    assert status == -1 and "'free'" in error and "no gear" in error
    assert gears.change(model, data, 77, mu=0.1)[0] == -1
    assert gears.read(model, data, 0, "nothing")[0] == -1

    gaps(gears)
    words(gears, model)

    # many threads, each with its own friction, give what one thread gives
    def roll(mu, out, i):
        own = mujoco.MjData(model)
        for k in range(200):
            gears.change(model, own, 0, mu=mu * (1 + 0.1 * (k % 3)))
            mujoco.mj_step(model, own, 5)
        out[i] = own.qpos[0]

    values = [0.02 * (i + 1) for i in range(8)]
    alone, together = [0] * 8, [0] * 8
    for i, mu in enumerate(values):
        roll(mu, alone, i)
    threads = [threading.Thread(target=roll, args=(mu, together, i)) for i, mu in enumerate(values)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert alone == together, f"{alone} {together}"
    assert len(set(alone)) > 5


main()
