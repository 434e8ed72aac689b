"""Prove that a step has a solution, or that it has none. Decided by branch and bound over pieces.

    build/bin/mjgear-fallback-counts --no-scenes --cases DIR
    benchmarks/existence.py DIR/*.xml [--seconds N]

A case is the text of a model and the state before a step that was left unsolved. With friction t of the gears and forces f of the
constraints everything is linear in (t, f) once each branch is chosen. A gear is stuck or slips forward or backward, with a load of either
sign. A constraint row acts or does not. An elliptic contact sticks, slides in a direction, or is open. Where some branches are chosen
the rest is relaxed to linear conditions. A linear program finds the least error s of the relaxed conditions, in rows whose largest
coefficient is 1 and numbers of size 1. Where s is not zero no choice of the other pieces is a solution. When all is tried a case has

    a solution      friction, error of the law there
    no solution margin: the least s of all programs that closed a branch, far above the error of linear programs
    undecided       time was up, or a cone slides in a direction that is known to FINE only, as in each solution with a cone that slides

The numbers are the engine's own for the model without gears; nothing of the plugin is used. Gears of motors on hinges and slides only.
"""

import argparse
import pathlib
import re
import time

import mujoco
import numpy as np
from scipy.optimize import linprog

CLOSED = 1e-6  # least error that closes a branch
FOUND = 1e-9  # error of a solution
FINE = 1e-3  # directions of sliding this near are one
ELLIPTIC = int(mujoco.mjtConstraint.mjCNSTR_CONTACT_ELLIPTIC)


def integrator_inertia(model, data):
    """Dense inertia matrix of the integrator. After a step."""
    M, h = np.zeros((model.nv, model.nv)), model.opt.timestep
    mujoco.mj_fullM(model, data, M)
    kind = mujoco.mjtIntegrator(model.opt.integrator)
    if kind == mujoco.mjtIntegrator.mjINT_EULER:
        return M, M + h * np.diag(model.dof_damping)
    D = np.zeros_like(M)
    for i in range(model.nv):
        adr, n = model.D_rowadr[i], model.D_rownnz[i]
        D[i, model.D_colind[adr : adr + n]] = data.qDeriv[adr : adr + n]
    if kind == mujoco.mjtIntegrator.mjINT_IMPLICITFAST:
        D = np.tril(D) + np.tril(D, -1).T
    return M, M - h * D


class Step:
    """A step in x = (t, f), scaled: v, load and w = J a - aref + R f are linear in x."""

    def __init__(self, text, state):
        gears = re.search(r"<extension>.*</extension>", text, re.DOTALL).group()
        key = {k: v.split() for k, v in re.findall(r"key='(\w+)' value='([^']*)'", gears)}
        model = mujoco.MjModel.from_xml_string(text.replace(gears, ""))
        data, geared = mujoco.MjData(model), mujoco.MjModel.from_xml_string(text)
        other = mujoco.MjData(geared)
        mujoco.mj_setState(geared, other, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        data.qpos, data.qvel, data.ctrl = other.qpos, other.qvel, other.ctrl
        mujoco.mj_step(model, data)
        dof = model.jnt_dofadr[[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, x) for x in key["joint"]]]
        n, m, nv, h = len(dof), data.nefc, model.nv, model.opt.timestep
        self.n, self.m, self.ne, self.nf = n, m, data.ne, data.nf
        E, J = np.eye(nv)[dof], data.efc_J.reshape(-1, nv)[:m] if not mujoco.mj_isSparse(model) else dense(data, m, nv)
        M, Mhat = integrator_inertia(model, data)
        inverse = np.linalg.inv(M)
        force, rows = data.qfrc_smooth, E @ np.linalg.solve(Mhat, M)
        free, K = inverse @ force, inverse @ np.hstack([-E.T, J.T])
        R, N = data.efc_R[:m], n + m
        scale = np.sqrt(force @ free) / np.sqrt(
            np.concatenate([np.diag(E @ inverse @ E.T), np.diag(J @ inverse @ J.T) + R])
        )
        number = {
            k: np.resize(np.array(key.get(k, d), float), n)
            for k, d in (("gamma_u", [0]), ("gamma_v", [0]), ("coulomb", [0]), ("static_ratio", [1]))
        }
        gamma, v0 = number["gamma_u"] + number["gamma_v"], other.qvel[dof]
        armature, motor = model.dof_armature[dof], data.qfrc_actuator[dof]
        self.scale, self.coulomb, self.loss = scale, number["coulomb"], data.efc_frictionloss[:m]
        self.up, self.down = (np.where(s * v0 > 0, 1, number["static_ratio"]) for s in (1, -1))
        self.v = (h * rows @ K * scale, v0 + h * rows @ free)
        pull = -(gamma * armature)[:, None] * rows
        self.load = (
            (np.hstack([-np.diag(number["gamma_v"]), np.zeros((n, m))]) + pull @ K) * scale,
            gamma * motor + pull @ free,
        )
        self.w = (J @ K + np.hstack([np.zeros((m, n)), np.diag(R)])) * scale, J @ free - data.efc_aref[:m]
        self.t, self.f = np.eye(N)[:n] * scale, np.eye(N)[n:] * scale
        self.cone, row = [], 0
        self.inside = set()
        while row < m:
            if data.efc_type[row] == ELLIPTIC:
                contact = data.contact[data.efc_id[row]]
                friction = np.concatenate([[1], contact.friction[: contact.dim - 1]])
                part = slice(row, row + contact.dim)
                F, W, w0 = (
                    self.f[part] / friction[:, None],
                    self.w[0][part] * friction[:, None],
                    self.w[1][part] * friction,
                )
                size = np.abs(F[0]).max(), np.abs(W[0]).max()
                self.cone.append(
                    dict(
                        F=(F / size[0], np.zeros(contact.dim)),
                        W=(W / size[1], w0 / size[1]),
                        cuts=[x for x in np.vstack([np.eye(contact.dim - 1), -np.eye(contact.dim - 1)])],
                    )
                )
                self.inside |= set(range(row, row + contact.dim))
                row += contact.dim
            else:
                row += 1


def dense(data, m, nv):
    J = np.zeros((m, nv))
    for i in range(m):
        adr, n = data.efc_J_rowadr[i], data.efc_J_rownnz[i]
        J[i, data.efc_J_colind[adr : adr + n]] = data.efc_J[adr : adr + n]
    return J


class Program:
    """Rows r x + c >= 0 or = 0, and the least error that meets all of them."""

    def __init__(self, size):
        self.size, self.more, self.unequal, self.equal = size, 0, [], []

    def add(self, row, const, equal=False):
        most = max(np.abs(row).max(), 1e-300)
        (self.equal if equal else self.unequal).append((row / most, const / most))

    def extra(self, n):
        """Further unknowns >= 0."""
        self.more += n
        return self.size + self.more - n

    def solve(self):
        n = self.size + self.more
        rows, const = [], []
        for sign, part in ((-1, self.unequal), (-1, self.equal), (1, self.equal)):
            for row, c in part:
                rows.append(np.concatenate([sign * row, np.zeros(n - len(row)), [-1]]))
                const.append(-sign * c)
        bounds = [(None, None)] * self.size + [(0, None)] * (self.more + 1)
        for method in ("highs", "highs-ipm"):
            result = linprog(np.eye(n + 1)[n], np.array(rows), const, bounds=bounds, method=method)
            if result.status == 0:
                return result.fun, result.x[: self.size]
        return 0, None


class Search:
    """Branch and bound. A choice is a tuple of dicts: pieces of gears (direction, sign of the load), rows, cones."""

    def __init__(self, step):
        self.step, self.programs, self.margin, self.doubt = step, 0, np.inf, 0

    def program(self, choice):
        s, (gear, row, cone) = self.step, choice
        p = Program(s.n + s.m)
        for i, (direction, sign) in gear.items():
            v, load, t = (s.v[0][i], s.v[1][i]), (s.load[0][i], s.load[1][i]), s.t[i]
            p.add(*((v[0], v[1], True) if direction == 0 else (direction * v[0], direction * v[1])))
            for k in (1, -1) if sign is None else (sign,):
                bound = k * load[0], k * load[1] + s.coulomb[i]
                if sign is not None:
                    p.add(k * load[0], k * load[1])
                if direction:
                    p.add(direction * t - bound[0], -bound[1], sign is not None)
                elif sign is not None:
                    p.add(s.up[i] * bound[0] - t, s.up[i] * bound[1])
                    p.add(s.down[i] * bound[0] + t, s.down[i] * bound[1])
        for i in range(s.m):
            w, f, state = (s.w[0][i], s.w[1][i]), s.f[i], row.get(i)
            if i in s.inside:
                continue
            if i < s.ne or state == "acts":
                p.add(*w, True)
            if s.ne <= i < s.ne + s.nf:
                sign = {"below": 1, "above": -1}.get(state)
                if sign:
                    p.add(f, -sign * s.loss[i], True)
                    p.add(-sign * w[0], -sign * w[1])
                else:
                    p.add(f, s.loss[i])
                    p.add(-f, s.loss[i])
            elif i >= s.ne:
                p.add(f, 0, state == "open")
                if state != "acts":
                    p.add(*w)
        for k, c in enumerate(s.cone):
            self._cone(p, c, cone.get(k))
        return p

    @staticmethod
    def _cone(p, c, state):
        kind = state and state[0]
        for name, zero in (("F", "open"), ("W", "sticks")):
            A, b = c[name]
            if kind == zero:
                for q in range(len(A)):
                    p.add(A[q], b[q], True)
                continue
            for u in c["cuts"]:
                p.add(A[0] - u @ A[1:], b[0] - u @ b[1:])
            if kind != "slides":
                continue

            # against, or along, a direction between those in the columns of state[1]: what is of size 1 on both sides of their hull
            side, d = (-1 if name == "F" else 1), len(A) - 1
            first = p.extra(d)
            wide = lambda row: np.concatenate([row, np.zeros(first + d - len(row))])
            for q in range(d):
                r = wide(A[1 + q])
                r[first : first + d] = -side * state[1][q]
                p.add(r, b[1 + q], True)
            near = 1 / np.linalg.norm(np.linalg.solve(state[1].T, np.ones(d)))
            for sign, share in ((-1, 1), (1, -near)):
                r = wide(sign * A[0])
                r[first : first + d] = share
                p.add(r, sign * b[0])

    def bound(self, choice):
        """Return the least error and its point; cones are cut where the point is outside of them."""
        for _ in range(20):
            self.programs += 1
            error, x = self.program(choice).solve()
            if x is None or error > CLOSED:
                return error, x
            new = 0
            for c in self.step.cone:
                for A, b in (c["F"], c["W"]):
                    y = A @ x + b
                    size = np.linalg.norm(y[1:])
                    if size - y[0] > FINE * size + FOUND:
                        c["cuts"].append(y[1:] / size)
                        new = 1
            if not new:
                break
        return error, x

    def gear_error(self, i, x):
        s = self.step
        t, v = s.t[i] @ x / s.scale[i], (s.v[0][i] @ x + s.v[1][i]) / np.abs(s.v[0][i]).max()
        B = (abs(s.load[0][i] @ x + s.load[1][i]) + s.coulomb[i]) / s.scale[i]
        return min(max(abs(v), t - s.up[i] * B, -s.down[i] * B - t), max(-v, abs(t - B)), max(v, abs(t + B)))

    def row_error(self, i, x):
        s = self.step
        w, f = (s.w[0][i] @ x + s.w[1][i]) / np.abs(s.w[0][i]).max(), s.f[i] @ x / s.scale[s.n + i]
        if i < s.ne + s.nf:
            F = s.loss[i] / s.scale[s.n + i]
            return max(min(max(-w, 0), F - f), min(max(w, 0), F + f))
        return min(w, f)

    @staticmethod
    def cone_error(c, state, x):
        F, W = (c[k][0] @ x + c[k][1] for k in ("F", "W"))
        along, size = W[1:], np.linalg.norm(W[1:])
        slides = max(
            abs(F[0] - np.linalg.norm(F[1:])),
            abs(W[0] - size),
            np.linalg.norm(F[1:] + F[0] * along / size) if size > FOUND else 0,
        )
        return slides if state else min(np.linalg.norm(F), np.linalg.norm(W), slides)

    def worst(self, choice, x):
        """The open choice farthest from its law, gears first: (error, which dict, number)."""
        s, (gear, row, cone) = self.step, choice
        found = [(self.gear_error(i, x), 0, i) for i in range(s.n) if i not in gear or gear[i][1] is None]
        if max(found, default=(0,))[0] <= FOUND:
            found += [(self.row_error(i, x), 1, i) for i in range(s.ne, s.m) if i not in row and i not in s.inside]
            found += [
                (self.cone_error(c, cone.get(k), x), 2, k)
                for k, c in enumerate(s.cone)
                if k not in cone or cone[k][0] == "slides"
            ]
        return max(found, default=(0, None, None))

    def branches(self, choice, which, k):
        old = choice[which].get(k)
        if which == 0:
            new = ((0, None), (1, None), (-1, None)) if old is None else ((old[0], 1), (old[0], -1))
        elif which == 1:
            new = ("acts", "below", "above") if k < self.step.ne + self.step.nf else ("acts", "open")
        elif old is None:
            d = len(self.step.cone[k]["F"][1]) - 1
            new = [("open",), ("sticks",)] + [
                ("slides", np.diag(2.0 * np.array(list(np.binary_repr(i, d)), float) - 1)) for i in range(1 << d)
            ]
        else:
            V = old[1]
            away = ((V[:, :, None] - V[:, None, :]) ** 2).sum(0)
            i, j = np.unravel_index(away.argmax(), away.shape)
            if away[i, j] < FINE**2:
                return None
            middle = (V[:, i] + V[:, j]) / np.linalg.norm(V[:, i] + V[:, j])
            new = [
                ("slides", np.column_stack([middle if q == k2 else V[:, q] for q in range(len(V))])) for k2 in (i, j)
            ]
        return [tuple({**part, k: value} if p == which else part for p, part in enumerate(choice)) for value in new]

    def run(self, seconds):
        end, stack = time.monotonic() + seconds, [({}, {}, {})]
        while stack:
            if time.monotonic() > end:
                return f"undecided, {len(stack)} branches left"
            choice = stack.pop()
            error, x = self.bound(choice)
            if error > CLOSED:
                self.margin = min(self.margin, error)
                continue
            missing, which, k = (1, 0, None) if x is None else self.worst(choice, x)
            if x is not None and missing <= FOUND and error <= FOUND:
                t = self.step.scale[: self.step.n] * x[: self.step.n]
                return f"a solution, error {max(missing, error):.1g}: t = {np.array2string(t)}"
            new = None if k is None else self.branches(choice, which, k)
            if new is None:
                self.doubt += 1
            else:
                stack += new
        return f"undecided, {self.doubt} pieces too close" if self.doubt else f"no solution, margin {self.margin:.1g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="+", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument(
        "--plugin", default=str(pathlib.Path(__file__).resolve().parent.parent / "build/lib/libmjgear.so")
    )
    args = parser.parse_args()
    mujoco.mj_loadPluginLibrary(args.plugin)
    for path in args.case:
        step = Step(path.read_text(), np.loadtxt(path.with_suffix(".txt")))
        search, begin = Search(step), time.monotonic()
        verdict = search.run(args.seconds)
        integrator = re.search(r"integrator='(\w+)'", path.read_text()).group(1)
        print(
            f"{path.name}: {integrator}, {step.n} gears, {step.m} rows, {len(step.cone)} cones: {verdict}"
            f" ({search.programs} programs, {time.monotonic() - begin:.0f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
