"""Fits all joints of an arm together: the links are common to them, friction is a joint's own.

The unknowns of a link are a symmetric 4 x 4 matrix S. Its pseudo-inertia is L exp(S) L'; L L' is the model's. Every S
is a body that can exist, and 0 is the model. A stated tolerance of the model is the scatter of S, the same in all units (the
metric of T. Lee and F. C. Park, 2018). Gauss-Newton on sums of Gram matrices, with bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mjgear.identify.arm import law
from mjgear.identify.arm.dynamics import Arm, numbers, pseudo
from mjgear.identify.arm.law import PLACE, Rung
from mjgear.identify.arm.problem import Problem

#: standard deviation of a stated tolerance: between an even spread (0.58) and its ends
SPREAD = 0.6
_WEAK = 100.0  # usual sizes, of priors that only keep the matrix regular
_GAMMA = 1.0  # usual size of gamma_u and gamma_v
_EVEN = 1e-6  # standard deviation of the difference of two numbers that a rung ties together
_SEARCH = (0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3)  # Stribeck velocities, of the fastest motion
_POWERS = (0.5, 2.0, 3.0)  # exponents of the curved viscous friction

_BOUNDS = {
    "scale": (1e-9, np.inf), "gamma_u": (0.0, 0.95), "gamma_v": (0.0, 3.0), "stribeck_velocity": (-0.5, 0.5),
    "curved": (-np.inf, np.inf), "coulomb_temperature": (-np.inf, np.inf), "viscous_temperature": (-np.inf, np.inf),
    "delay": (-np.inf, np.inf),
}  # fmt: skip


def _basis() -> np.ndarray:
    """(10, 4, 4) orthonormal symmetric matrices."""
    made = []
    for i in range(4):
        for j in range(i, 4):
            E = np.zeros((4, 4))
            E[i, j] = E[j, i] = 1.0 if i == j else np.sqrt(0.5)
            made.append(E)
    return np.array(made)


_E = _basis()
_FLAT = _E.reshape(10, 16).T
_NUMBERS = numbers(np.eye(16).reshape(16, 4, 4)).T  # of a pseudo-inertia, flat


@dataclass
class Known:
    """Knowledge in addition to the logs.

    Attributes:
      inertia: relative tolerance of the model's links.
      scale: (joints) logged units in one N m; nan: unknown.
      tolerance: (joints) relative, of the scale.
      delay: fit one for each joint.
      offset: fit one for each log and joint.
    """

    inertia: float
    scale: np.ndarray
    tolerance: np.ndarray
    delay: bool = True
    offset: bool = True


class Links:
    """Inertial parameters from their unknowns.

    Attributes:
      spread: (links, 10) of the unknowns, of a tolerance of 1: of the mass by that part, of the centre by that part of the
        gyration radius, in all directions alike, of the second moments accordingly.
    """

    def __init__(self, arm: Arm) -> None:
        roots = []
        self.spread = np.empty((len(arm.links), 10))
        size = max(float(link.numbers[0]) for link in arm.links)
        radius = max(
            float(np.sqrt(max(np.trace(pseudo(link.numbers)[:3, :3]), 0) / 3 / max(link.numbers[0], 1e-12)))
            for link in arm.links
        )
        for k, link in enumerate(arm.links):
            P = pseudo(link.numbers)
            # a link that the model gives no mass, or no extent
            mass = max(P[3, 3], 1e-3 * size)
            center = P[:3, 3] / mass
            w, V = np.linalg.eigh(P[:3, :3] / mass - np.outer(center, center))
            r = max(float(np.sqrt(max(w.sum(), 0) / 3)), 0.02 * radius)
            lengths = np.sqrt(np.maximum(w, (0.05 * r) ** 2))
            root = np.eye(4)
            root[:3, :3], root[:3, 3] = V * lengths, center
            roots.append(root * np.sqrt(mass))
            ratio = np.append(np.clip(r / lengths, 1, 3), 1.0)
            self.spread[k] = [ratio[i] * ratio[j] for i in range(4) for j in range(i, 4)]
        self._roots = np.array(roots)

    def __call__(self, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(links, 10) numbers and (links, 10, 10) their derivatives by the unknowns (links, 10)."""
        w, V = np.linalg.eigh(np.tensordot(S, _E, 1))
        w = np.clip(w, -20, 20)
        e = np.exp(w)
        apart = w[:, :, None] - w[:, None, :]
        close = np.abs(apart) < 1e-8
        F = np.where(
            close,
            np.exp((w[:, :, None] + w[:, None, :]) / 2),
            (e[:, :, None] - e[:, None, :]) / np.where(close, 1, apart),
        )
        # the derivative in a direction E is A (F * (V' E V)) A', a product of Kronecker products
        read = _NUMBERS @ _squared(self._roots @ V)
        value = np.einsum("lnk,lk->ln", read[:, :, ::5], e)
        return value, (read * F.reshape(-1, 1, 16)) @ (_squared(V.swapaxes(1, 2)) @ _FLAT)


def _squared(A: np.ndarray) -> np.ndarray:
    """Kronecker products of matrices (n, 4, 4) with themselves, which map flat X to A X A'."""
    return np.asarray((A[:, :, None, :, None] * A[:, None, :, None, :]).reshape(-1, 16, 16))


@dataclass
class State:
    """A point: unknowns (links, 10), numbers (joints, NUMBERS) and offsets (joints, logs)."""

    S: np.ndarray
    p: np.ndarray
    offsets: np.ndarray

    def vector(self) -> np.ndarray:
        """All in one."""
        return np.concatenate([self.S.ravel(), np.concatenate([self.p, self.offsets], axis=1).ravel()])

    def at(self, theta: np.ndarray) -> State:
        """The point of a vector."""
        n = self.S.size
        rest = theta[n:].reshape(self.p.shape[0], -1)
        return State(
            theta[:n].reshape(self.S.shape), rest[:, : self.p.shape[1]].copy(), rest[:, self.p.shape[1] :].copy()
        )


@dataclass
class Others:
    """The cost of all but one joint near a point, as a function of the links.

    Attributes:
      S: (unknowns) the point.
      information, gradient: of the cost's half.
    """

    S: np.ndarray
    information: np.ndarray
    gradient: np.ndarray


class Fitter:
    """Fits of one problem.

    Attributes:
      variance: (joints) of what is logged, as of independent samples.
      designs: (joints) columns, see remake().
      grams: (joints) of (pieces, C + 1, C + 1).
    """

    def __init__(self, problem: Problem, known: Known) -> None:
        self.problem, self.known = problem, known
        self.arm = problem.arm
        self.links = Links(self.arm)
        self.variance = (0.05 * problem.size) ** 2
        self.grams: list[np.ndarray] = []
        J, L = self.arm.n, len(problem.logs)
        p = np.zeros((J, len(law.NUMBERS)))
        model = self.arm.parameters
        scale = np.array(known.scale, dtype=float)
        for j in range(J):
            if np.isnan(scale[j]):
                r = problem.rows[j]
                f = r.Y @ problem.base(j, model) + r.known
                y = problem.torque(j, 0.0)
                scale[j] = max(
                    float(y @ f) / max(float(f @ f), 1e-300),
                    0.1 * problem.size[j] / max(float(np.sqrt(np.mean(f**2))), 1e-300),
                )
        self.scale = scale
        p[:, PLACE["scale"]] = scale
        p[:, PLACE["armature"]] = self.arm.armature
        torque = problem.size / scale  # N m
        p[:, PLACE["coulomb"]] = 0.1 * torque
        p[:, PLACE["viscous"]] = 0.1 * torque / problem.fastest
        self.start = State(np.zeros((len(self.arm.links), 10)), p, np.zeros((J, L)))
        self.usual = self._usual(torque)

    def _usual(self, torque: np.ndarray) -> np.ndarray:
        """(joints, NUMBERS) usual sizes."""
        pr = self.problem
        fastest = pr.fastest
        hardest = np.array([np.sqrt(np.mean(r.a**2)) for r in pr.rows])
        warm = np.array([0.0 if r.warmth is None else np.abs(r.warmth).max() for r in pr.rows])
        warm = np.where(warm > 0, warm, 1.0)
        one = np.ones_like(torque)
        return np.stack([self.scale, one, one, torque / np.maximum(hardest, 1e-12), torque / fastest, torque / fastest**2, torque, torque,
                         one, 0.1 * one, 0.1 / torque, 0.3 / warm, 0.3 / warm, 0.01 * one], axis=1)  # fmt: skip

    # ------------------------------ columns -----------------------------------------------------------------------

    def remake(self, rungs: Sequence[Rung], state: State, robust: bool = True) -> None:
        """Columns, weights, variances and Gram matrices at a point."""
        beta = self.links(state.S)[0]
        self.grams, self._predicted = [], []
        for j, rung in enumerate(rungs):
            predicted = self.problem.predict(j, self.problem.base(j, beta), state.p[j], state.offsets[j], rung)
            self._predicted.append(predicted["tau"])
            if robust:
                late = state.p[j, PLACE["delay"]]
                design = self.problem.design(j, predicted, rung)
                place = design.shape[1] - 2 - len(self.problem.logs)
                self.variance[j] = self.problem.scatter(j, design[:, -1] - predicted["tau"] - late * design[:, place])
            else:
                design = self.problem.design(j, predicted, rung)
            self.grams.append(self.problem.gram(j, design))

    def gram(self, j: int, rung: Rung, state: State) -> np.ndarray:
        """(pieces, C + 1, C + 1) of a joint, with columns at a point and the current weights."""
        predicted = self.problem.predict(
            j, self.problem.base(j, self.links(state.S)[0]), state.p[j], state.offsets[j], rung
        )
        return self.problem.gram(j, self.problem.design(j, predicted, rung))

    def search(self, rungs: Sequence[Rung], state: State, only: int | None = None) -> None:
        """Find the Stribeck velocity and power of each joint, or of one, that fit best with the rung's linear terms."""
        beta = self.links(state.S)[0]
        for j, rung in enumerate(rungs):
            if only not in (None, j):
                continue
            if not rung.terms & {"curved", "stribeck"}:
                continue
            r = self.problem.rows[j]
            predicted = self.problem.predict(j, self.problem.base(j, beta), state.p[j], state.offsets[j], rung)
            design, driving = self.problem.design(j, predicted, rung), predicted["driving"]
            n = r.Y.shape[1]
            # columns of neither group, except the additional load-dependent friction at rest
            base = [
                *range(2 * n + 2),
                2 * n + 4,
                2 * n + 5,
                2 * n + 8,
                2 * n + 14,
                *range(2 * n + 20, design.shape[1] - 1),
            ]
            s, speed = np.sign(r.v), np.abs(r.v)
            w = np.sqrt(r.weight)[:, None]
            out = _Projector(design[:, base] * w)
            y = out(design[:, -1:] * w)
            none = np.zeros((r.v.size, 0))
            curved = (
                {p: out(self._both(s * speed**p, driving) * w) for p in _POWERS}
                if "curved" in rung.terms
                else {rung.shape.power: none}
            )
            fast = float(self.problem.fastest[j])
            stribeck = {rung.shape.stribeck_velocity: none}
            if "stribeck" in rung.terms:
                stribeck = {
                    k * fast: out(self._both(s * np.exp(-((speed / (k * fast)) ** 2)), driving) * w) for k in _SEARCH
                }
            best = np.inf
            for power, c in curved.items():
                for velocity, z in stribeck.items():
                    Z = np.concatenate([c, z], axis=1)
                    left = y - Z @ np.linalg.lstsq(Z, y, rcond=1e-10)[0]
                    # MuJoCo's own polynomial unless another power is clearly better
                    cost = float(np.sum(left**2)) * (1 + (power != 2.0) * 20 / r.v.size)
                    if cost < best:
                        best, rung.shape.power, rung.shape.stribeck_velocity = cost, power, velocity

    @staticmethod
    def _both(column: np.ndarray, driving: np.ndarray) -> np.ndarray:
        return np.stack([column * driving, column * ~driving], axis=1)

    # ------------------------------ least squares -----------------------------------------------------------------

    def _layout(
        self, rungs: Sequence[Rung], centers: State | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """free, low, high, prior's center and inverse variance of the vector."""
        start, known = self.start, self.known
        J, L = start.offsets.shape
        width = len(law.NUMBERS)
        n = start.S.size
        total = n + J * (width + L)
        free, low, high = np.zeros(total, bool), np.full(total, -np.inf), np.full(total, np.inf)
        center, precision = np.zeros(total), np.zeros(total)
        free[:n] = known.inertia > 0
        if known.inertia > 0:
            precision[:n] = 1 / (SPREAD * known.inertia * self.links.spread.ravel()) ** 2
        if centers is not None:
            center[:n] = centers.S.ravel()
        for j, rung in enumerate(rungs):
            at = n + j * (width + L)
            on = [*rung.enabled()]
            if known.delay:
                on.append("delay")
            if known.tolerance[j] > 0:
                on.append("scale")
            for name, k in PLACE.items():
                i = at + k
                low[i], high[i] = _BOUNDS.get(name, (0.0, np.inf))
                free[i] = name in on
                precision[i] = 1 / (_WEAK * self.usual[j, k]) ** 2
                if name == "scale":
                    center[i] = self.scale[j] if centers is None else centers.p[j, k]
                    spread = SPREAD * known.tolerance[j] if np.isfinite(known.tolerance[j]) else 5.0
                    precision[i] = 1 / (max(spread, 1e-9) * self.scale[j]) ** 2
                elif name in ("gamma_u", "gamma_v"):
                    precision[i] = 1 / _GAMMA**2
                elif name == "armature":
                    center[i] = 0.0
                elif name in (
                    "stribeck_velocity",
                    "gamma_stribeck",
                    "gamma_quadratic",
                    "coulomb_temperature",
                    "viscous_temperature",
                ):
                    precision[i] = 1 / self.usual[j, k] ** 2
            rows = slice(at + width, at + width + L)
            free[rows] = known.offset
            precision[rows] = 1 / (_WEAK * self.problem.size[j]) ** 2
        return free, low, high, center, precision

    def _evaluate(
        self, sums: Sequence[np.ndarray], state: State, only: int | None = None
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Cost, gradient and Gauss-Newton matrix of the logs (halves left out: cost is the sum of squares)."""
        beta, slope = self.links(state.S)
        J, L = state.offsets.shape
        width = len(law.NUMBERS)
        n = state.S.size
        total = n + J * (width + L)
        cost, g, H = 0.0, np.zeros(total), np.zeros((total, total))
        for j in range(J) if only is None else [only]:
            b = self.problem.base(j, beta)
            w, D, gains = law.weights(b, state.p[j], state.offsets[j])
            G = sums[j]
            v = 1 / self.variance[j]
            Gw = G[:-1, :-1] @ w
            cost += v * float(w @ Gw - 2 * w @ G[:-1, -1] + G[-1, -1])
            moved = self.arm.moved[j]
            own = n + j * (width + L)
            links = 10 * len(moved)
            part = self.problem.rows[j].base.reshape(b.size, -1, 10).swapaxes(0, 1) @ slope[moved]
            M = np.zeros((w.size, links + width + L))
            M[: 2 * b.size, :links] = np.multiply.outer(gains, part.swapaxes(0, 1).reshape(b.size, links)).reshape(
                -1, links
            )
            M[:, links : links + width] = D
            M[-L:, links + width :] = np.eye(L)
            places = np.append(np.add.outer(10 * np.asarray(moved), np.arange(10)), np.arange(own, own + width + L))
            g[places] += v * (M.T @ (Gw - G[:-1, -1]))
            H[np.ix_(places, places)] += v * (M.T @ (G[:-1, :-1] @ M))
        return cost, g, H

    def sums(self, pieces: np.ndarray | None = None) -> list[np.ndarray]:
        """Gram matrices of all pieces, or of each as often as `pieces` says."""
        return [G.sum(axis=0) if pieces is None else np.tensordot(pieces, G, 1) for G in self.grams]

    def others(self, rungs: Sequence[Rung], state: State, sums: Sequence[np.ndarray]) -> list[Others]:
        """At the best point: information of the other joints and the model about the links, for each joint."""
        free, _, _, _, precision = self._layout(rungs, None)
        n = state.S.size
        width = len(law.NUMBERS) + state.offsets.shape[1]
        found, own_g = [], []
        for j in range(self.arm.n):
            _, g, H = self._evaluate(sums, state, j)
            own = n + j * width + np.flatnonzero(free[n + j * width : n + (j + 1) * width])
            A = H[np.ix_(own, own)] + np.diag(precision[own])
            unit = 1 / np.sqrt(np.diag(A))
            B = H[:n, own] * unit
            found.append(H[:n, :n] - B @ np.linalg.solve(A * unit[:, None] * unit + 1e-12 * np.eye(own.size), B.T))
            own_g.append(g[:n])
        total = sum(found) + np.diag(precision[:n])
        return [Others(state.S.ravel().copy(), total - H, -g) for H, g in zip(found, own_g)]

    def solve(
        self,
        rungs: Sequence[Rung],
        start: State,
        pieces: np.ndarray | None = None,
        iterations: int = 30,
        centers: State | None = None,
        sums: Sequence[np.ndarray] | None = None,
        only: tuple[int, Others] | None = None,
        linear: bool = False,
        enough: float = 1e-3,
    ) -> tuple[State, float]:
        """The best point near a start, and its cost.

        Args:
          pieces: (pieces) how often each counts; None: once.
          centers: of the priors; None: the model and the given scales.
          sums: sums(pieces), where they are there already.
          only: a joint whose numbers are fitted, and the links, of which the other joints say what Others holds.
          enough: a step that lowers the cost by less is the last; the cost is a sum of squares over variances.
          linear: one step of Gauss-Newton, even if the cost rises: for draws near the best point.
        """
        sums = self.sums(pieces) if sums is None else sums
        free, low, high, center, precision = self._layout(rungs, centers)
        joint = None if only is None else only[0]
        if joint is not None:
            n, width = start.S.size, len(law.NUMBERS) + start.offsets.shape[1]
            mine = np.zeros_like(free)
            mine[:n] = True
            mine[n + joint * width : n + (joint + 1) * width] = True
            kept = start.vector()
            free &= mine
            precision[:n] = 0
        # parameters that are not fitted keep their start, except known scales
        theta = start.vector()
        theta = np.where(free, theta, self._idle(centers).vector())
        if joint is not None:
            theta = np.where(mine, theta, kept)
        theta = np.clip(theta, low, high)

        # gammas that are the same number
        width = len(law.NUMBERS) + start.offsets.shape[1]
        pairs = [
            start.S.size + k * width + np.array([PLACE["gamma_u"], PLACE["gamma_v"]])
            for k, rung in enumerate(rungs)
            if rung.even
        ]

        def full(t: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            c, g, H = self._evaluate(sums, start.at(t), joint)
            d = t - center
            c += float(np.sum(precision[free] * d[free] ** 2))
            if only is not None:
                e = t[:n] - only[1].S
                c += float(e @ only[1].information @ e + 2 * only[1].gradient @ e)
                g[:n] += only[1].information @ e + only[1].gradient
                H[:n, :n] += only[1].information
            for pair in pairs:
                apart = (t[pair[0]] - t[pair[1]]) / _EVEN**2
                c += apart**2 * _EVEN**2
                g[pair] += np.array([apart, -apart])
                H[np.ix_(pair, pair)] += np.array([[1.0, -1.0], [-1.0, 1.0]]) / _EVEN**2
            H[np.diag_indices_from(H)] += precision
            return c, g + precision * d, H

        damping = 0.0
        cost, g, H = full(theta)
        for _ in range(iterations):
            active = free & ~((theta <= low) & (g > 0)) & ~((theta >= high) & (g < 0))
            at = np.flatnonzero(active)
            A = H[np.ix_(at, at)]
            unit = 1 / np.sqrt(np.diag(A))
            A = A * unit[:, None] * unit
            A[np.diag_indices_from(A)] += 1e-12 + damping
            step = np.zeros_like(theta)
            step[at] = -unit * cho_solve(cho_factor(A), unit * g[at])
            there = np.clip(theta + step, low, high)
            if linear:
                return start.at(there), cost
            new = full(there)
            if not new[0] <= cost * (1 + 1e-12):
                damping = max(1e-4, 10 * damping)
                if damping > 1e6:
                    break
                continue
            small = cost - new[0] < enough
            theta, (cost, g, H) = there, new
            damping = damping / 10 if damping > 1e-5 else 0.0
            if small:
                break
        return start.at(theta), cost

    def _idle(self, centers: State | None) -> State:
        """Values of parameters that are not fitted."""
        idle = State(np.zeros_like(self.start.S), np.zeros_like(self.start.p), np.zeros_like(self.start.offsets))
        idle.p[:, PLACE["scale"]] = self.scale if centers is None else centers.p[:, PLACE["scale"]]
        return idle

    def covariance(self, rungs: Sequence[Rung], state: State) -> np.ndarray:
        """(vector, vector) of Gauss-Newton, priors included; 0 where nothing is fitted."""
        free, _, _, _, precision = self._layout(rungs, None)
        _, _, H = self._evaluate([G.sum(axis=0) for G in self.grams], state)
        H[np.diag_indices_from(H)] += precision
        at = np.flatnonzero(free)
        A = H[np.ix_(at, at)]
        unit = 1 / np.sqrt(np.diag(A))
        C = np.zeros_like(H)
        C[np.ix_(at, at)] = unit[:, None] * np.linalg.inv(A * unit[:, None] * unit + 1e-13 * np.eye(at.size)) * unit
        return C

    def settle(self, rungs: list[Rung], state: State, rounds: int, exponents: bool = False) -> State:
        """Alternate fits and new columns until the values behind the columns converge.

        Args: exponents: write those of the temperature into the shapes; not while their need is tested.
        """
        before = [np.full(r.v.size, np.inf) for r in self.problem.rows]
        for _ in range(rounds):
            state, _ = self.solve(rungs, state)
            self.follow(rungs, state, exponents)
            self.remake(rungs, state)
            after = self._predicted
            moved = max(float(np.sqrt(np.mean((a - b) ** 2) / v)) for a, b, v in zip(after, before, self.variance))
            before = after
            if moved < 0.02:
                break
        return self.solve(rungs, state)[0]

    def follow(self, rungs: list[Rung], state: State, exponents: bool = False) -> None:
        """Update the shapes with the corrections in the numbers."""
        at = PLACE
        for j, rung in enumerate(rungs):
            p, shape = state.p[j], rung.shape
            if "stribeck" in rung.terms:
                fast = self.problem.fastest[j]
                shape.stribeck_velocity = float(
                    np.clip(shape.stribeck_velocity * (1 + p[at["stribeck_velocity"]]), 0.005 * fast, fast)
                )
            shape.delay = float(np.clip(shape.delay + np.clip(p[at["delay"]], -0.01, 0.01), -0.1, 0.1))
            p[at["stribeck_velocity"]] = p[at["delay"]] = 0.0
            if exponents:
                shape.coulomb_temperature += float(p[at["coulomb_temperature"]])
                shape.viscous_temperature += float(p[at["viscous_temperature"]])
                p[at["coulomb_temperature"]] = p[at["viscous_temperature"]] = 0.0

    # ------------------------------ held out ----------------------------------------------------------------------

    def errors(self, state: State, pieces: Sequence[int], only: int | None = None) -> np.ndarray:
        """(joints, pieces) sums of squares of pieces that were held out, each log with the offset that suits it best.

        Args:
          only: a joint; then (1, pieces).
        """
        beta = self.links(state.S)[0]
        joints = range(self.arm.n) if only is None else [only]
        out = np.zeros((len(joints), len(pieces)))
        logs = np.array([self.problem.piece_log[k] for k in pieces])
        L = len(self.problem.logs)
        for row, j in enumerate(joints):
            G = self.grams[j][np.asarray(pieces)]
            for i in np.unique(logs):
                here = np.flatnonzero(logs == i)
                w, _, _ = law.weights(self.problem.base(j, beta), state.p[j], np.zeros(L))
                own = w.size - L + int(i)
                total = G[here].sum(axis=0)
                if self.known.offset and total[own, own] > 0:
                    w[own] = (total[own, -1] - total[own, :-1] @ w) / total[own, own]
                out[row, here] = (
                    np.einsum("c,kcd,d->k", w, G[here][:, :-1, :-1], w)
                    - 2 * G[here][:, :-1, -1] @ w
                    + G[here][:, -1, -1]
                )
        return out


class _Projector:
    """Removes from columns their projection on others."""

    def __init__(self, X: np.ndarray) -> None:
        scale = np.sqrt(np.sum(X**2, axis=0))
        X = X[:, scale > 0] / scale[scale > 0]
        w, V = np.linalg.eigh(X.T @ X)
        good = w > 1e-10 * w[-1]
        self._Q = X @ (V[:, good] / np.sqrt(w[good]))

    def __call__(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(y - self._Q @ (self._Q.T @ y))


def copies(rungs: Sequence[Rung]) -> list[Rung]:
    """Rungs whose shapes may change without changing these."""
    return [replace(r, shape=replace(r.shape)) for r in rungs]
