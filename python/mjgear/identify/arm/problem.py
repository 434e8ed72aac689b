"""All logs of an arm as Gram matrices, one a joint and a piece of a log.

A piece lasts a second or more, so that the errors of two pieces are nearly independent. All fits, held-out errors and
bootstrap draws are sums of these matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mjgear.identify.arm import law
from mjgear.identify.arm.dynamics import Arm
from mjgear.identify.arm.law import PLACE, Rung
from mjgear.identify.arm.logs import ArmLog
from mjgear.identify.arm.motion import prepare
from mjgear.identify.logs import LogError

_MOST_ROWS = 40000  # of a joint
_PIECES = 60  # wanted
_SHORTEST = 1.0  # s, of a piece
_MOST_OUT = 0.7  # part of a joint's motion that may be left out at once
_HUBER = 2.5  # standard deviations


@dataclass
class Rows:
    """Data of a joint's columns, one row a block in which it moves.

    Attributes:
      Y: (N, r) regressor of the links in r base parameters; known, v, a, time: (N); warmth: (N) or None.
      log, piece: (N) index of the log and of the piece.
      blocks: of each log, the places of its rows among the log's blocks.
      weight: (N) of a robust fit.
      base: (r, n) base parameters from the parameters of the links.
    """

    Y: np.ndarray
    known: np.ndarray
    v: np.ndarray
    a: np.ndarray
    warmth: np.ndarray | None
    time: np.ndarray
    log: np.ndarray
    piece: np.ndarray
    blocks: list[np.ndarray]
    weight: np.ndarray
    base: np.ndarray


class Problem:
    """Logs of an arm, prepared.

    Args:
      arm: links and joints.
      logs: of the arm.
      cutoff: of the filter of the positions, Hz; None: by the spectrum of each log.

    Attributes:
      rows: of each joint.
      groups: name -> pieces that are left out together.
      alone: joints that move in few groups of logs; for them parts of all logs are left out instead of logs.

    Raises:
      LogError: a joint does not move in any log; too little is left.
    """

    def __init__(self, arm: Arm, logs: Sequence[ArmLog], cutoff: float | None = None) -> None:
        self.arm, self.logs = arm, list(logs)
        self.motions = [prepare(log, cutoff) for log in logs]
        total = sum(m.time.size * m.block for m in self.motions)
        length = max(_SHORTEST, total / _PIECES)
        self.piece_log: list[int] = []
        pieces, regressors, payloads = [], [], []
        stride = max(1, int(np.ceil(sum(m.time.size for m in self.motions) / _MOST_ROWS)))
        kept = []
        for i, m in enumerate(self.motions):
            count = max(1, int(round(m.time.size * m.block / length)))
            pieces.append(len(self.piece_log) + np.minimum((np.arange(m.time.size) * count) // m.time.size, count - 1))
            self.piece_log += [i] * count
            take = np.arange(0, m.time.size, stride)
            kept.append(take)
            regressors.append(arm.regressor(m.q[take], m.v[take], m.a[take]))
            payloads.append(_payload(self.logs[i]))
        self.n_pieces = len(self.piece_log)
        self.rows: list[Rows] = []
        drives = [(arm.drives(m.v), arm.drives(m.a), np.sqrt(m.noise**2 @ arm.coupling.T**2)) for m in self.motions]
        fastest = np.max([np.abs(v).max(axis=0) for v, _, _ in drives], axis=0)
        for j in range(arm.n):
            if fastest[j] == 0:
                raise LogError(f"joint '{arm.joints[j]}' does not move in any log; leave it out (--joints), or move it")
            parts = []
            for i, m in enumerate(self.motions):
                v, a, noise = (x[..., j] for x in drives[i])
                least = max(0.004 * fastest[j], 4 * float(noise))
                moving = np.abs(v) > least
                # a block beside a reversal holds both signs
                turns = np.flatnonzero(np.diff(np.sign(v)) != 0)
                for k in (-1, 0, 1, 2):
                    moving[np.clip(turns + k, 0, v.size - 1)] = False
                keep = kept[i][moving[kept[i]]]
                place = np.searchsorted(kept[i], keep)
                Y = regressors[i][j][place]
                known = arm.springs(m.q[keep])[:, j]
                if payloads[i] is not None and len(arm.links) - 1 in arm.moved[j]:
                    known = known + Y[:, -10:] @ payloads[i]
                T = m.mean(self.logs[i].temperature[:, j])[keep] if self.logs[i].temperature is not None else None  # type: ignore[index]
                parts.append(
                    (Y, known, v[keep], a[keep], T, m.time[keep], np.full(keep.size, i), pieces[i][keep], keep)
                )
            size = sum(p[2].size for p in parts)
            if size < 200:
                raise LogError(
                    f"joint '{arm.joints[j]}' moves in {size} blocks of {self.motions[0].block:g} s only; log faster or longer motion"
                )
            warm = None
            if all(p[4] is not None for p in parts):
                warm = np.concatenate([p[4] for p in parts])
                warm = warm - warm.mean()
            Y, base = _reduce(np.concatenate([p[0] for p in parts]))
            known, v, a, time, log, piece = (np.concatenate([p[k] for p in parts]) for k in (1, 2, 3, 5, 6, 7))
            self.rows.append(Rows(Y, known, v, a, warm, time, log, piece, [p[8] for p in parts], np.ones(size), base))
        #: size of each joint's torque as logged, and its fastest motion
        self.size = np.array([np.sqrt(np.mean(self.torque(j, 0.0) ** 2)) for j in range(arm.n)])
        for j in range(arm.n):
            if self.size[j] == 0:
                raise LogError(f"the torque of joint '{arm.joints[j]}' is 0 in all logs")
        self.fastest = fastest
        self.groups = _groups(self.logs, self.piece_log)
        # a joint that moves in one group alone would be predicted by fits that never saw it move
        self.alone = [
            arm.joints[j]
            for j, r in enumerate(self.rows)
            if len(self.groups) > 1 and any(np.isin(r.piece, g).mean() > _MOST_OUT for g in self.groups.values())
        ]
        if self.alone and len(logs) > 1:
            self.groups = _fifths(self.piece_log)

    def without(self, name: str) -> np.ndarray:
        """(pieces) 0 for those of a group, 1 for all others."""
        counts = np.ones(self.n_pieces)
        counts[self.groups[name]] = 0
        return counts

    def base(self, j: int, parameters: np.ndarray) -> np.ndarray:
        """Base parameters of joint j from the parameters of the links (links, 10)."""
        return np.asarray(self.rows[j].base @ self.arm.select(j, parameters))

    def torque(self, j: int, delay: float) -> np.ndarray:
        """(N) logged torque of the rows of joint j."""
        return np.concatenate([m.torque(j, delay)[b] for m, b in zip(self.motions, self.rows[j].blocks)])

    def predict(
        self, j: int, beta: np.ndarray, p: np.ndarray, offsets: np.ndarray, rung: Rung
    ) -> dict[str, np.ndarray]:
        """Of the rows of joint j: logged torque `tau`, `u` into the gear, `x` out of it, `driving`, and the
        increase `at_rest` of the bound."""
        r, at = self.rows[j], PLACE
        s, speed = np.sign(r.v), np.abs(r.v)
        warm = np.zeros_like(s) if r.warmth is None else r.warmth
        bv = p[at["viscous"]] * np.exp((rung.shape.viscous_temperature + p[at["viscous_temperature"]]) * warm)
        x = r.Y @ beta + r.known + bv * r.v + p[at["curved"]] * s * speed**rung.shape.power
        S = np.exp(-((speed / (rung.shape.stribeck_velocity * (1 + p[at["stribeck_velocity"]]))) ** 2))
        c = (
            p[at["coulomb"]] * np.exp((rung.shape.coulomb_temperature + p[at["coulomb_temperature"]]) * warm)
            + p[at["stribeck_friction"]] * S
        )
        u, driving = law.torques(x, s, c, p)
        at_rest = np.full_like(x, p[at["stribeck_friction"]])
        if p[at["gamma_stribeck"]] or p[at["gamma_quadratic"]]:
            for _ in range(20):
                least = np.where(u * x > 0, np.minimum(np.abs(u), np.abs(x)), 0.0)
                more = p[at["gamma_stribeck"]] * np.abs(u + x) + p[at["gamma_quadratic"]] * least**2
                u, driving = law.torques(x, s, c + S * more, p)
            at_rest = at_rest + more
        tau = p[at["scale"]] * (u + p[at["armature"]] * r.a) + offsets[r.log]
        return {"tau": tau, "u": u, "x": x, "driving": driving, "at_rest": at_rest}

    def design(self, j: int, predicted: dict[str, np.ndarray], rung: Rung) -> np.ndarray:
        """Columns of joint j and, as the last one, its torque."""
        r = self.rows[j]
        late = np.zeros_like(r.v)
        for i in range(len(self.logs)):
            # the torque is logged later than the motion: tau(t) = f(t - delay)
            here = np.flatnonzero(r.log == i)
            if here.size > 2:
                run = (
                    np.flatnonzero(
                        (np.diff(r.time[here]) > 1.5 * np.min(np.diff(r.time[here])))
                        | (np.diff(np.sign(r.v[here])) != 0)
                    )
                    + 1
                )
                for part in np.split(here, run):
                    if part.size > 2:
                        late[part] = -np.gradient(predicted["tau"][part], r.time[part])
        X = law.columns(r.Y, r.known, r.v, r.a, r.warmth, r.log, len(self.logs), rung.shape, predicted["driving"],
                        (predicted["u"], predicted["x"]), predicted["at_rest"], late)  # fmt: skip
        return np.concatenate([X, self.torque(j, rung.shape.delay)[:, None]], axis=1)

    def gram(self, j: int, design: np.ndarray) -> np.ndarray:
        """(pieces, C + 1, C + 1) of joint j."""
        r = self.rows[j]
        out = np.zeros((self.n_pieces, design.shape[1], design.shape[1]))
        order = np.argsort(r.piece, kind="stable")
        Z = design[order] * np.sqrt(r.weight[order])[:, None]
        ends = np.searchsorted(r.piece[order], np.arange(self.n_pieces + 1))
        for k in range(self.n_pieces):
            part = Z[ends[k] : ends[k + 1]]
            if part.size:
                out[k] = part.T @ part
        return out

    def scatter(self, j: int, residual: np.ndarray) -> float:
        """Return the variance of a residual for the mean of correlated samples: times 1 + 2 sum of its correlations.

        Sets the weights of the rows too: outliers count less (Huber).
        """
        r = self.rows[j]
        sigma = 1.4826 * np.median(np.abs(residual))
        sigma = sigma if sigma > 0 else 1e-12 * self.size[j]
        r.weight = np.minimum(1.0, _HUBER * sigma / np.maximum(np.abs(residual), 1e-300))
        z = residual * np.sqrt(r.weight)
        variance = float(np.mean(z**2))
        factor = 1.0
        for lag in range(1, 200):
            same = (r.piece[lag:] == r.piece[:-lag]) & (r.time[lag:] > r.time[:-lag])
            if same.sum() < 50:
                break
            rho = float(np.mean(z[lag:][same] * z[:-lag][same])) / variance
            if rho < 0.05:
                break
            factor += 2 * rho
        return variance * factor


def _reduce(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, r) columns that span Y, and their (r, n) coefficients from the columns of Y."""
    size = np.sqrt(np.sum(Y**2, axis=0))
    scale = np.where(size > 1e-12 * size.max(), size, 1.0)
    Z = np.where(size > 1e-12 * size.max(), Y, 0.0) / scale
    w, V = np.linalg.eigh(Z.T @ Z)
    V = V[:, w > 1e-11 * w[-1]]
    return Z @ V, V.T * scale


def _payload(log: ArmLog) -> np.ndarray | None:
    mass = log.number("payload", 0.0)
    if mass == 0:
        return None
    x, y, z = (log.number(f"payload_{axis}", 0.0) for axis in "xyz")
    own = log.number("payload_inertia", 0.0)
    return np.array([mass, mass * x, mass * y, mass * z, mass * (y * y + z * z) + own, mass * (x * x + z * z) + own,
                     mass * (x * x + y * y) + own, -mass * x * y, -mass * x * z, -mass * y * z])  # fmt: skip


def _groups(logs: Sequence[ArmLog], piece_log: Sequence[int]) -> dict[str, list[int]]:
    """Name -> pieces that are left out together: a trajectory, else a log, else a fifth of the only one."""
    names = [str(log.facts.get("trajectory", log.name)) for log in logs]
    if len(set(names)) < 2:
        names = [log.name for log in logs]
    found: dict[str, list[int]] = {}
    if len(logs) > 1:
        for k, i in enumerate(piece_log):
            found.setdefault(names[i], []).append(k)
    else:
        found = _fifths(piece_log)
    # six groups at most: more cost time and tell no more
    if len(found) > 6:
        merged: dict[str, list[int]] = {}
        for k, (name, pieces) in enumerate(found.items()):
            merged.setdefault(f"group {1 + k % 6}", []).extend(pieces)
        found = merged
    return found


def _fifths(piece_log: Sequence[int]) -> dict[str, list[int]]:
    """Return name -> pieces: the first fifth of every log, the second, and so on."""
    found: dict[str, list[int]] = {}
    for i in sorted(set(piece_log)):
        own = [k for k, log in enumerate(piece_log) if log == i]
        for place, k in enumerate(own):
            # logs that have fewer than five pieces begin at different fifths
            part = 5 * place // len(own) if len(own) >= 5 else (place + i) % 5
            found.setdefault(f"part {1 + part}", []).append(k)
    return dict(sorted(found.items()))


def changed(rung: Rung, terms: frozenset[str]) -> Rung:
    """A rung of the same shape with other terms."""
    return Rung(terms, replace(rung.shape))
