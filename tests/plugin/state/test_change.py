"""Gears that change in a running simulation: in force from the next step on, one mjData at a time, validated as a
whole, from many threads at once; gaps and the solver too. A change is state: it is saved, restored, copied and reset
like a position. Each row of a Batch has its own, and writing it by hand is equivalent."""

import ctypes
import os
import subprocess
import sys
import tempfile
import threading

import mujoco
from mujoco import batch, rollout
import numpy as np

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


class Address(ctypes.Structure):
    """mjgStateAddress"""

    _fields_ = [("value", ctypes.c_int), ("given", ctypes.c_int), ("bit", ctypes.c_double)]


class Gears:
    def __init__(self):
        self.library = ctypes.CDLL(PATH)

    def where(self, model, joint, name):
        place = Address()
        status = self.library.mjg_stateAddress(ctypes.byref(place), self.address(model), joint, name.encode())
        return place if status == 0 else None

    def write(self, rows, model, joint, name, value):
        """As a program does that writes the numbers itself, into one state or into one for each simulation."""
        place = self.where(model, joint, name)
        rows[..., place.value] = value
        if place.given >= 0:
            has = np.floor_divide(rows[..., place.given], place.bit) % 2
            rows[..., place.given] += place.bit * (1 - has)

    @staticmethod
    def address(thing):
        return ctypes.c_void_p(thing._address)

    def change(self, model, data, joint, function="mjg_setGears", **keys):
        names = (ctypes.c_char_p * len(keys))(*(key.encode() for key in keys))
        values = (ctypes.c_double * len(keys))(*keys.values())
        error = ctypes.create_string_buffer(500)
        status = self.library[function](
            self.address(model), self.address(data), joint, names, values, len(keys), error, len(error)
        )
        return status, error.value.decode()

    def read(self, model, data, joint, key):
        value = ctypes.c_double(-1)
        status = self.library.mjg_getGear(
            ctypes.byref(value), self.address(model), self.address(data), joint, key.encode()
        )
        return status, value.value

    def solver(self, model, data, name=None):
        """Set it, or read it without a name."""
        if name is None:
            self.library.mjg_getSolver.restype = ctypes.c_char_p
            return self.library.mjg_getSolver(self.address(model), self.address(data)).decode()
        error = ctypes.create_string_buffer(500)
        status = self.library.mjg_setSolver(self.address(model), self.address(data), name.encode(), error, len(error))
        return status, error.value.decode()

    def reset(self, model, data):
        return self.library.mjg_resetGears(self.address(model), self.address(data))


def steps(model, data, n=100):
    mujoco.mj_step(model, data, n)
    return data.qvel[0]


def trajectory(model, data, steps=2000):
    """Driven back and forth, through the gap if there is one."""
    rows = []
    for k in range(steps):
        data.ctrl = 30 if k % 500 < 250 else -30
        mujoco.mj_step(model, data)
        rows.append((*data.qpos, *data.qvel))
    return rows


def gaps(gears):
    """A changed gap equals the gap of a model with these keys, whether the rotor is the plugin's or a
    joint, and whichever of two joints is named."""
    for rotor, value, driven, names in (("rotor_inertia", 0.5, "j", [1]), ("motor_joint", "m", "m", [0, 1])):
        first, other = (
            mujoco.MjModel.from_xml_string(
                GAP.format(half_gap=half_gap, stiffness=stiffness, rotor=rotor, value=value, driven=driven)
            )
            for half_gap, stiffness in ((0.01, 2000), (0.04, 900))
        )
        expected, plain = (trajectory(m, mujoco.MjData(m)) for m in (other, first))
        assert expected != plain
        for joint in names:
            data = mujoco.MjData(first)
            assert gears.change(first, data, joint, half_gap=0.04, stiffness=900) == (0, "")
            assert trajectory(first, data) == expected, rotor
            assert gears.read(first, data, joint, "half_gap") == (1, 0.04)
            assert gears.read(first, data, joint, "damping") == (1, 20)
            assert gears.read(first, data, joint, "exponent")[0] == 0
            assert gears.reset(first, data) == 0
            mujoco.mj_resetData(first, data)
            assert trajectory(first, data) == plain, rotor

    # the motor presses against an equal torque on the joint: half of the gap, and the twist of the shaft
    model = mujoco.MjModel.from_xml_string(
        GAP.format(half_gap=0.01, stiffness=2000, rotor="rotor_inertia", value=0.5, driven="j")
        .replace('value="0.1"', 'value="0"')
        .replace('value="0.3"', 'value="0"')
    )
    data = mujoco.MjData(model)
    assert gears.change(model, data, 1, half_gap=0.03, stiffness=500, damping=10) == (0, "")
    data.ctrl, data.qfrc_applied[1] = 5, -5
    mujoco.mj_step(model, data, 5000)
    twist = data.sensor("s").data[7] - data.qpos[1]
    assert abs(twist - (0.03 + 5 / 500)) < 1e-9, twist

    # refusals leave everything unchanged
    for keys, words in (
        ({"half_gap": -1, "stiffness": 7}, "half_gap must be"),
        ({"stiffness": float("nan")}, "stiffness"),
        ({"exponent": 2}, "does not use it"),
        ({"rotor_inertia": 0}, "positive inertia"),
        ({"rotor_inertia": 5e-324}, "positive inertia"),
    ):
        status, error = gears.change(model, data, 1, **keys)
        assert status == -1 and words in error and "'j'" in error, error
    assert gears.read(model, data, 1, "stiffness") == (1, 500)
    assert gears.read(model, data, 1, "rotor_inertia") == (1, 0.5)


def words(gears, model):
    """A new description of a gear, and another solver, equal those of a model with these keys."""

    def written(keys):
        lines = "".join(f'<config key="{key}" value="{value}"/>' for key, value in keys.items())
        text = MODEL[: MODEL.index('<config key="type"')] + lines + MODEL[MODEL.index("</instance>") :]
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
    # an impossible change leaves the gear unchanged
    status, error = gears.change(model, data, 0, "mjg_describeGear", gamma_u=1, gamma_v=0)
    assert status == -1 and "no motor can drive" in error
    assert gears.read(model, data, 0, "eta_forward") == (1, 0.7)

    assert gears.solver(model, data) == "newton"
    assert gears.solver(model, data, "lemke") == (0, "")
    copy = mujoco.MjData(model)
    mujoco.mj_copyData(copy, model, data)
    assert gears.solver(model, copy) == "lemke"
    status, error = gears.solver(model, data, "simplex")
    assert status == -1 and "'simplex'" in error and gears.solver(model, data) == "lemke"
    assert gears.reset(model, data) == 0 and gears.solver(model, data) == "newton"


def refusals(gears, model):
    """Invalid requests are refused: null pointers, data of another model, words that do not describe a gear."""
    data = mujoco.MjData(model)
    lib, m, d = gears.library, gears.address(model), gears.address(data)
    error, one = ctypes.create_string_buffer(500), ctypes.c_double(1)
    value = ctypes.byref(ctypes.c_double())
    keys = (ctypes.c_char_p * 1)(None)
    values = (ctypes.c_double * 1)(1)
    free = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    )
    more = mujoco.MjModel.from_xml_string(MODEL.replace('<body><joint name="free"', '<body><joint/><joint name="free"'))
    data_of_free, data_of_more = mujoco.MjData(free), mujoco.MjData(more)
    strangers = [
        (None, d),
        (m, None),
        (None, None),
        (gears.address(free), d),
        (m, gears.address(data_of_free)),
        (m, gears.address(data_of_more)),
        (gears.address(more), d),
    ]
    for a, b in strangers:
        for call in (
            lambda: lib.mjg_setGear(a, b, 0, b"mu", one, error, 500),
            lambda: lib.mjg_setGears(a, b, 0, (ctypes.c_char_p * 1)(b"mu"), values, 1, error, 500),
            lambda: lib.mjg_describeGear(a, b, 0, (ctypes.c_char_p * 1)(b"mu"), values, 1, error, 500),
            lambda: lib.mjg_setSolver(a, b, b"lemke", error, 500),
        ):
            error.value = b""
            assert call() == -1
            assert b"model" in error.value and error.value.count(b"\n") == 1, error.value
        assert lib.mjg_getGear(value, a, b, 0, b"mu") == -1
        assert lib.mjg_resetGears(a, b) == -1
        lib.mjg_getSolver.restype = ctypes.c_void_p
        assert lib.mjg_getSolver(a, b) is None
        lib.mjg_getSolver.restype = ctypes.c_char_p
    assert lib.mjg_setSolver(m, d, None, error, 500) == -1 and b"solver" in error.value
    assert lib.mjg_setSolver(m, d, None, None, 0) == -1
    assert lib.mjg_setGear(m, d, 0, None, one, error, 500) == -1 and b"key" in error.value
    assert lib.mjg_setGears(m, d, 0, keys, values, 1, error, 500) == -1
    assert lib.mjg_setGears(m, d, 0, None, values, 1, error, 500) == -1
    assert lib.mjg_setGears(m, d, 0, keys, None, 1, error, 500) == -1
    assert lib.mjg_getGear(None, m, d, 0, b"mu") == -1 and lib.mjg_getGear(value, m, d, 0, None) == -1
    assert lib.mjg_stateAddress(None, m, 0, b"mu") == -1
    assert gears.where(model, 1, "mu") is None and gears.where(model, 0, "nothing") is None
    assert gears.where(model, 0, "gamma_v") and gears.where(model, 0, "mu") is None  # describes, is not read
    status, line = gears.change(model, data, 0, radius_in=0.1)
    assert status == -1 and "the model does not give it" in line, line

    # words that do not describe the gear do not restore the old description
    for keys in {"coulomb": 0.5}, {}:
        assert gears.change(model, data, 0, "mjg_describeGear", gamma_u=0.1, gamma_v=0.4) == (0, "")
        status, line = gears.change(model, data, 0, "mjg_describeGear", **keys)
        assert status == -1 and "says what the gear is" in line, line
        assert gears.read(model, data, 0, "gamma_v") == (1, 0.4)


def numbers(gears):
    """Each number is separate in the state; the numbers of a joint and its motor belong to one gear."""
    model = mujoco.MjModel.from_xml_string(
        GAP.format(half_gap=0.01, stiffness=2000, rotor="motor_joint", value="m", driven="m")
    )
    names = [
        "gamma_u",
        "gamma_v",
        "coulomb",
        "static_ratio",
        "half_gap",
        "stiffness",
        "damping",
        "solver",
        "fallbacks",
        "friction",
        "mode",
        "gap_position",
    ]
    seen = set()
    for name in names:
        place = gears.where(model, 1, name)
        assert 0 <= place.value < model.npluginstate and place.value not in seen, name
        seen.add(place.value)
        if name not in ("friction", "mode", "gap_position"):
            assert gears.where(model, 0, name).value == place.value, name
    assert gears.where(model, 0, "friction").value != gears.where(model, 1, "friction").value
    data = mujoco.MjData(model)
    gears.change(model, data, 1, gamma_v=0.25, half_gap=0.02)
    bits = {}
    for name in (
        "gamma_u",
        "gamma_v",
        "coulomb",
        "static_ratio",
        "presliding_stiffness",
        "stribeck_friction",
        "oneway",
        "ratio",
        "half_gap",
        "slip_torque",
    ):
        place = gears.where(model, 0, name)
        assert place.bit == 2 ** int(np.log2(place.bit)) <= 2**52 and (place.given, place.bit) not in bits, name
        bits[place.given, place.bit] = name
    assert len({given for given, _ in bits}) == 3
    for name, value in ("gamma_v", 0.25), ("half_gap", 0.02):
        place = gears.where(model, 0, name)
        assert data.plugin_state[place.value] == value and data.plugin_state[place.given] == place.bit


def release():
    """A model that another release saved in binary, with a state of another size or with fewer keys, is refused in one line."""
    for what in "statenum", "keys":
        result = subprocess.run([sys.executable, __file__, what], capture_output=True, text=True, check=False)
        assert "refused" in result.stdout and "another release" in result.stderr and "compile" in result.stderr, result

    # of another MuJoCo the engine refuses it, by each of the first five words: its mark, sizes of numbers, counts of sizes and
    # pointers, release
    model = mujoco.MjModel.from_xml_string(MODEL)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.mjb")
        mujoco.mj_saveModel(model, path)
        with open(path, "rb") as file:
            saved = file.read()
        assert mujoco.mj_version() in np.frombuffer(saved[:20], np.int32)
        for word in range(5):
            other = np.frombuffer(saved, np.uint8).copy()
            other[4 * word : 4 * word + 4].view(np.int32)[0] += 1
            with open(path, "wb") as file:
                file.write(other.tobytes())
            said = []
            mujoco.set_mju_user_warning(said.append)
            try:
                mujoco.MjModel.from_binary_path(path)
                raise AssertionError(f"word {word} is not read")
            except ValueError:
                assert len(said) == 1, said
            finally:
                mujoco.set_mju_user_warning(None)


def older(what):
    model = mujoco.MjModel.from_xml_string(MODEL)
    if what == "statenum":
        model.plugin_statenum[0] -= 1
    else:  # the first of two empty values at the end becomes a letter of the second
        empty = np.flatnonzero((model.plugin_attr[:-1] == 0) & (model.plugin_attr[1:] == 0))
        model.plugin_attr[empty[-1]] = ord("x")
    try:
        mujoco.MjData(model)
    except Exception:
        print("refused")


def foreign(gears):
    """A state of a model with other gears, or the same in other places, gives every step the status of wrong numbers and the
    motion of the model's gears; other values of keys are no other gears."""
    xml = """<mujoco><extension><plugin plugin="mjgear.transmission"><instance name="g">{}<config key="coulomb" value="0.1 0.2"/></instance></plugin></extension><worldbody>
      <body><joint name="a" axis="0 1 0" armature=".1"/><geom size=".1" pos=".2 0 0"/></body>
      <body pos="0 1 0"><joint name="b" axis="0 1 0" armature=".1"/><geom size=".1" pos=".2 0 0"/></body></worldbody>
      <actuator><motor joint="a"/></actuator><sensor><plugin name="s" plugin="mjgear.transmission" instance="g" objtype="joint" objname="a"/></sensor></mujoco>"""
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS

    def make(**keys):
        return mujoco.MjModel.from_xml_string(
            xml.format("".join(f'<config key="{key}" value="{value}"/>' for key, value in keys.items()))
        )

    worm = {"joint": "a b", "type": "worm", "lead_angle": 0.1, "pressure_angle": 0.3, "mu": 0.1}
    model = make(**worm)
    data = mujoco.MjData(model)
    for joint in 0, 1:
        assert gears.change(model, data, joint, coulomb=0.5) == (0, "")
    mujoco.mj_step(model, data, 10)
    saved = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data, saved, full)
    for keys, right in (
        (worm, 0),
        (worm | {"mu": 0.2}, 0),
        (worm | {"joint": "b a"}, -1),
        ({"joint": "a b", "type": "wedge", "input_angle": 1, "output_angle": 1, "mu": 0.1}, -1),
    ):
        other = make(**keys)
        assert mujoco.mj_stateSize(other, full) == len(saved)
        data, own = mujoco.MjData(other), mujoco.MjData(other)
        mujoco.mj_setState(other, data, saved, full)
        own.qpos, own.qvel, own.ctrl, data.ctrl = data.qpos, data.qvel, -60, -60
        for _ in range(3):
            mujoco.mj_step(other, data)
            mujoco.mj_step(other, own)
            assert (abs(data.qvel[0] - own.qvel[0]) < 1e-12) == (right != 0), (keys, data.qvel, own.qvel)
            assert data.sensor("s").data[11] == right, (keys, data.sensor("s").data)
        mujoco.mj_resetData(other, data)
        mujoco.mj_step(other, data)
        assert data.sensor("s").data[11] == 0, keys


def state(gears):
    """Saved, restored, copied, and in rollouts of one model: bit for bit."""
    model = mujoco.MjModel.from_xml_string(
        GAP.format(half_gap=0.01, stiffness=2000, rotor="rotor_inertia", value=0.5, driven="j")
    )
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    size = mujoco.mj_stateSize(model, full)
    starts, expected = [], []
    for k in range(5):
        data = mujoco.MjData(model)
        data.qvel = 0.1 * k
        if k:
            assert gears.change(
                model, data, 1, gamma_v=0.2 * k, half_gap=0.01 * k, coulomb=0.3 * k, curved_friction=0.1 * k
            ) == (0, "")
        if k > 2:
            assert gears.change(model, data, 1, "mjg_describeGear", eta_forward=0.9, eta_backward=0.2 * k) == (0, "")
            assert gears.solver(model, data, "gauss_seidel") == (0, "")
        mujoco.mj_step(model, data, 30)
        starts.append(np.empty(size))
        mujoco.mj_getState(model, data, starts[-1], full)
        start = mujoco.MjData(model)
        mujoco.mj_setState(model, start, starts[-1], full)
        assert gears.read(model, start, 1, "half_gap") == gears.read(model, data, 1, "half_gap")
        assert gears.solver(model, start) == gears.solver(model, data)
        data.qacc_warmstart = 0
        rows = []
        for _ in range(100):
            mujoco.mj_step(model, data)
            rows.append(np.concatenate([data.qpos, data.qvel, data.plugin_state, data.sensordata]))
        expected.append(rows)
        again = []
        for _ in range(100):
            mujoco.mj_step(model, start)
            again.append(np.concatenate([start.qpos, start.qvel, start.plugin_state, start.sensordata]))
        assert np.array(again).tobytes() == np.array(rows).tobytes(), k
    assert len({rows[-1][1] for rows in expected}) == 5
    for nthread in 1, 2:
        with rollout.Rollout(nthread=nthread) as pool:
            datas = [mujoco.MjData(model) for _ in range(nthread)]
            for data in datas:  # earlier content of the data does not matter
                gears.change(model, data, 1, gamma_u=0.5, coulomb=7)
            _, sensor = pool.rollout(model, datas, np.array(starts), nstep=100)
        for k, rows in enumerate(expected):
            assert sensor[k].tobytes() == np.array([row[-14:] for row in rows]).tobytes(), (nthread, k)


def rows(gears):
    """Each simulation of a Batch gets its gear as numbers in a row: bit for bit it equals a simulation whose gear was set by name. A reset restores the model's gear."""
    model = mujoco.MjModel.from_xml_string(
        GAP.format(half_gap=0.01, stiffness=2000, rotor="rotor_inertia", value=0.5, driven="j")
    )
    n, nstep = 7, 150
    mean = {"gamma_u": np.linspace(0, 0.3, n), "coulomb": np.linspace(0, 1, n), "half_gap": np.linspace(0.001, 0.05, n)}
    expected = []
    for i in range(n):
        data = mujoco.MjData(model)
        if i:
            assert gears.change(model, data, 1, **{key: values[i] for key, values in mean.items()}) == (0, "")
        for k in range(nstep):
            data.ctrl = 30 * np.sin(0.1 * k)
            mujoco.mj_step(model, data)
        expected.append(data)
    assert len({data.qpos[1] for data in expected}) == n
    plain = mujoco.MjData(model)
    mujoco.mj_step(model, plain, 20)
    for persistent in False, True:
        for nthread in 1, 2:
            many = batch.Batch(model, n, nthread=nthread, persistent=persistent)
            numbers_, sensor, ctrl = many.bind("plugin_state"), many.bind("sensordata"), many.bind("ctrl")
            for key, values in mean.items():
                gears.write(numbers_[1:], model, 1, key, values[1:])
            for k in range(nstep):
                ctrl[:] = 30 * np.sin(0.1 * k)
                many.step()
            for i, data in enumerate(expected):
                assert many.bind("qpos")[i].tobytes() == data.qpos.tobytes(), (persistent, nthread, i)
                assert sensor[i].tobytes() == data.sensordata.tobytes(), (persistent, nthread, i)
                assert numbers_[i].tobytes() == data.plugin_state.tobytes(), (persistent, nthread, i)
            many.reset()
            many.step(nstep=20)
            assert (many.bind("qpos") == plain.qpos).all()


def refuse_invalid(gears):
    """In a separate process; the caller counts its lines."""
    model = mujoco.MjModel.from_xml_string(
        GAP.format(half_gap=0.01, stiffness=2000, rotor="rotor_inertia", value=0.5, driven="j")
    )
    steps = 600  # one way and back
    plain = trajectory(model, mujoco.MjData(model), steps)
    for name, value in INVALID:
        data = mujoco.MjData(model)
        print("next", name, file=sys.stderr, flush=True)
        gears.write(data.plugin_state, model, 1, name, value)
        for _ in range(3):
            mujoco.mj_step(model, data)
            assert data.sensor("s").data[11] == -1, name
        for _ in range(2):  # a reset does not make the line appear again
            mujoco.mj_resetData(model, data)
            gears.write(data.plugin_state, model, 1, name, value)
            assert trajectory(model, data, steps) == plain, name
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data)
        assert data.sensor("s").data[11] == 0, name
    print("done")


INVALID = [
    ("gamma_v", float("nan")),
    ("coulomb", -1),
    ("gamma_u", 1),
    ("half_gap", -1),
    ("given", 0.5),
    ("given_2", 2.0**40),
    ("solver", 99),
    ("rotor_inertia", 0),
    ("static_ratio", 0.5),
    ("oneway", 0.5),
    ("gamma_u", -0.5),
]


def many(gears):
    """Many states changed at once equal states changed one by one; a refused one keeps all unchanged."""
    model = mujoco.MjModel.from_xml_string(MODEL)
    n, size = 5, model.npluginstate
    one = mujoco.MjData(model)
    states = np.zeros((n, size + 3))
    names = (ctypes.c_char_p * 2)(b"gamma_u", b"gamma_v")
    values = np.array([[0.1 * i, 0.2 * i] for i in range(n)])
    pointer = ctypes.POINTER(ctypes.c_double)
    error = ctypes.create_string_buffer(500)

    def change(numbers, names=names):
        joints, describe = (ctypes.c_int * len(names))(), (ctypes.c_int * len(names))(*len(names) * [1])
        return gears.library.mjg_setStates(
            gears.address(model),
            states.ctypes.data_as(pointer),
            n,
            size + 3,
            joints,
            names,
            numbers.ctypes.data_as(pointer),
            describe,
            len(names),
            error,
            500,
        )

    assert change(values) == 0, error.value
    for i in range(n):
        assert gears.change(model, one, 0, "mjg_describeGear", gamma_u=0.1 * i, gamma_v=0.2 * i) == (0, "")
        assert (states[i, :size] == one.plugin_state).all() and not states[i, size:].any()
    before, wrong = states.copy(), values.copy()
    wrong[3, 0] = 1
    assert change(wrong) == -1 and (states == before).all()
    assert b"state 3" in error.value and error.value.count(b"\n") == 1, error.value

    # overlapping states are refused, and nothing is written
    kept = states.copy()
    for stride in (size - 1, 1, 0, -size):
        joints, describe = (ctypes.c_int * 2)(), (ctypes.c_int * 2)(1, 1)
        assert (
            gears.library.mjg_setStates(
                gears.address(model),
                states.ctypes.data_as(pointer),
                n,
                stride,
                joints,
                names,
                values.ctypes.data_as(pointer),
                describe,
                2,
                error,
                500,
            )
            == -1
        )
        assert b"closer than" in error.value and (states == kept).all(), stride
        out = np.full(n, 7.0)
        assert (
            gears.library.mjg_getStates(
                out.ctypes.data_as(pointer),
                gears.address(model),
                states.ctypes.data_as(pointer),
                n,
                stride,
                0,
                b"gamma_v",
            )
            == -1
            and (out == 7).all()
        ), stride
    out = np.zeros(n)
    for name, given, expected in ("gamma_v", 1, values[:, 1]), ("mu", 0, np.full(n, np.nan)):
        assert (
            gears.library.mjg_getStates(
                out.ctypes.data_as(pointer),
                gears.address(model),
                states.ctypes.data_as(pointer),
                n,
                size + 3,
                0,
                name.encode(),
            )
            == given
        )
        assert np.array_equal(out, expected, equal_nan=True), name


def invalid():
    """Numbers that describe no gear are refused with one line; the model's gear is used, with its status."""
    result = subprocess.run([sys.executable, __file__, "invalid"], capture_output=True, text=True, check=False)
    assert "done" in result.stdout, result.stderr
    parts = result.stderr.split("next ")[1:]
    assert len(parts) == len(INVALID), result.stderr
    for part in parts:
        assert part.count("in plugin_state") == 1, part


def test_change():
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

    # copies take it along, the model's gears come back on request and with a reset
    gears.change(model, data, 0, mu=0.1)
    copy = mujoco.MjData(model)
    mujoco.mj_copyData(copy, model, data)
    assert gears.read(model, copy, 0, "mu") == (1, 0.1)
    assert gears.reset(model, copy) == 0
    assert gears.read(model, copy, 0, "mu") == (1, 0.3)
    assert gears.read(model, data, 0, "mu") == (1, 0.1)
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
    refusals(gears, model)
    numbers(gears)
    state(gears)
    rows(gears)
    many(gears)
    invalid()
    release()
    foreign(gears)

    # many threads, each with its own friction, give the same as one thread
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


if __name__ == "__main__":
    if sys.argv[1:] == ["invalid"]:
        mujoco.mj_loadPluginLibrary(PATH)
        refuse_invalid(Gears())
    elif sys.argv[1:] in (["statenum"], ["keys"]):
        mujoco.mj_loadPluginLibrary(PATH)
        older(sys.argv[1])
    else:
        test_change()
