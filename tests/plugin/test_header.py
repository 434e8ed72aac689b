"""Sentences of plugin/mjgear_plugin.h of the kind "not", "none", "-1", "untouched", "refused", each a call."""

import concurrent.futures
import ctypes
import warnings

import mujoco
import numpy as np

import mjgear
from mjgear import _library

XML = """<mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom size=".1"/></body>
  <body><joint name="b" type="ball"/><geom size=".1" pos="1 0 0"/></body></worldbody><actuator><motor joint="a"/></actuator></mujoco>"""
ERROR = ctypes.create_string_buffer(400)


def pointer(one):
    return ctypes.c_void_p(one._address)


def doubles(*values):
    return (ctypes.c_double * len(values))(*values)


def texts(*values):
    return (ctypes.c_char_p * len(values))(*values)


def start():
    """The library with undeclared functions; a model with a gear at its hinge and its data, and the same without."""
    spec = mujoco.MjSpec.from_string(XML)
    plain = spec.copy().compile()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mjgear.add(spec, "a", eta_forward=0.7, coulomb=0.1)
    m = spec.compile()
    d = mujoco.MjData(m)
    mujoco.mj_step(m, d)
    return ctypes.CDLL(str(_library.path())), m, d, plain, mujoco.MjData(plain)


def test_what_has_no_gear():
    library, m, d, plain, none = start()
    address, facts, roles = (ctypes.create_string_buffer(400) for _ in range(3))
    library.mjg_getSolver.restype = ctypes.c_char_p
    assert library.mjg_checkModel(None, ERROR, 400, ERROR, 400) == -1
    assert [library.mjg_actuatorRoles(roles, pointer(m), joint) for joint in (0, 1, 77, -1)] == [1, -1, -1, -1]
    for model, joint, name, expected in ((m, 0, b"friction", 0), (m, 0, b"steps", 0), (m, 0, b"no", -1), (m, 1, b"friction", -1), (plain, 0, b"friction", -1)):  # fmt: skip
        assert library.mjg_stateAddress(address, pointer(model), joint, name) == expected, (joint, name)
    assert library.mjg_getSolver(pointer(plain), pointer(none)) is None
    assert library.mjg_getSolver(pointer(m), pointer(d)) == b"newton"
    assert [library.mjg_resetGears(pointer(one), pointer(of)) for one, of in ((plain, none), (m, none), (m, d))] == [-1, -1, 0]  # fmt: skip
    assert [library.mjg_gearId(pointer(m), *of) for of in ((3, b"a"), (3, b"no"), (1, b"a"))] == [0, -1, -1]
    assert library.mjg_explainGear(facts, pointer(m), pointer(d), 1) == -1
    assert (library.mjg_checkKey(b"g", b"no", ERROR, 400), library.mjg_checkKey(b"g", b"coulomb", ERROR, 400)) == (1, 0)


def test_what_stays_untouched():
    library, m, d, _, none = start()
    value = doubles(*[7] * 40)
    assert library.mjg_readGear(value, pointer(m), pointer(d), 1) == -1 and set(value) == {7}
    assert library.mjg_readGear(None, pointer(m), pointer(d), 0) > 0
    for joint, key, expected in ((0, b"coulomb", 1), (0, b"stribeck_friction", 0), (1, b"coulomb", -1), (0, b"no", -1)):
        value[0] = 7
        assert library.mjg_getGear(value, pointer(m), pointer(d), joint, key) == expected
        assert value[0] == (0.1 if expected == 1 else 7)
    for key in (b"gamma_u", b"gamma_v", b"eta_forward", b"eta_backward"):
        assert library.mjg_getGear(value, pointer(m), pointer(d), 0, key) == 1
    before, pair = d.plugin_state.copy(), texts(b"coulomb", b"eta_forward")
    for model, data, keys, values in (
        (pointer(m), pointer(d), pair, doubles(0.5, 7)),
        (pointer(m), pointer(d), texts(b"mu", b"coulomb"), doubles(0.1, 1)),
        (pointer(m), pointer(none), pair, doubles(0.5, 0.6)),
        (pointer(m), None, pair, doubles(0.5, 0.6)),
        (None, pointer(d), pair, doubles(0.5, 0.6)),
    ):
        assert library.mjg_setGears(model, data, 0, keys, values, 2, ERROR, 400) == -1 and ERROR.value
        assert library.mjg_setGears(model, data, 0, keys, values, 2, None, 0) == -1
    assert np.array_equal(d.plugin_state, before)
    n, rows = m.npluginstate, np.tile(before, (3, 1))
    state, two = ctypes.c_void_p(rows.ctypes.data), (ctypes.c_int * 2)(0, 0)
    wrong = doubles(0.5, 0.6, 0.5, 0.6, -1, 0.6)
    assert library.mjg_setStates(pointer(m), state, 3, n, two, pair, wrong, None, 2, ERROR, 400) == -1
    assert np.array_equal(rows, np.tile(before, (3, 1))) and b"state 2: coulomb = -1" in ERROR.value
    for joint, key, expected in ((0, b"coulomb", 1), (0, b"stribeck_friction", 0), (1, b"coulomb", -1)):
        assert library.mjg_getStates(value, pointer(m), state, 3, n, joint, key) == expected
        assert expected == -1 or np.isnan(value[:3]).all() == (expected == 0)
    last = ctypes.c_void_p(rows[2].ctypes.data)
    assert (
        library.mjg_setStates(pointer(m), last, 1, n, two, texts(b"static_ratio"), doubles(1.5), None, 1, ERROR, 400)
        == 0
    )
    assert library.mjg_getStates(value, pointer(m), state, 3, n, 0, b"static_ratio") == 0
    assert np.isnan(value[:2]).all() and value[2] == 1.5


def test_what_inverse_refuses():
    library, m, d, _, _ = start()
    low, high, motion, qpos = doubles(0, 0), doubles(0, 0), (ctypes.c_int * 2)(), d.qpos.copy()
    for acceleration, refused in ((0.0, False), (1e10, False), (1.01e10, True), (np.nan, True)):
        found = library.mjg_inverse(low, high, motion, pointer(m), pointer(d), doubles(acceleration, 0, 0, 0), None, ERROR, 400)  # fmt: skip
        assert (found == -1) == refused, acceleration
    assert motion[1] == 0 and np.array_equal(d.qpos, qpos)  # mjgMOTION_UNGEARED
    play = mujoco.MjSpec.from_string(XML.replace("<motor", "<position gear='2'"))
    gap = {"backlash": "exact", "half_gap": 0.05, "stiffness": 500, "rotor_inertia": 0.02}
    mjgear.add(play, "a", eta_forward=0.8, eta_backward=0.7, **gap)
    model = play.compile()
    data = mujoco.MjData(model)
    data.ctrl[0] = 1
    mujoco.mj_step(model, data, 20)
    mjgear.inverse(model, data)  # the servo measures its rotor, and what the engine shows is the joint's
    assert abs(data.actuator_length[0] - 2 * data.qpos[0]) < 1e-15 and abs(mjgear.Gears(model, data)["a"].gap) > 1e-4
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    assert library.mjg_inverse(low, high, motion, pointer(m), pointer(d), None, None, ERROR, 400) == -1


def test_inverse_between_the_halves_of_a_step():
    """What a program writes into forces between mj_step1 and mj_step2 acts, and mjg_inverse computes it anew."""
    library, m, _, _, _ = start()
    low, high, ends = doubles(0, 0), doubles(0, 0), []
    for force, inverse in ((0, False), (5, False), (5, True)):
        d = mujoco.MjData(m)
        mujoco.mj_step1(m, d)
        d.qfrc_passive[0] += force
        if inverse:
            assert (
                library.mjg_inverse(low, high, None, pointer(m), pointer(d), doubles(0, 0, 0, 0), None, ERROR, 400) == 0
            )
        mujoco.mj_step2(m, d)
        ends.append(d.qvel[0])
    assert ends[0] == ends[2] != ends[1]


def test_derivatives_that_are_not_known():
    library, m, d, _, _ = start()
    side = (ctypes.c_int * 1)()
    for integrator, known in (("EULER", 1), ("RK4", 0)):
        qvel, state = doubles(*[7] * m.nv), doubles(*[7] * m.npluginstate)
        m.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
        d.qvel[0], d.ctrl[0] = 1, 5
        before = d.time, d.qpos.copy(), d.qvel.copy()
        assert library.mjg_controlDerivative(qvel, state, side, pointer(m), pointer(d), ctypes.c_double(1e-6), None, 0) == known  # fmt: skip
        assert d.time == before[0] and np.array_equal(d.qpos, before[1]) and np.array_equal(d.qvel, before[2])
        assert (side[0] == 3) == (not known) == (set(qvel) == set(state) == {0})


def test_threads_change_data_of_their_own():
    library, m, _, _, _ = start()

    def velocity(coulomb):
        d = mujoco.MjData(m)
        d.ctrl[0] = 5
        for k in range(300):
            number = ctypes.c_double(coulomb + 1e-3 * k)
            assert library.mjg_setGear(pointer(m), pointer(d), 0, b"coulomb", number, None, 0) == 0
            mujoco.mj_step(m, d)
        return d.qvel[0]

    bounds = [0.1 * i for i in range(8)]
    alone = [velocity(bound) for bound in bounds]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(velocity, bounds)) == alone and len(set(alone)) == 8


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
