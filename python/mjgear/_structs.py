"""The structures of the public headers for ctypes; a test compares their layout with the C compiler's."""

import ctypes
from ctypes import c_char_p, c_double, c_int, c_size_t, c_void_p
from typing import Any

import mujoco

from mjgear import _library


def _functions(library: ctypes.CDLL, declarations: dict[str, tuple[Any, ...]]) -> None:
    for name, (result, *arguments) in declarations.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments


def message(buffer: ctypes.Array[ctypes.c_char]) -> str:
    """Lines of the library; a letter of several bytes that its length cuts is left out."""
    return buffer.value.decode(errors="ignore")


def number_of(model: mujoco.MjModel, kind: int, own: int) -> int:
    """The number that names the gear of a joint or tendon of this id in the plugin's functions."""
    return own if kind == int(mujoco.mjtObj.mjOBJ_JOINT) else model.njnt + own


def object_of(model: mujoco.MjModel, number: int) -> tuple[mujoco.mjtObj, int]:
    """Type and id of the joint or tendon of such a number."""
    tendon = number >= model.njnt
    return (mujoco.mjtObj.mjOBJ_TENDON, number - model.njnt) if tendon else (mujoco.mjtObj.mjOBJ_JOINT, number)


def name_of(model: mujoco.MjModel, number: int) -> str:
    """Name of the joint or tendon of a gear, or its number where it has none."""
    return mujoco.mj_id2name(model, *object_of(model, number)) or str(number)


class KeyInfo(ctypes.Structure):
    """mjgKeyInfo"""

    _fields_ = [
        ("name", c_char_p),
        ("unit", c_char_p),
        ("min", c_double),
        ("max", c_double),
        ("open_min", c_int),
        ("open_max", c_int),
        ("engine", c_int),
        ("text", c_char_p),
    ]


core = _library.core()
_functions(core, {"mjg_keyInfo": (ctypes.POINTER(KeyInfo), c_int)})


def _count_keys() -> int:
    count = 0
    while core.mjg_keyInfo(count):
        count += 1
    return count


NKEY = _count_keys()
NTABLE = 5


class Spur(ctypes.Structure):
    """mjgSpur"""

    _fields_ = [
        (name, c_double) for name in ("radius_in", "radius_out", "pressure_angle", "mu", "approach", "recess", "pitch")
    ]


class Table(ctypes.Structure):
    """mjgTable"""

    _fields_ = [("n", c_int), ("x", c_double * 8), ("factor", c_double * 8)]


class Transmission(ctypes.Structure):
    """mjgTransmission"""

    _fields_ = [
        *(
            (name, c_double)
            for name in (
                "gamma_u",
                "gamma_v",
                "gamma_u_stribeck",
                "gamma_v_stribeck",
                "gamma_u_quadratic",
                "gamma_v_quadratic",
                "coulomb",
                "static_ratio",
                "presliding_stiffness",
                "stribeck_friction",
                "stribeck_velocity",
                "stribeck_exponent",
                "curved_friction",
                "curved_velocity",
                "curved_exponent",
                "oneway",
                "tooth_pitch",
                "tooth_phase",
                "viscous",
                "armature",
                "ratio",
            )
        ),
        ("spur", Spur),
        ("mesh", c_int),
        ("temperature", c_double),
        ("table", Table * NTABLE),
    ]


class Facts(ctypes.Structure):
    """mjgFacts"""

    _fields_ = [
        ("gear", Transmission),
        ("eta_f", c_double),
        ("eta_b", c_double),
        ("eta_f_rest", c_double),
        ("eta_b_rest", c_double),
        ("backdrivable", c_int),
        ("forward_drivable", c_int),
        ("varies", c_int),
        ("load", c_double),
        ("raise", c_double),
        ("lower", c_double),
        ("hold_low", c_double),
        ("hold_high", c_double),
        ("start_forward", c_double),
        ("start_backward", c_double),
        ("inertia", c_double),
        ("inertia_forward", c_double),
        ("inertia_backward", c_double),
        ("rho", c_double),
        ("catalogue_locks", c_int),
    ]


class Description(ctypes.Structure):
    """mjgDescription"""

    _fields_ = [("type", c_int), ("given", c_int * NKEY), ("value", c_double * NKEY), ("table", Table * NTABLE)]


class Report(ctypes.Structure):
    """mjgReport"""

    _fields_ = [("text", c_char_p), ("size", c_size_t), ("length", c_size_t), ("count", c_int), ("where", c_char_p)]


class Preset(ctypes.Structure):
    """mjgPreset"""

    _fields_ = [
        ("name", c_char_p),
        ("title", c_char_p),
        ("source", c_char_p),
        ("remark", c_char_p),
        ("description", Description),
        ("torque_constant", c_double),
        ("resistance", c_double),
    ]


class StateAddress(ctypes.Structure):
    """mjgStateAddress"""

    _fields_ = [("value", c_int), ("given", c_int), ("bit", c_double)]


_functions(
    core,
    {
        "mjg_version": (c_char_p,),
        "mjg_statusString": (c_char_p, c_int),
        "mjg_keyFromName": (c_int, c_char_p),
        "mjg_typeName": (c_char_p, c_int),
        "mjg_typeFromName": (c_int, c_char_p),
        "mjg_defaultDescription": (None, ctypes.POINTER(Description)),
        "mjg_give": (None, ctypes.POINTER(Description), c_int, c_double),
        "mjg_forget": (None, ctypes.POINTER(Description), c_int),
        "mjg_nearest": (c_int, c_char_p, ctypes.POINTER(c_char_p), c_int),
        "mjg_gapKeyInfo": (ctypes.POINTER(KeyInfo), c_int),
        "mjg_defaultTransmission": (None, ctypes.POINTER(Transmission)),
        "mjg_startReport": (None, ctypes.POINTER(Report), c_char_p, c_size_t),
        "mjg_tableName": (c_char_p, c_int),
        "mjg_tableFromName": (c_int, c_char_p),
        "mjg_readTable": (c_int, ctypes.POINTER(Table), ctypes.POINTER(Report), c_int, c_char_p),
        "mjg_readQuantity": (
            c_int,
            ctypes.POINTER(c_double),
            ctypes.POINTER(Report),
            ctypes.POINTER(KeyInfo),
            c_char_p,
        ),
        "mjg_warnAssumed": (c_int, ctypes.POINTER(Report), ctypes.POINTER(Description)),
        "mjg_transmission": (c_int, ctypes.POINTER(Transmission), ctypes.POINTER(Report), ctypes.POINTER(Description)),
        "mjg_describe": (c_int, ctypes.POINTER(Description), ctypes.POINTER(Report), ctypes.POINTER(Transmission)),
        "mjg_frictionAt": (None, *(3 * [ctypes.POINTER(c_double)]), ctypes.POINTER(Transmission), *(4 * [c_double])),
        "mjg_breakawayLoad": (c_double, ctypes.POINTER(Transmission), c_double, c_int),
        "mjg_breakawayMotor": (c_double, ctypes.POINTER(Transmission), c_double, c_int),
        "mjg_sticks": (c_int, ctypes.POINTER(Transmission), c_double, c_double),
        "mjg_explain": (None, ctypes.POINTER(Facts), ctypes.POINTER(Transmission), c_double, c_double),
        "mjg_presetCount": (c_int,),
        "mjg_preset": (c_int, ctypes.POINTER(Preset), c_int),
        "mjg_presetFromName": (c_int, c_char_p),
    },
)

plugin = _library.plugin()
_functions(
    plugin,
    {
        "mjg_setGears": (
            c_int,
            c_void_p,
            c_void_p,
            c_int,
            ctypes.POINTER(c_char_p),
            ctypes.POINTER(c_double),
            c_int,
            c_char_p,
            c_int,
        ),
        "mjg_describeGear": (
            c_int,
            c_void_p,
            c_void_p,
            c_int,
            ctypes.POINTER(c_char_p),
            ctypes.POINTER(c_double),
            c_int,
            c_char_p,
            c_int,
        ),
        "mjg_setSolver": (c_int, c_void_p, c_void_p, c_char_p, c_char_p, c_int),
        "mjg_getGear": (c_int, ctypes.POINTER(c_double), c_void_p, c_void_p, c_int, c_char_p),
        "mjg_getSolver": (c_char_p, c_void_p, c_void_p),
        "mjg_resetGears": (c_int, c_void_p, c_void_p),
        "mjg_setStates": (
            c_int,
            c_void_p,
            c_void_p,
            c_int,
            c_int,
            ctypes.POINTER(c_int),
            ctypes.POINTER(c_char_p),
            c_void_p,
            ctypes.POINTER(c_int),
            c_int,
            c_char_p,
            c_int,
        ),
        "mjg_getStates": (
            c_int,
            ctypes.POINTER(c_double),
            c_void_p,
            ctypes.POINTER(c_double),
            c_int,
            c_int,
            c_int,
            c_char_p,
        ),
        "mjg_stateAddress": (c_int, ctypes.POINTER(StateAddress), c_void_p, c_int, c_char_p),
        "mjg_readGear": (c_int, ctypes.POINTER(c_double), c_void_p, c_void_p, c_int),
        "mjg_acceptingPlugin": (c_char_p,),
        "mjg_checkModel": (c_int, c_void_p, c_char_p, c_int, c_char_p, c_int),
        "mjg_actuatorRoles": (c_int, ctypes.POINTER(c_int), c_void_p, c_int),
        "mjg_checkKey": (c_int, c_char_p, c_char_p, c_char_p, c_int),
        "mjg_inverse": (
            c_int,
            ctypes.POINTER(c_double),
            ctypes.POINTER(c_double),
            ctypes.POINTER(c_int),
            c_void_p,
            c_void_p,
            ctypes.POINTER(c_double),
            ctypes.POINTER(c_double),
            c_char_p,
            c_int,
        ),
        "mjg_controlDerivative": (
            c_int,
            ctypes.POINTER(c_double),
            ctypes.POINTER(c_double),
            ctypes.POINTER(c_int),
            c_void_p,
            c_void_p,
            c_double,
            c_char_p,
            c_int,
        ),
        "mjg_explainGear": (c_int, ctypes.POINTER(Facts), c_void_p, c_void_p, c_int),
    },
)

# what a control loop calls every step, without the conversion of arguments, which takes three quarters of the time of a call: the
# pointers to model and data are c_void_p
Pointers = tuple[c_void_p, c_void_p]
read_gear, get_gear = plugin["mjg_readGear"], plugin["mjg_getGear"]
