"""Gears for a model that is being built."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import mujoco
import numpy as np

from mjgear import _catalogue, _check, _remove, _tables
from mjgear._catalogue import Known, Setting
from mjgear._errors import GearError, GearTypeError, warn
from mjgear._library import NAME

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mjgear._keys import GearKeys

_INERTIAS = ("armature", "motor_inertia", "gear_inertia")
_FRICTIONS = ("viscous", "motor_viscous")
GEARABLE = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


@dataclasses.dataclass(frozen=True)
class Added:
    """Result of add().

    Attributes:
        instance: name of the plugin instance.
        joints: names of the geared joints, in the order of the instance.
        tendons: names of the geared tendons, behind them.
        config: keys and values of the instance.
        armature: rotor inertia that was set, kg m2, by joint and tendon.
        damping: viscous friction that was set, N m/(rad/s), by joint and tendon.
        kept: current armature and damping of all joints and tendons.
        home: name of the body that refers to the instance, so that it travels with copy and attach.
        sensors: names of the sensors.
        slides: joints and tendons whose numbers are in m, N and kg.

    ``print(added)`` shows the joints with their numbers.
    """

    instance: str
    joints: tuple[str, ...]
    tendons: tuple[str, ...]
    config: Mapping[str, str]
    armature: Mapping[str, float]
    damping: Mapping[str, float]
    home: str
    sensors: tuple[str, ...]
    kept: Mapping[str, tuple[float, float]]
    slides: frozenset[str]

    def __str__(self) -> str:
        rows = []
        for name in (*self.joints, *self.tendons):
            got = []
            for of, now in zip((self.armature, self.damping), self.kept[name], strict=True):
                got.append(_tables.number(now) + ("" if name in of else " (its own)" if now else " (none)"))
            rows.append((name, *got))
        kinds = sorted({name in self.slides for name, *_ in rows})
        units = [" | ".join(_tables.unit(unit, slide) for slide in kinds) for unit in ("kg m2", "N m/(rad/s)")]
        table = _tables.headed(("joint", "armature", "damping"), ("", *units), rows)
        config = " ".join(f"{key}={value!r}" for key, value in self.config.items() if key not in ("joint", "tendon"))
        home = f"body '{self.home}'" if self.home else "a body without a name"
        return f"instance '{self.instance}' in {home}: {config}\n{table}"


def add(
    spec: mujoco.MjSpec,
    joints: str | Sequence[str] = (),
    preset: str | None = None,
    *,
    tendons: str | Sequence[str] = (),
    motor: str | Sequence[str] = (),
    name: str | None = None,
    sensors: bool = False,
    armature: Setting = "keep",
    replace: bool = False,
    home: Literal["shared", "own"] = "shared",
    **values: Unpack[GearKeys],
) -> Added:
    """Give joints and tendons of a model gears.

    Args:
        spec: the model, not compiled. A refused call leaves the spec unchanged.
        joints: names of hinge and slide joints, or patterns such as "*_knee" (of fnmatch), which mean hinges and slides.
        tendons: names of tendons whose actuators have a gear, or patterns: differentials, fingers with one motor, ropes.
        preset: a gear of presets(); further keys replace its keys.
        motor: names or patterns of further motors of these gears: actuators that act on a site, a spatial tendon or a slider-crank, such as
            a Cartesian servo. Without it actuators on the joints and on fixed tendons over them are the motors.
        name: of the plugin instance; without it "gears", or "gears_2" and so on where the model has that.
        sensors: add a sensor for each joint and tendon, named NAME_gear; over a Batch results are read from these.
        armature: the rotor's inertia. "keep": a joint that has armature keeps it, one that has none gets the preset's.
            "preset": all get the preset's. A number, or one for each: this inertia, kg m2 at the output side.
            motor_inertia (with ratio) counts as a number; the preset's inertia of the gear itself comes on top of it.
        replace: joints that have a gear lose it and get this one.
        home: "shared": one instance, in the nearest body that carries all joints, or in an empty one inside it, NAME_home, if that refers
            to another instance; a part of the robot that is attached without that body leaves its gears behind. "own": an instance for each joint, NAME_JOINT, in the joint's own body.
        values: keys of doc/mjcf.md, SI at the output side or texts with a unit ("2 Nm", "0.2 kgcm2"): one value for all,
            or a sequence with one for each joint and then each tendon. Keys that begin with "motor_" need ratio.
            viscous becomes the damping of joint or tendon; a preset's is taken only where they have none. With
            backlash the rotor's inertia is in front of the gap and not in the joint.

    Returns:
        Numbers that were set; print() shows them.

    Raises:
        GearError: a pattern that fits no joint, or the library's lines about the gear, all at once and in the words of
            ``mjgear check``. Mistakes that depend on the rest of the model (options, contacts of tendons) are refused by
            check() and by spec.compile().

    Warns:
        GearWarning: a gear that does nothing while its motor is off, because the joint has neither rotor inertia nor
            constant friction; a leadscrew on a hinge or a worm on a slide; plugin instances without
            a name without which the engine's writer loses the gears.
    """
    call = _read(spec, joints, preset, tendons, motor, name, armature, values, replace)
    if home not in ("shared", "own"):
        raise GearError(f"home = {home!r} is unknown; write 'shared' or 'own'")
    plan = _plan(spec, call)
    _refuse(spec, call, plan)
    return _write(spec, call, plan, sensors, home)


# ------------------------------------------ the steps of add -------------------------------------


@dataclasses.dataclass
class _Call:
    """The arguments of add(), read.

    Attributes:
        lists: "joint" and "tendon" -> elements that get gears.
        named: actuators that are named as motors.
        words, numbers: values of the keys, one for each element; backlash and motor_joint are "none" where there is none.
        keep, preset_inertia: the argument armature.
        given: keys of the call.
    """

    name: str
    preset: str | None
    lists: dict[str, list[Any]]
    named: list[Any]
    words: dict[str, list[str]]
    numbers: dict[str, list[float]]
    preset_inertia: bool
    given: frozenset[str]
    replace: bool

    @property
    def found(self) -> list[Any]:
        return [*self.lists["joint"], *self.lists["tendon"]]


@dataclasses.dataclass
class _Plan:
    """Plan of add().

    Attributes:
        gears: of each element, as the core reads its description.
        config: keys and values of the instance.
        inertia: armature of each element; None: it stays.
        motors: joints that are rotors of gaps.
    """

    gears: list[Any]
    config: dict[str, str]
    inertia: list[float | None]
    motors: list[Any]


def _read(
    spec: mujoco.MjSpec,
    joints: Any,
    preset: str | None,
    tendons: Any,
    motor: Any,
    name: str | None,
    armature: Setting,
    values: Any,
    replace: bool,
) -> _Call:
    """Find the named elements, and read numbers, units and words."""
    if not isinstance(spec, mujoco.MjSpec):
        raise GearTypeError(f"add needs an MjSpec, not {kind_of(spec)}, then add, then compile")
    lists = {kind: find(objects, kind, [given] if isinstance(given, str) else given) for kind, objects, given in
             (("joint", spec.joints, joints), ("tendon", spec.tendons, tendons))}  # fmt: skip
    named = find(spec.actuators, "actuator", [motor] if isinstance(motor, str) else motor)
    count = sum(map(len, lists.values()))
    if not count:
        raise GearError("neither joints nor tendons are named; name those that have this gear")
    name = _name(spec, name, lists, replace)
    preset_inertia = isinstance(armature, str) and armature == "preset"
    if not preset_inertia and not (isinstance(armature, str) and armature == "keep"):
        if isinstance(armature, str) and armature.isalpha():
            raise GearError(f"armature = '{armature}' is unknown; write 'keep', 'preset' or a number in kg m2")
        values = {**values, "armature": armature}
    words, numbers = _sort(values, count, name)
    return _Call(name, preset, lists, named, words, numbers, preset_inertia, frozenset(values), replace)


def _name(spec: mujoco.MjSpec, name: str | None, lists: Mapping[str, list[Any]], replace: bool) -> str:
    """Name of the instance: the given one, or the first free one of gears, gears_2 and so on."""
    if not isinstance(name, str) and name is not None:
        raise GearTypeError(f"name is {name!r}; give a text")
    taken = {plugin.name for plugin in spec.plugins} - (_freed(spec, lists) if replace else set())
    free = next(
        one for i in range(1, len(taken) + 3) if (one := f"{name or 'gears'}{f'_{i}' if i > 1 else ''}") not in taken
    )
    if name is not None and name in taken:
        raise GearError(
            f"the model has an instance '{name}' already; give this one another name: add(.., name='{free}')"
        )
    return free


def _freed(spec: mujoco.MjSpec, lists: Mapping[str, list[Any]]) -> set[str]:
    """Instances that become empty if these elements lose their gears."""
    names = {kind: {one.name for one in some} for kind, some in lists.items()}
    return {
        instance.name
        for instance in _remove.geared(spec)
        if all(set(instance.names[kind]) <= names[kind] for kind in names)
    }


def _plan(spec: mujoco.MjSpec, call: _Call) -> _Plan:
    """Describe the gears: the instance, with everything that the joint has no attributes for, and the rotors."""
    found, words = call.found, call.words
    gears, config = _describe(call.preset, words, call.numbers, found, call.name)
    config = {key: _remove.quote(one.name for one in some) for key, some in call.lists.items() if some} | config

    # the rotor, in front of a gap or in the joint; None: unchanged
    given = any(key in call.given for key in _INERTIAS)
    own = [own_inertia(spec, joint) for joint in found]
    inertia = [
        gear.armature if given or call.preset_inertia or not has else None for gear, has in zip(gears, own, strict=True)
    ]
    if call.preset_inertia and any(not gear.armature for gear in gears):
        raise GearError(
            f"armature = 'preset', but {call.preset or 'this gear'} has no rotor inertia; write a number in kg m2"
        )
    rotors = [
        gap != "none" and motor == "none" for gap, motor in zip(words["backlash"], words["motor_joint"], strict=True)
    ]
    if any(rotors) and "rotor_inertia" not in config:
        behind = [
            (has if got is None else got) if rotor else 0.0
            for got, has, rotor in zip(inertia, own, rotors, strict=True)
        ]
        config |= (
            {"rotor_inertia": _text(behind)}
            if all(x or not rotor for x, rotor in zip(behind, rotors, strict=True))
            else {}
        )
    inertia = [0.0 if rotor else got for rotor, got in zip(rotors, inertia, strict=True)]
    for tendon, got in zip(found, inertia, strict=True):
        if got and wraps(tendon):
            raise GearError(
                f"tendon '{tendon.name}' wraps around a geom, where the engine has no armature of tendons; {_check.WRAPPED}"
            )
    return _Plan(gears, config, inertia, [joint for joint in spec.joints if joint.name in words["motor_joint"]])


def wraps(element: Any) -> bool:
    """True for a tendon that wraps around a geom."""
    return any(
        wrap.type in (mujoco.mjtWrap.mjWRAP_SPHERE, mujoco.mjtWrap.mjWRAP_CYLINDER)
        for wrap in getattr(element, "path", ())
    )


def _write(spec: mujoco.MjSpec, call: _Call, plan: _Plan, sensors: bool, home: str) -> Added:
    """Write the fitting keys into the model."""
    config = plan.config | ({"motor": _remove.quote(one.name for one in call.named)} if call.named else {})
    if call.replace:
        old = {kind: [name for other in _remove.geared(spec) for name in other.names[kind]] for kind in call.lists}
        some = {kind: [one.name for one in listed if one.name in old[kind]] for kind, listed in call.lists.items()}
        if any(some.values()):
            _remove.remove(spec, some["joint"], tendons=some["tendon"])
    set_armature: dict[str, float] = {}
    set_damping: dict[str, float] = {}
    given, viscous = any(key in call.given for key in _INERTIAS), any(key in call.given for key in _FRICTIONS)
    for joint, gear, new in zip(call.found, plan.gears, plan.inertia, strict=True):
        _remove.mark(joint, call.name)
        if new is not None and (new > 0 or given or joint.armature != 0):
            joint.armature = set_armature[joint.name] = new
        if gear.viscous > 0 and (viscous or not np.any(joint.damping)):
            set_damping[joint.name] = gear.viscous
            joint.damping = np.concatenate([[gear.viscous], np.zeros(np.size(joint.damping) - 1)])
    spec.activate_plugin(NAME)
    instances = {call.name: (config, call.found)} if home == "shared" else _split(call, config)
    homes = []
    for name, (keys, items) in instances.items():
        spec.add_plugin(name=name, plugin_name=NAME, active=True).config = keys
        homes.append(_find_home(spec, [*items, *(plan.motors if home == "shared" else ())], name))
        _refer(homes[-1], name)
    for line in _remove.unnamed(spec):
        warn(line)
    whose = {one.name: name for name, (_, items) in instances.items() for one in items}
    return Added(
        instance=next(iter(instances)),
        joints=tuple(joint.name for joint in call.lists["joint"]),
        tendons=tuple(tendon.name for tendon in call.lists["tendon"]),
        config=Known("key", config),
        armature=Known("armature", set_armature),
        damping=Known("damping", set_damping),
        home=str(homes[0].name),
        kept=Known(
            "joint", {one.name: (own_inertia(spec, one), float(np.ravel(one.damping)[0])) for one in call.found}
        ),
        sensors=tuple(
            _add_sensor(spec, whose[one.name], kind, one.name) for kind, some in call.lists.items() for one in some
        )
        if sensors
        else (),
        slides=frozenset(one.name for one in call.found if _is_slide(one)),
    )


def _split(call: _Call, config: Mapping[str, str]) -> dict[str, tuple[dict[str, str], list[Any]]]:
    """An instance for each element, so that each goes where its own body goes: name -> keys and the element."""
    lists = {kind: [one.name for one in some] for kind, some in call.lists.items()}
    found = {}
    for kind, some in call.lists.items():
        for one in some:
            others = {
                other: [name for name in names if (other, name) != (kind, one.name)] for other, names in lists.items()
            }
            found[f"{call.name}_{one.name}"] = (
                _remove.without(_remove.Instance(call.name, dict(config), lists), others),
                [one],
            )
    return found


def _is_slide(one: Any) -> bool:
    """True if the output is a slide, or a tendon that is a length."""
    if hasattr(one, "path"):
        return not any(
            isinstance(wrap.target, mujoco._specs.MjsJoint) and wrap.target.type == mujoco.mjtJoint.mjJNT_HINGE
            for wrap in one.path
        )
    return bool(one.type == mujoco.mjtJoint.mjJNT_SLIDE)


# ------------------------------------------ joints -----------------------------------------------


def kind_of(wrong: Any) -> str:
    """Name of an argument that is not an MjSpec, and the remedy."""
    compiled = isinstance(wrong, mujoco.MjModel)
    return f"{type(wrong).__name__}{', which is compiled: take the MjSpec that it came from' if compiled else '; take mujoco.MjSpec.from_file(..)'}"


def find(objects: Sequence[Any], kind: str, patterns: Iterable[str]) -> list[Any]:
    """The joints or tendons that names and patterns mean, each once."""
    found: list[Any] = []
    patterns = list(patterns) if isinstance(patterns, Iterable) else [patterns]
    if not all(isinstance(pattern, str) for pattern in patterns):
        raise GearTypeError(f"{kind}s are {patterns!r}; give a name, or a list of names")
    for pattern in patterns:
        fitting = [one for one in objects if fnmatch.fnmatchcase(one.name, pattern)]
        if not fitting:
            names = ", ".join(one.name for one in objects) or "none"
            raise GearError(f"no {kind} '{pattern}' in the model; its {kind}s are {names}")
        if kind == "joint" and any(one.name != pattern for one in fitting):
            fitting = [one for one in fitting if one.type in GEARABLE] or fitting
        for one in fitting:
            if not one.name:
                body = one.parent.name if kind == "joint" else ""
                where = f" in body '{body}'" if body else " in a body without a name" if kind == "joint" else ""
                raise GearError(f"'{pattern}' fits a {kind} without a name{where}; give it one")
        found += [one for one in fitting if one not in found]
    return found


def own_inertia(spec: mujoco.MjSpec, joint: Any) -> float:
    """Rotor inertia that a joint or tendon has, its actuators' included."""
    kind = mujoco.mjtTrn.mjTRN_TENDON if hasattr(joint, "path") else mujoco.mjtTrn.mjTRN_JOINT
    motors = [one for one in spec.actuators if one.trntype == kind and one.target == joint.name]
    return float(joint.armature) + sum(float(getattr(one, "armature", 0)) for one in motors)


def _has_motor(spec: mujoco.MjSpec, one: Any) -> bool:
    """True if an actuator may drive a joint or tendon; to a model without actuators they may still be added."""
    if not spec.actuators or getattr(one, "actgravcomp", False):
        return True
    trn = mujoco.mjtTrn
    for actuator in spec.actuators:
        targets = (
            {actuator.target}
            if actuator.trntype in (trn.mjTRN_JOINT, trn.mjTRN_JOINTINPARENT) and not hasattr(one, "path")
            else set()
        )
        if actuator.trntype == trn.mjTRN_TENDON:
            path = (
                []
                if hasattr(one, "path")
                else [wrap.target for tendon in spec.tendons if tendon.name == actuator.target for wrap in tendon.path]
            )
            targets = (
                {actuator.target}
                if hasattr(one, "path")
                else {joint.name for joint in path if isinstance(joint, mujoco._specs.MjsJoint)}
            )
        if one.name in targets or (actuator.trntype == trn.mjTRN_SLIDERCRANK and not hasattr(one, "path")):
            return True
    return False


# ------------------------------------------ values -----------------------------------------------


def _sort(
    values: Mapping[str, Setting], count: int, instance: str
) -> tuple[dict[str, list[str]], dict[str, list[float]]]:
    """Words and numbers of each joint; backlash and motor_joint are "none" where there is none."""
    where = f"{NAME}, instance '{instance}'"
    reporter = _catalogue.Reporter(where)
    words: dict[str, list[str]] = {"backlash": ["none"] * count, "motor_joint": ["none"] * count}
    numbers: dict[str, list[float]] = {}
    lines: list[str] = []
    for key, value in values.items():
        wrong = _check.unknown_key(instance, key)
        if wrong or key in ("joint", "tendon"):
            lines.append(wrong or f"{where}: {key} is no key of add; name {key}s as its argument '{key}s'")
            continue
        if key in _catalogue.tables():
            words[key] = [_catalogue.table_text(value)] * count
            continue
        series = (
            [value] * count
            if isinstance(value, str) or (np.ndim(value) == 0 and not np.ma.is_masked(value))
            else list(np.ravel(_catalogue.entries(value)))
        )
        if len(series) != count:
            ending = "" if count == 1 else "s"
            lines.append(
                f"{where}: key '{key}': it has {len(series)} values for {count} joint{ending}; give one value for all joints or one per joint"
            )
        elif key in _catalogue.WORDS:
            words[key] = [str(one) for one in series]
        else:
            read = [_read_number(key, one, reporter) for one in (series if series[0] is not value else series[:1])]
            numbers[key] = read * (count if len(read) < count else 1)
    for line in lines:
        reporter.refuse(line.removeprefix(f"{where}: "))
    reporter.check()
    return words, numbers


def _read_number(key: str, value: Any, reporter: _catalogue.Reporter) -> float:
    """A number of the gear, of its gap or of the solver."""
    return _catalogue.read_number(key, value, _catalogue.info_of(key), reporter)


def _describe(
    preset: str | None,
    words: Mapping[str, list[str]],
    numbers: Mapping[str, list[float]],
    found: Sequence[Any],
    instance: str,
) -> tuple[list[Any], dict[str, str]]:
    """The gear of each joint, and the keys of the instance."""
    described = {key: series for key, series in numbers.items() if key in _catalogue.keys()}
    kinds = words.get("type")
    gears, texts = [], []
    unknown = _catalogue.Reporter(f"{NAME}, instance '{instance}'")
    _catalogue.describe(preset, {"type": kind for kind in kinds or ()}, unknown)
    unknown.check()
    lines: list[str] = []
    for i, joint in enumerate(found):
        kind = "tendon" if hasattr(joint, "path") else "joint"
        reporter = _catalogue.Reporter(f"{NAME}, instance '{instance}', {kind} '{joint.name}'")
        given = {key: series[i] for key, series in words.items() if key == "type" or key in _catalogue.tables()}
        description = _catalogue.describe(
            preset, given | {key: series[i] for key, series in described.items()}, reporter
        )
        gears.append(_catalogue.make_gear(description, reporter))
        texts.append(_catalogue.written(description))
        try:
            reporter.check()
        except GearError as error:
            lines += error.problems
    if lines:
        raise GearError("\n".join(lines))

    keys = {key for text in texts for key in text}
    if any(set(text) != keys for text in texts):
        raise GearError("joints of one instance have the same keys; call add for each kind of gear, with another name")
    config: dict[str, str] = {}
    for key in texts[0]:
        if key == "type" or key in _catalogue.tables():
            config[key] = _shorten([str(text[key]) for text in texts])
        elif not _catalogue.keys()[key].of_joint:
            config[key] = _text([text[key] for text in texts])
    config |= {key: _text(series) for key, series in numbers.items() if key not in described}
    config |= {
        key: _shorten(series)
        for key, series in words.items()
        if key != "type" and any(word != "none" for word in series)
    }
    return gears, config


def _text(series: Sequence[Any]) -> str:
    """Numbers as MJCF has them: one if all are the same."""
    return _shorten([repr(float(value)) for value in series])


def _shorten(texts: Sequence[str]) -> str:
    return texts[0] if len(set(texts)) == 1 else " ".join(texts)


# ------------------------------------------ checks by the plugin ---------------------------------


def _refuse(spec: mujoco.MjSpec, call: _Call, plan: _Plan) -> None:
    """Ask the library about the instance, on a model that has these joints, their motors and nothing else."""
    lists, inertia = call.lists, plan.inertia
    probe = mujoco.MjSpec()
    probe.activate_plugin(accepting := _check.accepting_plugin())
    root = probe.worldbody.add_body()
    root.add_geom(size=[1, 0, 0])
    new = dict(zip([one.name for some in lists.values() for one in some], inertia, strict=True))
    for joint in {one.name: one for one in (*lists["joint"], *plan.motors)}.values():
        parent = probe.worldbody if joint.type == mujoco.mjtJoint.mjJNT_FREE else root
        body = parent.add_body()
        body.add_geom(size=[1, 0, 0])
        kept = new.get(joint.name)
        armature = own_inertia(spec, joint) if kept is None else kept
        body.add_joint(name=joint.name, type=joint.type, armature=armature, frictionloss=joint.frictionloss)
    for i, tendon in enumerate(lists["tendon"]):
        body = root.add_body()
        body.add_geom(size=[1, 0, 0])
        kind = mujoco.mjtJoint.mjJNT_SLIDE if _is_slide(tendon) else mujoco.mjtJoint.mjJNT_HINGE
        body.add_joint(name=f"joint {i} of a tendon", type=kind)
        kept = new[tendon.name]
        copy = probe.add_tendon(name=tendon.name, armature=own_inertia(spec, tendon) if kept is None else kept)
        copy.wrap_joint(f"joint {i} of a tendon", 2)
    for kind, some in lists.items():
        for one in some:
            if call.named or _has_motor(spec, one):
                trn = mujoco.mjtTrn.mjTRN_TENDON if kind == "tendon" else mujoco.mjtTrn.mjTRN_JOINT
                probe.add_actuator(trntype=trn, target=one.name).set_to_motor()

    # other instances with gears on the same joints
    for other in _remove.geared(spec) if not call.replace else ():
        shared = [one.name for one in lists["joint"] if one.name in other.names["joint"]]
        if shared:
            words = {"joint": _remove.quote(shared), "gamma_u": "0", "gamma_v": "0"}
            probe.add_plugin(name=other.name, plugin_name=accepting, active=True).config = words
    probe.add_plugin(name=call.name, plugin_name=accepting, active=True).config = dict(plan.config)
    _refer(root, call.name, accepting)
    problems, lines = _check.ask(probe.compile())
    if problems:
        raise GearError("\n".join(problems))
    for line in lines:
        warn(line)


# ------------------------------------------ home -------------------------------------------------


def _ancestors(item: Any) -> list[Any]:
    """The bodies that carry a joint, or all that a tendon connects, the nearest first, without the world."""
    if hasattr(item, "path"):
        return shared_bodies([wrap.target for wrap in item.path if wrap.target is not None])
    bodies = []
    body = item.parent
    while body is not None and body.name != "world":
        bodies.append(body)
        body = body.parent
    return bodies


def shared_bodies(items: Sequence[Any]) -> list[Any]:
    """The bodies that carry all of them, the nearest first."""
    chains = [_ancestors(item) for item in items]
    return [body for body in chains[0] if all(body in chain for chain in chains[1:])] if chains else []


def _find_home(spec: mujoco.MjSpec, items: Sequence[Any], instance: str) -> Any:
    """The nearest body that carries all of them and refers to no other plugin, or an empty one inside the nearest or the world."""
    carriers = shared_bodies(items)
    free = next((body for body in carriers if not body.plugin.active), None)
    if free is not None:
        return free
    made = (carriers[0] if carriers else spec.worldbody).add_body(info=_remove.HOME)
    made.name = f"{instance}_home" if spec.body(f"{instance}_home") is None else ""
    return made


def _refer(body: Any, instance: str, plugin: str = NAME) -> None:
    """Let a body refer to the instance, so that it goes where the body goes."""
    body.plugin.name = instance
    body.plugin.plugin_name = plugin
    body.plugin.active = True


def _add_sensor(spec: mujoco.MjSpec, instance: str, kind: str, name: str) -> str:
    objtype = mujoco.mjtObj.mjOBJ_JOINT if kind == "joint" else mujoco.mjtObj.mjOBJ_TENDON
    sensor = spec.add_sensor(name=f"{name}_gear", type=mujoco.mjtSensor.mjSENS_PLUGIN, objtype=objtype, objname=name)
    _refer(sensor, instance)
    return str(sensor.name)
