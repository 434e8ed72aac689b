"""Contacts of the arm in its logs, whose forces no regression of joint torques knows."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from mjgear.identify.arm.dynamics import Arm
from mjgear.identify.arm.logs import ArmLog
from mjgear.identify.logs import LogError

_TRIED = 100  # positions of a log
_DEPTH = 1e-3  # m, of geoms into each other


def refuse(arm: Arm, logs: Sequence[ArmLog]) -> None:
    """Raises LogError where a link comes into contact with what stands around the arm; geoms that always overlap do not count."""
    data = mujoco.MjData(arm.model)
    addresses = arm.model.jnt_qposadr[arm.ids]
    links = {arm.model.body_weldid[arm.model.joint(name).bodyid[0]] for name in arm.joints}
    for name, value in arm.held.items():
        data.qpos[arm.model.joint(name).qposadr[0]] = value
    for log in logs:
        found: list[set[tuple[int, int]]] = []
        samples = np.linspace(0, log.n - 1, min(log.n, _TRIED), dtype=int)
        for q in log.position[samples]:
            data.qpos[addresses] = q
            mujoco.mj_kinematics(arm.model, data)
            mujoco.mj_collision(arm.model, data)
            pairs = data.contact.geom[data.contact.dist < -_DEPTH]
            moving = np.isin(arm.model.body_weldid[arm.model.geom_bodyid[pairs]], list(links))
            found.append({(int(a), int(b)) for a, b in pairs[moving.sum(axis=1) == 1]})
        if touching := {pair for pairs in found for pair in pairs if not all(pair in others for others in found)}:
            place = next(k for k, pairs in enumerate(found) if pairs & touching)
            one, other = (
                arm.model.body(arm.model.geom_bodyid[g]).name or "world" for g in min(found[place] & touching)
            )
            raise LogError(
                f"{log.name}: at {samples[place] * log.dt:.3g} s '{one}' touches '{other}', and contact forces are in the torques: log free motion; "
                "if they do not touch, <exclude> the pair in the model"
            )
