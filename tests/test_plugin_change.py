"""Gears that change while a simulation runs: in force from the next step on, one mjData at a time,
validated as a whole, from many threads at once."""

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


class Gears:
    def __init__(self):
        self.library = ctypes.CDLL(PATH)

    @staticmethod
    def address(thing):
        return ctypes.c_void_p(thing._address)

    def change(self, model, data, joint, **keys):
        names = (ctypes.c_char_p * len(keys))(*(key.encode() for key in keys))
        values = (ctypes.c_double * len(keys))(*keys.values())
        error = ctypes.create_string_buffer(500)
        status = self.library.mjg_setGears(self.address(model), self.address(data), joint, names,
                                           values, len(keys), error, len(error))
        return status, error.value.decode()

    def read(self, model, data, joint, key):
        value = ctypes.c_double(-1)
        status = self.library.mjg_getGear(ctypes.byref(value), self.address(model),
                                          self.address(data), joint, key.encode())
        return status, value.value

    def reset(self, model, data):
        return self.library.mjg_resetGears(self.address(model), self.address(data))


def steps(model, data, n=100):
    mujoco.mj_step(model, data, n)
    return data.qvel[0]


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
