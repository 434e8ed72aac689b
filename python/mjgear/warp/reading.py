"""Data of a geared MjModel as arrays; and the same model for MuJoCo Warp."""

import copy
import ctypes
import dataclasses

import mujoco
import numpy as np

from mjgear import _check, _library
from mjgear._errors import GearError, UnsupportedError

from . import engine

# numbers of a gear that are arrays on the device, with their values where a model does not give them
NUMBERS = {
    "gamma_u": 0.0,
    "gamma_v": 0.0,
    "coulomb": 0.0,
    "static_ratio": 1.0,
    "stribeck_friction": 0.0,
    "stribeck_velocity": 1.0,
    "stribeck_exponent": 2.0,
    "gamma_u_stribeck": 0.0,
    "gamma_v_stribeck": 0.0,
    "gamma_u_quadratic": 0.0,
    "gamma_v_quadratic": 0.0,
}

TABLES = ("coulomb_speed", "coulomb_temperature", "gamma_torque", "gamma_speed", "gamma_temperature", "temperature")
LARGEST = 1e30  # number of a gear: single precision on the device
MOST = 64  # joints: mjgiDENSE_MAX of the core


@dataclasses.dataclass
class ModelGears:
    """The gears of a model: names, joints, dofs, numbers (one a joint), actuators' rotor inertia."""

    names: list[str]
    joint: np.ndarray
    dof: np.ndarray
    numbers: dict[str, np.ndarray]
    actuator_inertia: np.ndarray
    servos: bool  # an actuator's force depends on velocity
    motors: np.ndarray | None  # motors of each gear (n, nactuator); None: qfrc_actuator
    sensors: list[tuple[int, int]]  # address of a plugin sensor in sensordata, and its joint

    @property
    def n(self) -> int:
        return len(self.names)


def _number(library: ctypes.CDLL, model: mujoco.MjModel, data: mujoco.MjData, joint: int, key: str) -> float | None:
    value = ctypes.c_double()
    given = library.mjg_getGear(
        ctypes.byref(value), ctypes.c_void_p(model._address), ctypes.c_void_p(data._address), joint, key.encode()
    )
    return value.value if given == 1 else None


def _gains(model: mujoco.MjModel, parameters: list[int]) -> np.ndarray:
    """Mask of actuators with these parameters of an affine force, or with a force of another kind that may depend on motion. (nactuator)"""
    none = model.actuator_biastype == mujoco.mjtBias.mjBIAS_NONE
    none |= (model.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE) & ~model.actuator_biasprm[:, parameters].any(
        axis=1
    )
    return np.asarray(~(none & (model.actuator_gaintype == mujoco.mjtGain.mjGAIN_FIXED)))


def _moves_several(model: mujoco.MjModel, actuator: int, geared: list[int]) -> bool:
    """Return whether an actuator acts on several joints, one of which may be geared."""
    kind, what = int(model.actuator_trntype[actuator]), model.actuator_trnid[actuator, 0]
    if kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
        return False
    if kind == mujoco.mjtTrn.mjTRN_TENDON:
        path = slice(model.tendon_adr[what], model.tendon_adr[what] + model.tendon_num[what])
        if (model.wrap_type[path] == mujoco.mjtWrap.mjWRAP_JOINT).all():
            moved = model.wrap_objid[path]
            return len(moved) > 1 and bool(np.isin(moved, geared).any())
    return True


def read(model: mujoco.MjModel, host: mujoco.MjModel | None = None) -> ModelGears:
    """The gears of a model that the plugin has accepted.

    Args:
        model: the model whose plugin configuration names the geared joints.
        host: the model that is simulated, whose joints have the same names; default: the same.

    Raises:
        UnsupportedError: they need a feature that mjgear.warp lacks; the line names the joint.
        GearError: the model has no gear.
    """
    library = _library.plugin()
    library.mjg_getGear.restype = ctypes.c_int
    if (host or model).opt.noslip_iterations:
        raise UnsupportedError("mjgear.warp: noslip iterations move what was solved for; set noslip_iterations to 0")
    data = mujoco.MjData(model)
    if any(_number(library, model, data, model.njnt + t, "gamma_u") is not None for t in range(model.ntendon)):
        raise UnsupportedError(
            "mjgear.warp: gears on tendons, whose friction acts on several joints; gear the joints, or use the plugin on the CPU"
        )
    joints = [j for j in range(model.njnt) if _number(library, model, data, j, "gamma_u") is not None]
    if not joints:
        raise GearError("mjgear.warp: the model has no gear; give it an instance of mjgear.transmission")
    names = [model.joint(j).name for j in joints]
    if len(joints) > MOST:
        raise UnsupportedError(f"mjgear.warp: {len(joints)} geared joints; at most {MOST} are solved together")

    numbers = {key: np.full(len(joints), value) for key, value in NUMBERS.items()}
    for i, j in enumerate(joints):
        where = f"mjgear.warp: joint '{names[i]}'"
        if (
            _number(library, model, data, j, "half_gap") is not None
            or _number(library, model, data, j, "stiffness") is not None
        ):
            raise UnsupportedError(
                f"{where} has backlash or a shaft that yields, whose rotor turns by itself, a motion that mujoco_warp.Data has no "
                "place for; remove the key 'backlash', or use the plugin on the CPU"
            )
        if _number(library, model, data, j, "brake") is not None:
            raise UnsupportedError(
                f"{where} has a brake, which opens and closes in time; remove the actuator of mjgear.brake, and add the torque of a closed "
                "one to Gears.coulomb, or use the plugin on the CPU"
            )
        if any(_number(library, model, data, j, key) for key in ("oneway", "tooth_pitch", "tooth_phase")):
            raise UnsupportedError(
                f"{where} turns one way only: a row of friction loss has the same bound in both directions; remove the key 'oneway', or use "
                "the plugin on the CPU"
            )
        if _number(library, model, data, j, "mesh"):
            raise UnsupportedError(
                f"{where} has coefficients that follow its teeth; remove the key 'mesh' to have their mean"
            )
        for key in ("curved_friction", "curved_velocity", "curved_exponent"):
            if _number(library, model, data, j, key):
                raise UnsupportedError(f"{where} has friction that bends with velocity; remove the key '{key}'")
        for key in TABLES:
            if _number(library, model, data, j, key):
                raise UnsupportedError(
                    f"{where} has a table of its losses, which the plugin on the CPU has; remove the key '{key}'"
                )
        if _number(library, model, data, j, "presliding_stiffness"):
            raise UnsupportedError(
                f"{where} yields before it slips, so that it moves while friction holds it; remove the key 'presliding_stiffness', or use "
                "the plugin on the CPU"
            )
        for key in NUMBERS:
            value = _number(library, model, data, j, key)
            if value is not None:
                if abs(value) > LARGEST:
                    raise GearError(f"{where} has {key} = {value:g}, more than single precision holds; check its unit")
                numbers[key][i] = value
        motor = _number(library, model, data, j, "motor_coulomb")
        if motor is not None:
            numbers["coulomb"][i] += motor * (_number(library, model, data, j, "ratio") or 1)
    sensors = _sensors(model, joints) if host is None else []
    if host is not None:
        model, joints = host, [host.joint(name).id for name in names]
    inertia, servos = _motors(model, joints, names)
    dofs = np.array([model.jnt_dofadr[j] for j in joints])
    return ModelGears(names, np.array(joints), dofs, numbers, inertia, servos, _roles(model, joints), sensors)


def _roles(model: mujoco.MjModel, joints: list[int]) -> np.ndarray | None:
    """Return ModelGears.motors."""
    roles = np.array([_check.actuator_roles(model, j) for j in joints]).reshape(len(joints), model.nactuator)
    adheres = (model.actuator_trntype == mujoco.mjtTrn.mjTRN_BODY).any()  # by contacts with any body
    return (roles == 1).astype(np.int32) if adheres or (roles < 0).any() else None


def _motors(model: mujoco.MjModel, joints: list[int], names: list[str]) -> tuple[np.ndarray, bool]:
    """Rotor inertia of the joints from their actuators, and whether an actuator's force depends on velocity."""
    inertia = np.zeros(len(joints))
    for i, j in enumerate(joints):
        where = f"mjgear.warp: joint '{names[i]}'"
        if model.dof_frictionloss[model.jnt_dofadr[j]] > 0:
            raise UnsupportedError(
                f"{where} has a gear and frictionloss; describe its friction by the gear's key 'coulomb'"
            )
        inertia[i] = engine.actuator_inertia(model, j)
        damped = [k for k in range(model.nactuator) if model.actuator_damping[k] and j in model.actuator_trnid[k]]
        if damped or model.dof_dampingpoly[model.jnt_dofadr[j]].any():
            raise UnsupportedError(
                f"{where} has damping of its actuator or polynomial damping; give it the joint's 'damping'"
            )

    # over a step gains are rotor inertia of the joint that they move
    discrete = model.opt.integrator == engine.DISCRETE
    gains = _gains(model, [1, 2] if discrete else [2])  # on position, on velocity
    if model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER:
        gains[:] = False
    for k in np.flatnonzero(gains).tolist():
        if _moves_several(model, k, joints):
            raise UnsupportedError(
                f"mjgear.warp: actuator '{model.actuator(k).name}' moves several joints by gains on their motion, geared ones "
                "among them; give each joint an actuator, or compute the force in a controller"
            )
    # implicitfast: they are found in the integrator's matrix, where nothing else but joint damping may be
    servos = bool(gains.any())
    if servos and not discrete and (model.opt.viscosity or model.opt.density or model.tendon_damping.any()):
        raise UnsupportedError(
            "mjgear.warp: gains on velocity together with fluids or tendon damping; remove one of them"
        )

    return inertia, servos


def _sensors(model: mujoco.MjModel, joints: list[int]) -> list[tuple[int, int]]:
    """Places of the plugin's sensors in sensordata, and the gear of each."""
    sensors = []
    for k in range(model.nsensor):
        if model.sensor_plugin[k] >= 0:
            joint = model.sensor_objid[k] if model.sensor_objtype[k] == mujoco.mjtObj.mjOBJ_JOINT else joints[0]
            if joint in joints:
                sensors.append((int(model.sensor_adr[k]), joints.index(joint)))
    return sensors


def alone(model: mujoco.MjModel) -> mujoco.MjSpec:
    """A spec with only the hinge and slide joints of a model, their armature, damping and a motor each, to describe gears on."""
    spec = mujoco.MjSpec()
    root = spec.worldbody.add_body()
    for j in range(model.njnt):
        kind = mujoco.mjtJoint(model.jnt_type[j])
        if kind in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            body = root.add_body()
            body.add_geom(size=[0.1, 0, 0])
            dof = model.jnt_dofadr[j]
            joint = body.add_joint(name=model.joint(j).name, type=kind, armature=model.dof_armature[dof])
            joint.damping = np.concatenate([[model.dof_damping[dof]], np.zeros(np.size(joint.damping) - 1)])
            motor = spec.add_actuator(trntype=mujoco.mjtTrn.mjTRN_JOINT, target=model.joint(j).name)
            motor.set_to_motor()
    return spec


def check_options(model: mujoco.MjModel) -> None:
    """Raises UnsupportedError where an option of the model is one for which gears are not solved; the line says which."""
    opt = model.opt
    if opt.solver != mujoco.mjtSolver.mjSOL_NEWTON:
        raise UnsupportedError("mjgear.warp: gears need the Newton solver; set <option solver='Newton'/>")
    if opt.integrator not in list(engine.INTEGRATORS.values()):
        *names, last = engine.INTEGRATORS
        raise UnsupportedError(
            f"mjgear.warp: the integrator must be {', '.join(names)} or {last}; set <option integrator/>"
        )
    if (
        model.nv > 32 and opt.jacobian == mujoco.mjtJacobian.mjJAC_AUTO
    ) or opt.jacobian == mujoco.mjtJacobian.mjJAC_SPARSE:
        raise UnsupportedError("mjgear.warp: gears need dense constraint Jacobians; set <option jacobian='dense'/>")
    if opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP:
        raise UnsupportedError("mjgear.warp: sleeping is not supported; remove <flag sleep='enable'/>")
    bits = mujoco.mjtDisableBit
    for bit, word in (
        (bits.mjDSBL_ACTUATION, "actuation"),
        (bits.mjDSBL_WARMSTART, "warmstart"),
        (bits.mjDSBL_CONSTRAINT, "constraint"),
        (bits.mjDSBL_FRICTIONLOSS, "frictionloss"),
        (bits.mjDSBL_SENSOR, "sensor"),
    ):
        if opt.disableflags & bit:
            raise UnsupportedError(f"mjgear.warp: gears need <flag {word}='enable'/>")


def strip(model: mujoco.MjModel, gears: ModelGears) -> mujoco.MjModel:
    """A copy of the model without the plugin, with a row of friction loss for each geared dof.

    Sensors of the plugin become user sensors, at the same place of sensordata.

    Raises:
        UnsupportedError: an option of the model is one for which gears are not solved; the line says which.
    """
    check_options(model)
    plain = copy.copy(model)
    plain.body_plugin[:] = -1
    plain.actuator_plugin[:] = -1
    plugins = plain.sensor_plugin >= 0
    plain.sensor_type[plugins] = mujoco.mjtSensor.mjSENS_USER
    plain.sensor_needstage[plugins] = mujoco.mjtStage.mjSTAGE_ACC
    plain.sensor_plugin[:] = -1
    plain.dof_frictionloss[gears.dof] = (
        mujoco.mjMINVAL
    )  # rows whose bounds are set in each step; the plugin warns of larger ones
    return plain


def without_instances(plain: mujoco.MjModel) -> tuple[mujoco.MjModel, np.ndarray]:
    """A copy that mujoco_warp.put_model takes, and the geoms of which Model.geom_plugin_index is to become -1.

    MuJoCo Warp counts plugin instances by geoms and reads their attributes as numbers. Instances without a geom
    therefore get one, without attributes.

    Raises:
        UnsupportedError: there are more instances than geoms.
    """
    copied = copy.copy(plain)
    used = set(copied.geom_plugin[copied.geom_plugin >= 0])
    free = [p for p in range(copied.nplugin) if p not in used]
    geoms = np.flatnonzero((copied.geom_plugin < 0) & (copied.geom_type != mujoco.mjtGeom.mjGEOM_SDF))[: len(free)]
    if len(geoms) < len(free):
        raise UnsupportedError("mjgear.warp: the model has more plugin instances than geoms")
    copied.geom_plugin[geoms] = free
    ends = np.append(copied.plugin_attradr[1:], len(copied.plugin_attr))
    for p in free:
        copied.plugin_attr[copied.plugin_attradr[p] : ends[p]] = 0
    return copied, geoms
