"""Gears in MuJoCo Warp, on its CPU backend: compared with the plugin, in many worlds, and refusals.

test_warp.py [native | scenes | discrete | still | worlds | law | interface]...     without a name all of them

Tests of a process share modules that are loaded, those of a build folder the kernels that are compiled. MJGEAR_LONG=1 has longer motions.
"""

import contextlib
import ctypes
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
from unittest import mock

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "benchmarks" / "warp")]

try:
    import mujoco
    import mujoco_warp as mjw
    import numpy as np
    import warp as wp
except ImportError as error:
    print(error)
    sys.exit(77)

import play
import quick_kernels  # noqa: F401
import scripts

import mjgear
import mjgear.warp
from mjgear.warp import engine, kernels, native

FIBERS = hasattr(wp.config, "enable_cpu_blocks")  # Warp 1.19 has them
LONG = bool(os.environ.get("MJGEAR_LONG"))
# each size of a model has kernels of the engine that compile for seconds
SCENES = ("rod", "wall", "arm", "humanoid", "sinking", "gripper") if LONG else ("rod", "arm", "sinking")
DISCRETE = ("arm, discrete", "sinking, discrete", "servos, discrete", "servos, discrete, pyramidal")[
    :: 1 if LONG else 2
]
scripts.Arm.duration = 8.0 if LONG else 5.0  # it lies on its table from 3.5 s on


def fresh_kernels():
    """Kernels are made again, by what is patched."""
    for function in (native.source, native.functions, kernels.Numbers, kernels.make):
        function.cache_clear()
    kernels.make("single").settle.module.options["optimization_level"] = 2  # the largest is compiled as for users


fresh_kernels()


def largest(a, b):
    return np.abs(a - b).max()


# ------------------------------------------ native code ----------------------------------------------------------


def random_problems(rng, n, count):
    """Friction problems of n joints that hang together as in a robot, with gamma_v up to 1.2."""
    for _ in range(count):
        B = rng.normal(size=(n, n))
        A = 1e-3 * np.linalg.inv(B @ B.T + n * np.eye(n))
        gamma_u, gamma_v = rng.uniform(0, 0.5, n), rng.uniform(0, 1.2, n)
        rotor = rng.uniform(0, 1, n)
        yield {
            "A": A,
            "v_free": rng.normal(size=n) * np.sqrt(np.diag(A)),
            "phi": rng.normal(size=n) / np.sqrt(np.diag(A)),
            "alpha": (gamma_u + gamma_v) * rotor / 1e-3,
            "beta": gamma_v,
            "coulomb": rng.uniform(0, 1, n) * rng.integers(0, 2, n),
            "static_ratio": 1 + rng.uniform(0, 1, n) * rng.integers(0, 2, n),
            "v0": rng.normal(size=n) * rng.integers(0, 2, n),
        }


def compiled(real, folder):
    """mjgi_denseNewton and the functions of world.h and pieces.h as a shared library, by the C compiler."""
    text = f"""
        #define mjgREAL {real}
        #include "law/law.h"
        #include "solvers/dense_newton.h"
        #include "{SOURCE}/python/mjgear/warp/world.h"
        #include "{SOURCE}/python/mjgear/warp/pieces.h"
        int exchange({real}* t, {real}* v, {real}* lambda, int* mode, const {real}* A, const {real}* v_free,
                     const {real}* phi, const {real}* alpha, const {real}* beta, const {real}* coulomb,
                     const {real}* ratio, const {real}* v0, int n, {real}* number, int* integer, int most) {{
          return mjgi_exchangePieces(t, v, lambda, mode, A, v_free, phi, alpha, beta, coulomb, ratio, v0, n, number, integer, 1, most);
        }}
        int newton({real}* t, {real}* v, {real}* lambda, int* mode, const {real}* A, const {real}* v_free,
                   const {real}* phi, const {real}* alpha, const {real}* beta, const {real}* coulomb,
                   const {real}* ratio, const {real}* v0, int n, {real}* number, int* integer) {{
          return mjgi_denseNewton(t, v, lambda, mode, A, v_free, phi, alpha, beta, coulomb, ratio, v0, n, number, integer, 1);
        }}
        int inverse_columns({real}* x, {real}* A, const int* dof, int nv, int n) {{ return columns(x, A, dof, nv, n); }}
    """
    file = pathlib.Path(folder) / f"{real}.c"
    file.write_text(text)
    library = file.with_suffix(".so")
    subprocess.run(
        [os.environ.get("CC", "gcc"), "-std=c17", "-O2", "-fPIC", "-shared", "-ffp-contract=off", "-I", str(SOURCE / "core"),
         str(file), "-o", str(library)],
        check=True,
    )  # fmt: skip
    return ctypes.CDLL(str(library))


def check_law(problem, found, moving, small):
    """Motion and load that match a friction, and the law of each joint in its mode; a moving joint has released its static friction."""
    t, v, lam, mode = (x.astype(float) for x in found)
    effect = problem["A"] @ t
    terms = np.abs(problem["v_free"]) + np.abs(problem["A"]) @ np.abs(t)
    load = problem["phi"] + problem["alpha"] * effect - problem["beta"] * t
    size = (
        np.abs(problem["phi"])
        + problem["alpha"] * np.abs(effect)
        + np.abs(problem["beta"] * t)
        + problem["coulomb"]
        + np.abs(t)
    )
    assert np.all(np.abs(problem["v_free"] - effect - v) <= small * terms) and np.all(
        np.abs(load - lam) <= small * size
    )
    slips = mode != 0
    bound = np.abs(load) + problem["coulomb"]
    against = (np.where(t > 0, 1, -1) * problem["v0"] <= 0) & (moving == 0)
    static = np.where(against, problem["static_ratio"], 1)
    assert np.all(v[~slips] == 0) and np.all(mode[slips] * v[slips] >= 0)
    assert np.all(np.abs(t - mode * bound)[slips] <= small * size[slips])
    assert np.all((np.abs(t) - static * bound)[~slips] <= small * size[~slips])


LANES = 32  # threads that share a world on a GPU


@contextlib.contextmanager
def fibers(kernels_of):
    """Kernels of these names run with as many threads a world as on a GPU, on fibers that wait for each other."""
    launch = wp.launch

    def shared(kernel, *args, **kwargs):
        with mock.patch.object(wp.config, "enable_cpu_blocks", kernel.func.__name__ in kernels_of):
            return launch(kernel, *args, **kwargs)

    with mock.patch.object(wp, "launch", shared):
        yield


@contextlib.contextmanager
def compiled_with(*compiled, **options):
    """These kernels compile with these options of their modules."""
    before = [dict(kernel.module.options) for kernel in compiled]
    for kernel in compiled:
        kernel.module.options.update(options)
    yield
    for kernel, own in zip(compiled, before):
        kernel.module.options.update(own)


def check_bits(real, dtype, library):
    """The C compiler and Warp give the same bits, and so do 32 threads that share a problem."""
    functions = native.functions(real)
    columns, newton, exchange = functions.columns, functions.newton, functions.exchange

    @wp.kernel(module="unique", enable_backward=False)
    def solve(
        t: wp.array2d(dtype=dtype),
        v: wp.array2d(dtype=dtype),
        lam: wp.array2d(dtype=dtype),
        mode: wp.array2d(dtype=int),
        A: wp.array3d(dtype=dtype),
        v_free: wp.array2d(dtype=dtype),
        phi: wp.array2d(dtype=dtype),
        alpha: wp.array2d(dtype=dtype),
        beta: wp.array2d(dtype=dtype),
        coulomb: wp.array2d(dtype=dtype),
        ratio: wp.array2d(dtype=dtype),
        v0: wp.array2d(dtype=dtype),
        n: int,
        number: wp.array2d(dtype=dtype),
        integer: wp.array2d(dtype=int),
        most: int,
        count: wp.array(dtype=int),
    ):
        w, lane = wp.tid()
        if most == 0:
            count[w] = newton(
                t, v, lam, mode, A, v_free, phi, alpha, beta, coulomb, ratio, v0, n, number, integer, 1, w
            )
        else:
            count[w] = exchange(
                t, v, lam, mode, A, v_free, phi, alpha, beta, coulomb, ratio, v0, n, number, integer, 1, most, w
            )

    @wp.kernel(module="unique", enable_backward=False)
    def invert(x: wp.array3d(dtype=dtype), A: wp.array3d(dtype=dtype), dof: wp.array(dtype=int), nv: int, n: int):
        w, lane = wp.tid()
        columns(x, A, dof, nv, n, w)

    for kernel in (solve, invert):
        kernel.module.options["optimization_level"] = 2
    host = np.float32 if real == "float" else np.float64
    rng = np.random.default_rng(1)
    solved, exchanged = 0, {1: 0, 12: 0}
    for n in (1, 2, 6, 12, 30):
        problems = list(random_problems(rng, n, 100))
        names = list(problems[0])
        stacked = {name: np.stack([p[name] for p in problems]).astype(host) for name in names}
        world = {name: wp.array(stacked[name], dtype=dtype) for name in names}
        t, v, lam = (wp.zeros((len(problems), n), dtype=dtype) for _ in range(3))
        mode = wp.zeros((len(problems), n), dtype=int)
        number = wp.zeros((len(problems), n * (2 * n + 18)), dtype=dtype)
        integer = wp.zeros((len(problems), 3 * n), dtype=int)
        count = wp.zeros(len(problems), dtype=int)
        owns = [[np.zeros(n, host) for _ in range(3)] + [np.zeros(n, np.int32)] for _ in problems]
        for most in (0, 1, 12):
            if most == 12:  # start at rest, for any solution
                for array in (t, v, lam, mode):
                    array.zero_()
                owns = [[np.zeros_like(x) for x in own] for own in owns]
            before = [[x.copy() for x in own] for own in owns]

            def solved_by(lanes, found, count):
                wp.launch(
                    solve,
                    dim=(len(problems), lanes),
                    block_dim=LANES,
                    inputs=[*found, *(world[name] for name in names), n, number, integer, most],
                    outputs=[count],
                )

            if FIBERS:
                shared, counted = [wp.clone(x) for x in (t, v, lam, mode)], wp.zeros_like(count)
                with fibers(["solve"]):
                    solved_by(LANES, shared, counted)
            solved_by(1, (t, v, lam, mode), count)
            if FIBERS:
                for one, many in zip((t, v, lam, mode, count), (*shared, counted)):
                    assert np.array_equal(one.numpy(), many.numpy(), equal_nan=True), (real, n, most)
            for k, own in enumerate(owns):
                scratch = [np.zeros(n * (2 * n + 18), host), np.zeros(3 * n, np.int32)]
                arrays = own + [np.ascontiguousarray(stacked[name][k]) for name in names]
                pointers = [ctypes.c_void_p(x.ctypes.data) for x in arrays + scratch]
                call = library.exchange if most else library.newton
                c = call(*pointers[: len(arrays)], n, *pointers[len(arrays) :], *([most] if most else []))
                assert c == count.numpy()[k], (real, n, k)
                for mine, theirs in zip(own, (t, v, lam, mode)):
                    assert np.array_equal(mine, theirs.numpy()[k]), (real, n, k, mine, theirs.numpy()[k])
                if most == 0:
                    solved += c > 0
                elif c:
                    exchanged[most] += 1
                    check_law(problems[k], own, before[k][3], 3e-4 if real == "float" else 1e-10)
                else:
                    assert all(np.array_equal(x, y) for x, y in zip(own, before[k]))

        # factors and columns of the inverse, compared with their definition
        M = np.stack([np.linalg.inv(p["A"]) for p in problems]).astype(host)
        dof = np.arange(0, n, 2, dtype=np.int32)
        x, A = wp.zeros((len(M), n, len(dof)), dtype=dtype), wp.array(M, dtype=dtype)
        wp.launch(invert, dim=(len(M), 1), block_dim=LANES, inputs=[x, A, wp.array(dof, dtype=int), n, len(dof)])
        if FIBERS:
            x_shared, A_shared = wp.zeros_like(x), wp.array(M, dtype=dtype)
            with fibers(["invert"]):
                wp.launch(
                    invert,
                    dim=(len(M), LANES),
                    block_dim=LANES,
                    inputs=[x_shared, A_shared, wp.array(dof, dtype=int), n, len(dof)],
                )
            assert np.array_equal(x.numpy(), x_shared.numpy()) and np.array_equal(A.numpy(), A_shared.numpy())
        for k in range(len(M)):
            own, copied = np.zeros((n, len(dof)), host), M[k].copy()
            status = library.inverse_columns(*(ctypes.c_void_p(y.ctypes.data) for y in (own, copied, dof)), n, len(dof))
            assert status == 1 and np.array_equal(own, x.numpy()[k]) and np.array_equal(copied, A.numpy()[k])
            expected = problems[k]["A"][:, dof]
            assert largest(own, expected) < (1e-3 if real == "float" else 1e-11) * np.abs(expected).max()
    assert solved >= 0.99 * 500, solved
    assert exchanged[1] >= 0.97 * 500, exchanged  # a solution keeps its pieces
    assert exchanged[12] >= 0.7 * 500, exchanged  # from rest the exchange need not end
    print(f"{real}: 500 problems, bits of Warp and of the C compiler are equal, {solved} solved; pieces of a solution stay in {exchanged[1]}, "
          f"exchanged from rest they end at one in {exchanged[12]}")  # fmt: skip


def with_lanes(text, other, run):
    """A function's text with the threads of kernels substituted."""
    assert text in native._LANES
    with mock.patch.object(native, "_LANES", native._LANES.replace(text, other)):
        fresh_kernels()
        result = run()
    fresh_kernels()
    return result


def check_barriers():
    """Without barriers 32 threads compute something else: fibers would show that one is missing."""
    if not FIBERS:
        return
    matrix = np.eye(12) + 0.1

    def inverse():
        columns = native.functions("double").columns

        @wp.kernel(module="unique", enable_backward=False, module_options={"optimization_level": 2})
        def invert(x: wp.array3d(dtype=wp.float64), A: wp.array3d(dtype=wp.float64), dof: wp.array(dtype=int), n: int):
            w, lane = wp.tid()
            columns(x, A, dof, n, n, w)

        x, A, dof = (
            wp.zeros((1, 12, 12), dtype=wp.float64),
            wp.array(matrix[None], dtype=wp.float64),
            wp.array(np.arange(12), dtype=int),
        )
        with fibers(["invert"]):
            wp.launch(invert, dim=(1, LANES), block_dim=LANES, inputs=[x, A, dof, 12])
        return x.numpy()[0]

    expected = np.linalg.inv(matrix)
    assert np.allclose(inverse(), expected, atol=1e-12)
    assert not np.allclose(with_lanes("WP_TILE_SYNC()", "((void)0)", inverse), expected, atol=1e-12)


def check_cuda():
    """All kernels compile for GPUs, without a GPU; kernels of other settings than the default, and optimized, with ./check --long."""
    mode = "release" if LONG else "debug"  # in which the largest takes a twelfth of the time
    for precision in ("single", "double") if LONG else ("single",):
        made = kernels.make(precision)
        for name, kernel in vars(made).items():
            with tempfile.TemporaryDirectory() as folder, compiled_with(kernel, block_dim=LANES, mode=mode):
                wp.compile_aot_module(kernel.module, module_dir=folder, arch=80, use_ptx=True)
                ptx = next(pathlib.Path(folder).glob("*.ptx")).read_text()
                assert ".visible .entry" in ptx, name
        print(f"{precision}: {len(vars(made))} kernels as PTX")


def native_code():
    with tempfile.TemporaryDirectory() as folder:
        check_bits("double", wp.float64, compiled("double", folder))
        check_bits("float", wp.float32, compiled("float", folder))
    check_barriers()
    check_cuda()


# ------------------------------------------ against the plugin ---------------------------------------------------


def both(name):
    """The worlds of a scene without its gears and with them."""
    return [play.Worlds(scripts.ALL[name], geared) for geared in (False, True)]


def steps(name, plugin, bare, geared):
    """One step from a third of the plugin's states: the distance is at most twice the distance of Warp from MuJoCo without gears.

    ./check --long takes all states, and where joints seldom stand still all are taken.
    A joint that stands still with the plugin stands still here. It also counts as stuck if it moves no faster than the error
    of single precision in that step without gears: a joint that stops in passing at almost no load.
    """
    scene, chosen = scripts.ALL[name], slice(None, None, 1 if LONG or name.startswith("servos") else 3)
    before, q, v = plugin.before[chosen], plugin.q[chosen], plugin.v[chosen]
    ours, theirs = play.warp_steps(scene, before, worlds=bare), play.engine_steps(scene, before)
    plain = largest(ours.q, theirs.q)
    geared = play.warp_steps(scene, before, worlds=geared)
    error = largest(geared.q, q)
    dofs = plugin.dofs(geared.gears.names)
    still = v[:, dofs] == 0
    moved = np.abs(geared.v[:, dofs][still])
    below = moved <= np.abs(ours.v - theirs.v)[:, dofs][still]
    exact, share = ((moved == 0).mean(), below.mean()) if still.any() else (1, 1)
    unsettled = geared.gears.unsettled.numpy()[0]
    print(f"{name}: step {error:.1e}, without gears {plain:.1e}; still {exact:.5f} of {still.sum()}, within rounding "
          f"{share:.5f}; unsettled {unsettled} of {len(q)}")  # fmt: skip
    assert error <= 2 * plain and share >= 0.99 and unsettled <= 0.01 * len(q), name
    assert exact >= 0.99 or still.sum() < 100, name  # one of a hundred


def running(name, plugin, bare, geared):
    """The same, each from its own last state, where a motion without gears does not amplify round-off."""
    scene = scripts.ALL[name]
    plain = largest(play.engine(scene, geared=False).q, play.warp(scene, worlds=bare).q)
    error = largest(play.warp(scene, worlds=geared).q, plugin.q)
    print(f"{name}: running {error:.1e}, without gears {plain:.1e}")
    assert error <= 2 * plain, name


def thrown(name, lanes):
    """Return the states of worlds after some steps with random torques: an arm beats on its table, and rounds do not always converge."""
    made = kernels.make("single")
    threads = mock.patch.object(mjgear.warp.Gears, "_threads", lambda gears: lanes)
    shared = ["settle"] if lanes > 1 else []
    with (
        threads,
        fibers([*shared, "integrate_implicit"] if shared else []),
        compiled_with(*[made.settle, made.integrate_implicit] * bool(shared), optimization_level=0),
    ):
        worlds = play.Worlds(scripts.ALL[name], nworld=4 if name == "arm" else 2)
        rng, size = np.random.default_rng(3), [200, 200, 100, 20, 20, 5] if name.startswith("arm") else 60
        for k in range(60 if name == "arm" else 20):
            if k % 10 == 0:
                worlds.ctrl[:] = rng.normal(size=worlds.ctrl.shape) * size
            mjw.step(worlds.model, worlds.data)
    return [x.numpy() for x in (worlds.data.qpos, worlds.data.qvel, worlds.gears.friction)]


def check_lanes():
    """On a GPU 32 threads share a world: the motion of one thread up to the order of sums, and the same bits in any order of
    execution between two barriers."""
    names = ("arm", "sinking", "servos, discrete", "servos, discrete, pyramidal")[:: 1 if LONG else 2]
    if not FIBERS or "discrete" not in engine.INTEGRATORS:
        print("this Warp has no fibers, or no integrator discrete")
        return
    one = [thrown(name, 1) for name in names]
    forward = [thrown(name, LANES) for name in names]
    backward = with_lanes(
        "((int)WP_TILE_THREAD_IDX)",
        "((int)(WP_TILE_BLOCK_DIM - 1 - WP_TILE_THREAD_IDX))",
        lambda: [thrown(n, LANES) for n in names],
    )
    worst = 0.0
    for name, *motions in zip(names, one, forward, backward):
        for x, y, z in zip(*motions):
            assert np.array_equal(y, z), name
            worst = max(worst, largest(x, y) / largest(x, 0))
    print(
        f"worlds that 32 threads share: within {worst:.1e} of one thread, the same bits from the first thread on and from the last"
    )
    assert worst < 2e-5


def scenes():
    check_lanes()
    for name in SCENES:
        plugin, worlds = play.engine(scripts.ALL[name]), both(name)
        steps(name, plugin, *worlds)
        if name in ("rod", "wall"):
            running(name, plugin, *worlds)


def check_metric():
    """Effect of friction on velocities without contacts: h E' (M + h D + h^2 K)^-1 E, K and D from the numbers of the model."""
    scene = scripts.ALL["servos, discrete"]
    worlds = play.Worlds(scene, precision="double")
    scratch, effects = worlds.gears._scratch, []

    def kept(m, d):
        effects.append(scratch(m, d))
        return effects[-1]

    worlds.gears._scratch = kept
    mjw.step(worlds.model, worlds.data)
    m, d = worlds.host_model, worlds.host
    mujoco.mj_forward(m, d)
    h, K, D = m.opt.timestep, np.zeros((m.nv, m.nv)), np.diag(m.dof_damping)

    def add(kp, kv, *joints):
        row = np.isin(np.arange(m.nv), [m.joint(j).dofadr[0] for j in joints])
        K[:] += kp * np.outer(row, row)
        D[:] += kv * np.outer(row, row)

    add(2000, 100, "shoulder", "elbow")
    for joint, kp in zip(("yaw", "shoulder", "elbow", "roll", "pitch", "turn"), scene.gain):
        add(kp, 0.05 * kp, *(("elbow", "pitch") if joint == "elbow" else (joint,)))
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)
    geared = [m.joint(name).dofadr[0] for name in worlds.gears.names]
    expected = h * np.linalg.inv(M + h * D + h * h * K)[np.ix_(geared, geared)]
    error = largest(effects[0].A.numpy()[0], expected) / largest(expected, 0)
    print(f"effect of friction on velocities under discrete: error {error:.1e}")
    assert error < 1e-6


def discrete():
    """The integrator "discrete": motors and servos, both cones."""
    if "discrete" not in engine.INTEGRATORS:
        print("mujoco_warp of this release has no integrator discrete")
        return
    check_metric()
    for name in DISCRETE:
        plugin, worlds = play.engine(scripts.ALL[name]), both(name)
        steps(name, plugin, *worlds)
        if name.startswith("servos"):
            running(name, plugin, *worlds)


def still():
    """With the motors off geared joints move less than a micrometre or microradian a minute. ./check --long waits for it."""
    wait = 60 if LONG else 1
    for name in SCENES:
        scene = scripts.ALL[name]
        if not np.isfinite(scene.off):
            continue
        worlds = play.Worlds(scene)
        m, h, d = worlds.host_model, worlds.host, worlds.data
        addresses = [m.joint(j).qposadr[0] for j in worlds.gears.names]
        # from the plugin's state 0.2 s before the motors go off
        first = round((scene.off - 0.2) / m.opt.timestep)
        h.qpos[:], h.qvel[:] = play.engine(scene, steps=first + 1).before[first][:2]
        worlds.q[0], worlds.v[0], worlds.time[0] = h.qpos, h.qvel, first * m.opt.timestep
        for i in range(first, round(scene.off / m.opt.timestep)):
            h.time = i * m.opt.timestep
            scene.input(m, h)
            worlds.set(h.ctrl, h.xfrc_applied, h.mocap_pos)
            worlds.step()
            h.qpos[:], h.qvel[:] = worlds.q[0], worlds.v[0]
        before = d.qpos.numpy()[0, addresses].copy()
        with wp.ScopedCapture() as capture:
            for _ in range(100):
                mjw.step(worlds.model, d)
        # if only time has changed, nothing will change: a step is a function of the compared data
        g, last = worlds.gears, None
        for i in range(round(wait / m.opt.timestep / 100)):
            wp.capture_launch(capture.graph)
            state = [d.qpos, d.qvel, d.act, d.qacc_warmstart, g.friction, g.internal_force, g.mode, g._slack]
            state = [x.numpy().tobytes() for x in state]
            if state == last:
                break
            last = state
        seconds = 100 * (i + 1) * m.opt.timestep
        drift = largest(d.qpos.numpy()[0, addresses], before)
        print(f"{name}: {drift:.1e} in {wait} s, of which {seconds:.0f} s until nothing changed any more; "
              f"unsettled {g.unsettled.numpy()[0]}")  # fmt: skip
        assert drift <= 1e-6 * wait / 60, name


# ------------------------------------------ many worlds ----------------------------------------------------------


def honest(worlds, rng, size, steps, most):
    """In a settled step the constraint forces equal the forces of their rows, J' f, to 1e-3. Round-off of the motion adds, in single
    precision, another 1e-3 of the forces on the dofs."""
    d, missing, unsettled = worlds.data, 0.0, 0
    for k in range(steps):
        if k % 10 == 0:
            d.ctrl.assign((rng.normal(size=d.ctrl.shape) * size).astype(np.float32))
        worlds.step()
        settled = (worlds.gears.status.numpy() == mjgear.Status.SOLVED).all(axis=1)
        rows = np.arange(d.efc.force.shape[1]) < d.nefc.numpy()[:, None]
        force, D = (np.where(rows, x.numpy(), 0) for x in (d.efc.force, d.efc.D))
        J = np.where(rows[:, :, None], d.efc.J.numpy()[:, : rows.shape[1], : d.qvel.shape[1]], 0)
        off = np.abs(np.einsum("wri,wr->wi", J, force) - d.qfrc_constraint.numpy())
        moved = np.einsum("wri,wi->wr", np.abs(J), np.abs(d.qacc_warmstart.numpy()))  # by the solver's own motion
        rounding = np.finfo(np.float32).eps * np.einsum("wri,wr->wi", np.abs(J), D * moved * (np.abs(force) > 0))
        largest_force = np.maximum(np.abs(force).max(axis=1), np.abs(d.qfrc_smooth.numpy()).max(axis=1))
        missing = max(missing, ((off - rounding).max(axis=1) / largest_force)[settled].max())
        unsettled += (~settled).sum()
    print(
        f"forces of settled worlds are those of rows to {missing:.1e} of the largest; {unsettled} of {steps * len(settled)} steps unsettled"
    )
    assert missing <= most and unsettled > 0


def worlds():
    """32 worlds with 32 gears, of which 16 are compared with single runs; random torques on 64 and 32 worlds. ./check --long has 128."""
    rng = np.random.default_rng(2)
    scene = scripts.ALL["arm"]
    count, length = 128 if LONG else 32, 60
    many = play.Worlds(scene, nworld=count)
    n = many.gears.n
    gears = {"gamma_u": rng.uniform(0, 0.4, (count, n)), "gamma_v": rng.uniform(0, 1.2, (count, n)),
             "coulomb": rng.uniform(0, 2, (count, n))}  # fmt: skip
    ctrl = rng.normal(size=(count, n)) * [200, 200, 100, 20, 20, 5]
    for name, value in gears.items():
        getattr(many.gears, name).assign(value.astype(np.float32))
    many.data.ctrl.assign(ctrl.astype(np.float32))
    for _ in range(length):
        many.step()
    together = many.data.qpos.numpy(), many.data.qvel.numpy(), many.gears.friction.numpy()
    single = play.Worlds(scene)
    for k in range(0, count, 1 if LONG else 2):
        single.reset()
        for name, value in gears.items():
            getattr(single.gears, name).assign(value[k : k + 1].astype(np.float32))
        single.data.ctrl.assign(ctrl[k : k + 1].astype(np.float32))
        for _ in range(length):
            single.step()
        alone = single.data.qpos.numpy(), single.data.qvel.numpy(), single.gears.friction.numpy()
        for a, b in zip(together, alone):
            assert np.array_equal(a[k], b[0]), (k, a[k], b[0])
    assert len(np.unique(together[2], axis=0)) == count and np.ptp(together[0][:, 0]) > 0.01
    print(f"{count} worlds of {length} steps equal single runs")

    # few rounds, so that some worlds are not done: they report it, also if rows of
    # friction loss are not solved to the end; the largest force, whose error may be 1e-3,
    # is from the previous iteration
    for passive, most in ((kernels.rounds.PASSIVE, 2e-3), (1, 1e-2)):
        with mock.patch.object(kernels.rounds, "PASSIVE", passive):
            fresh_kernels()
            with compiled_with(*[kernels.make("single").settle] * (passive == 1), optimization_level=0):
                many = play.Worlds(scene, nworld=128 if LONG else 64, rounds=1)
            honest(many, rng, [200, 200, 100, 20, 20, 5], 100, most)
    fresh_kernels()

    steps = 500 if LONG else 100
    for name, size in (("arm", [200, 200, 100, 20, 20, 5]), ("sinking", 60)):
        many = play.Worlds(scripts.ALL[name], nworld=count)
        g, driven, largest_power, moves = many.gears, 0.0, 0.0, 0
        for _ in range(steps // 10):
            many.data.ctrl.assign((rng.normal(size=many.data.ctrl.shape) * size).astype(np.float32))
            for _ in range(10):
                many.step()
                power = g.power_loss.numpy()
                driven, largest_power = min(driven, power.min()), max(largest_power, power.max())
                moves += (g.mode.numpy() != 0).sum()
        finite = np.isfinite(many.data.qpos.numpy()).all() and np.isfinite(many.data.qvel.numpy()).all()
        unsettled = g.unsettled.numpy().sum()
        print(f"{name}: {steps} steps of {count} worlds, {moves} joint-steps of motion; friction drives with at most "
              f"{-driven:.1e} W, brakes with up to {largest_power:.0f} W; {unsettled} of {steps * count} steps unsettled")  # fmt: skip
        assert finite and moves > 1000 and -driven <= 1e-6 * largest_power and unsettled <= 0.01 * steps * count, name


# ------------------------------------------ interface ------------------------------------------------------------

MODEL = """
<mujoco>
  <option timestep="0.002" integrator="{integrator}" {option}/>
  <extension>
    <plugin plugin="mjgear.transmission">
      <instance name="gears">
        <config key="joint" value="j1 j2"/>
        <config key="gamma_u" value="0.1"/>
        <config key="gamma_v" value="1.1 0.3"/>
        <config key="coulomb" value="0.5"/>
        <config key="static_ratio" value="1.2"/>
        {config}
      </instance>
    </plugin>
  </extension>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body pos="0 0 1">
      <joint name="j1" axis="0 1 0" armature="{armature}" damping="1" {joint}/>
      <geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      <body pos=".5 0 0">
        <joint name="j2" axis="0 1 0" armature="{armature}"/>
        <geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      </body>
    </body>
    <body pos="0 2 1">
      <joint name="loose" axis="0 1 0"/>
      <geom type="sphere" size=".05"/>
    </body>
  </worldbody>
  <tendon>
    <fixed name="both"><joint joint="j2" coef="1"/><joint joint="loose" coef="1"/></fixed>
  </tendon>
  <actuator>
    {actuators}
  </actuator>
  <sensor>
    <plugin plugin="mjgear.transmission" instance="gears" objtype="joint" objname="j2"/>
    <jointpos joint="j1"/>
    <plugin plugin="mjgear.transmission" instance="gears" objtype="joint" objname="j1"/>
  </sensor>
</mujoco>
"""


MOTORS = '<motor joint="j1"/><motor joint="j2"/>'
DC_MOTORS = "".join(
    f'<dcmotor joint="{joint}" motorconst="{k}" resistance="1"/>' for joint, k in (("j1", 12), ("j2", 8))
)
MUSCLES = "".join(
    f'<muscle joint="{joint}" lengthrange="-2 2" force="{force}"/>' for joint, force in (("j1", 2000), ("j2", 1000))
)
SERVOS = '<position joint="j1" kp="30" kv="200"/><position joint="j2" kp="10" kv="80"/>'


def model(integrator="Euler", option="", config="", joint="", armature=1, actuators=MOTORS, noslip=0):
    xml = MODEL.format(
        integrator=integrator, option=option, config=config, joint=joint, armature=armature, actuators=actuators
    )
    result = mujoco.MjModel.from_xml_string(xml)
    result.opt.noslip_iterations = noslip  # the plugin refuses such a file
    return result


def stepper(m, d):
    """A step, captured, so that Python does not launch each kernel."""
    with wp.ScopedCapture() as capture:
        mjw.step(m, d)
    assert d.time.numpy()[0] == 0
    return lambda: wp.capture_launch(capture.graph)


def ungeared(integrator, brake=None, **gear):
    """The same model as a program without gears makes it; or with another gear for j1, and a brake."""
    spec = mujoco.MjSpec.from_string(
        MODEL.format(integrator=integrator, option="", config="", joint="", armature=1, actuators=MOTORS)
    )
    for sensor in [s for s in spec.sensors if s.type == mujoco.mjtSensor.mjSENS_PLUGIN]:
        spec.delete(sensor)
    for plugin in list(spec.plugins):
        spec.delete(plugin)
    if gear:
        mjgear.add(spec, "j1", **gear)
    if brake:
        mjgear.add_brake(spec, "j1", **brake)
    return spec.compile()


def gains(model, mjd):
    """Torque that a joint's motor loses over a step by its motion, as inertia: h K_v, and h^2 K_p with "discrete".

    From the engine's forces at neighbouring motions; gains that would drive count as 0.
    """

    def slope(of):
        d, step, force = mujoco.MjData(model), 1e-6, []
        for sign in (1, -1):
            d.qpos[:], d.qvel[:], d.act[:], d.ctrl[:] = mjd.qpos, mjd.qvel, mjd.act, mjd.ctrl
            of(d)[:] += sign * step
            mujoco.mj_fwdPosition(model, d)
            mujoco.mj_fwdVelocity(model, d)
            mujoco.mj_fwdActuation(model, d)
            force.append(d.actuator_force.copy())
        return np.maximum((force[1] - force[0]) / (2 * step), 0)

    h = model.opt.timestep
    discrete = model.opt.integrator == engine.DISCRETE
    return h * slope(lambda d: d.qvel) + discrete * h * h * slope(lambda d: d.qpos)


def gains_of_motors():
    """Motors whose force depends on velocity other than by a constant gain: to the gear they are rotor inertia, too."""
    kinds = {"DC motors": DC_MOTORS, "muscles": MUSCLES}
    for kind, integrator in itertools.product(kinds, ("implicitfast", "discrete")):
        if integrator not in engine.INTEGRATORS:
            continue
        if kind == "muscles" and engine.RELEASE < (4, 0):
            continue  # unlike MuJoCo, mujoco_warp 3.11 integrates them explicitly, with or without gears
        mjm = model(integrator, actuators=kinds[kind], armature=0.3)
        mjd = mujoco.MjData(mjm)
        m, d = mjgear.warp.put_model(mjm), mjgear.warp.make_data(mjm, nworld=1, nconmax=16, njmax=64)
        geared, error, slips, largest_gain = mjgear.warp.Gears(m, d), 0.0, 0, 0.0
        step = stepper(m, d)
        for i in range(150):
            wave = np.array([np.sin(0.05 * i), np.cos(0.03 * i)])
            mjd.ctrl[:] = 3 * wave if kind == "DC motors" else 0.5 + 0.5 * wave
            d.ctrl.assign(mjd.ctrl[None].astype(np.float32))
            expected = gains(mjm, mjd)
            mujoco.mj_step(mjm, mjd)
            step()
            found = geared._now.inertia.numpy()[0] - 0.3  # parts that are not the rotor's own
            assert np.allclose(found, expected, rtol=1e-3, atol=1e-6), (i, found, expected)
            ours, theirs = d.sensordata.numpy()[0], mjd.sensordata
            for first in (0, 15):
                scale = np.abs(theirs[first : first + 4]).max()
                error = max(error, largest(ours[first : first + 4], theirs[first : first + 4]) / scale)
                slips += ours[first + 4] != 0
            largest_gain = max(largest_gain, expected.max())
        moved = largest(d.qpos.numpy()[0], mjd.qpos)
        print(
            f"{kind}, {integrator}: rotors of 0.3 kg m2 gain up to {largest_gain:.3f}; torques within {error:.1e}, motion {moved:.1e}"
        )
        assert error < 1e-3 and moved < 1e-5 and slips > 20 and not geared.unsettled.numpy().any(), (
            error,
            moved,
            slips,
        )
        assert largest_gain > 0.05, largest_gain


def randomized():
    """Each world has the gears that were drawn for it; others stay as the model has them."""
    mjm = model("Euler")
    m, d = mjgear.warp.put_model(mjm), mjgear.warp.make_data(mjm, nworld=5, nconmax=16, njmax=64)
    gears = mjgear.warp.Gears(m, d)
    drawn = mjgear.randomize(
        gears, {"j2": {"eta_forward": (0.5, 0.9), "eta_backward": (-0.2, 0.5), "coulomb": (0, 1)}}, 1
    ).values["j2"]
    f, b = drawn["eta_forward"], drawn["eta_backward"]
    expected = {"gamma_u": (1 - 2 * f + f * b) / (1 - f * b), "gamma_v": (1 - 2 * b + f * b) / (1 - f * b), "coulomb": drawn["coulomb"],
                "static_ratio": 1.2}  # fmt: skip
    for key, values in expected.items():
        found = getattr(gears, key).numpy()
        assert largest(found[:, 1], values) < 1e-6, (key, found, values)
        assert np.ptp(found[:, 0]) == 0
    assert gears.gamma_v.numpy()[0, 0] == np.float32(1.1) and np.ptp(f) > 0.01


def some():
    """Numbers of some worlds, by mask on the device, and draws for some: the others stay, and step as before."""
    mjm = model("Euler")
    m, d = mjgear.warp.put_model(mjm), mjgear.warp.make_data(mjm, nworld=4, nconmax=16, njmax=64)
    gears = mjgear.warp.Gears(m, d)
    before = {key: getattr(gears, key).numpy() for key in ("gamma_u", "gamma_v", "coulomb")}
    done = wp.array([False, True, False, True], dtype=bool)
    gears.set(sims=done, coulomb=wp.full((4, 2), 3.0, dtype=wp.float32), gamma_v=0.25)
    gears.set(sims=[0, 1, 0, 0], coulomb=np.arange(8.0).reshape(4, 2))
    expected = before["coulomb"].copy()
    expected[[1, 3]] = [2, 3], [3, 3]
    assert np.array_equal(gears.coulomb.numpy(), expected), gears.coulomb.numpy()
    assert (
        np.array_equal(gears.gamma_v.numpy()[::2], before["gamma_v"][::2])
        and (gears.gamma_v.numpy()[1::2] == 0.25).all()
    )
    drawn = mjgear.randomize(gears, {"coulomb": (5, 6)}, 1, sims=done).values["j1"]["coulomb"]
    expected[[1, 3], 0] = drawn
    gears["j2"].set(sims=done, coulomb=wp.array([7.0, 8, 9, 10], dtype=wp.float32))
    expected[[1, 3], 1] = 8, 10
    gears["j2"].set(sims=[1, 0, 0, 0], coulomb=1.5)
    expected[0, 1] = before["coulomb"][0, 1] = 1.5
    assert largest(gears.coulomb.numpy()[:, 0], expected[:, 0]) < 1e-6 and np.array_equal(
        gears.coulomb.numpy()[::2], before["coulomb"][::2]
    )
    for call, line in (
        (lambda: gears.set(colomb=1), "coulomb"),
        (lambda: gears["j2"].set(coulomb=[1, 2]), "coulomb"),
        (lambda: gears.set(sims=[1, 0], coulomb=1), "for each of 4"),
        (lambda: mjgear.randomize(gears, {"coulomb": 1}, sims=[7]), "not among 4 worlds"),
    ):
        try:
            call()
        except (AttributeError, ValueError) as error:
            assert line in str(error), error
        else:
            raise AssertionError(line)
    for _ in range(3):
        mjw.step(m, d)
    gears.reset(done)
    mjw.step(m, d)
    assert np.array_equal(gears.counts.steps.numpy(), [4, 1, 4, 1])
    assert gears.counts.unsolved is gears.unsettled and (gears.counts.slow.numpy() <= gears.counts.steps.numpy()).all()


def law():
    """Every number of the law, in a motion that starts, reverses and meets the limits of motors: sensors of the plugin."""
    config = {"stribeck_friction": 0.4, "stribeck_velocity": 0.4, "stribeck_exponent": 1.5, "gamma_u_stribeck": 0.05,
              "gamma_v_stribeck": 0.1, "gamma_u_quadratic": 0.002, "gamma_v_quadratic": 0.004}  # fmt: skip
    keys = "".join(f'<config key="{key}" value="{value}"/>' for key, value in config.items())
    mjm = model("implicitfast", config=keys, joint='actuatorfrcrange="-25 40"')
    mjd = mujoco.MjData(mjm)
    m, d = mjgear.warp.put_model(mjm), mjgear.warp.make_data(mjm, nworld=1, nconmax=16, njmax=64)
    gears, step, error, slow = mjgear.warp.Gears(m, d), stepper(m, d), 0.0, 0
    for i in range(300):
        mjd.ctrl[:] = [60 * np.sin(0.05 * i), 10 * np.cos(0.03 * i)]
        d.ctrl.assign(mjd.ctrl[None].astype(np.float32))
        mujoco.mj_step(mjm, mjd)
        step()
        ours, theirs = (
            x.reshape(-1)[[*range(6), *range(15, 21)]].reshape(2, 6) for x in (d.sensordata.numpy(), mjd.sensordata)
        )
        error = max(error, (np.abs(ours - theirs).max(axis=1) / (1 + np.abs(theirs).max(axis=1))).max())
        slow += (np.abs(mjd.qvel[:2]) < 0.4).sum()
    print(
        f"law: sensors within {error:.1e}, {slow} joint-steps near rest, motion within {largest(d.qpos.numpy()[0], mjd.qpos):.1e}"
    )
    assert (
        error < 1e-3
        and slow > 100
        and largest(d.qpos.numpy()[0], mjd.qpos) < 1e-5
        and not gears.unsettled.numpy().any()
    )

    # a world whose time is 0 starts as a new one, to the bit, even if its motion has diverged
    mjm, starts = model("implicitfast"), []
    m, d = mjgear.warp.put_model(mjm), mjgear.warp.make_data(mjm, nworld=1, nconmax=16, njmax=64)
    gears, step = mjgear.warp.Gears(m, d), stepper(m, d)
    for past in 0, np.nan:
        for ctrl in (17, 10), (60, 5), (-30, 20):
            mjw.reset_data(m, d)
            for number in gears.friction, gears.internal_force:
                number.fill_(past)
            d.ctrl.assign(np.array([ctrl], np.float32))
            step()
            starts.append(d.sensordata.numpy()[0].copy())
    assert np.array_equal(starts[:3], starts[3:]), starts
    # steps that end too early: the residual is the distance of friction from the law, from the other sensors
    mjm, count, rng, far = model("implicitfast", armature=0.05), 64, np.random.default_rng(1), 0
    m, d = mjgear.warp.put_model(mjm), mjgear.warp.make_data(mjm, nworld=count, nconmax=16, njmax=64)
    gears, step = mjgear.warp.Gears(m, d, rounds=1), stepper(m, d)
    for i in range(100):
        ctrl = rng.normal(size=(count, 2)) * [60, 20] if i % 5 == 0 else ctrl
        d.ctrl.assign(ctrl.astype(np.float32))
        step()
        for gamma_v, tau, found in zip((0.3, 1.1), ctrl.T[::-1], np.split(d.sensordata.numpy(), [15], axis=1)):
            t, lam, u, _, mode, residual = found[mode_slips := found[:, 4] != 0][:, [0, 1, 2, 3, 4, 10]].T.astype(float)
            tau, bound = tau[mode_slips], np.abs(lam) + 0.5
            size = (0.1 + gamma_v) * (np.abs(tau) + np.abs(tau - u)) + gamma_v * np.abs(t) + bound + np.abs(t)
            assert largest(np.abs(t - mode * bound) / size, residual) < 1e-6
            far += (residual > 1e-3).sum()
    assert far > 500

    # joints that a program stops: static friction holds them as in the plugin
    gears.rounds = 20
    for i in range(10):
        d.ctrl.assign((rng.normal(size=(count, 2)) * [60, 20]).astype(np.float32))
        step()
    slid = d.sensordata.numpy()[:, [4, 19]].copy()
    ctrl = rng.normal(size=(count, 2)) * [30, 8]
    d.ctrl.assign(ctrl.astype(np.float32))
    d.qvel.zero_()
    start, held = d.qpos.numpy().copy(), 0
    step()
    for w in range(count):
        mjd = mujoco.MjData(mjm)
        mjd.qpos[:], mjd.ctrl[:] = start[w], ctrl[w]
        mujoco.mj_step(mjm, mjd)
        modes = d.sensordata.numpy()[w, [4, 19]]
        assert np.array_equal(modes, mjd.sensordata[[4, 19]]), w
        held += ((modes == 0) & (slid[w] != 0)).sum()
    assert held > 20
    motors_and_loads()


def attached():
    """Gears for the result of mujoco_warp.put_model: the motion of the plugin."""
    gear = {"gamma_u": 0.1, "gamma_v": [1.1, 0.3], "coulomb": 0.5, "static_ratio": 1.2}
    for integrator in engine.INTEGRATORS:
        mjm = model(integrator)
        plain = ungeared(integrator)
        mjd = mujoco.MjData(mjm)
        m, d = mjw.put_model(plain), mjw.make_data(plain, nworld=3, nconmax=16, njmax=64)
        # joint by joint, and with three quarters of the motors' torque computed by the program
        computed = 0.75 if integrator == "implicitfast" else 0.0
        own = {"j1": {**gear, "gamma_v": 1.1}, "j2": {**gear, "gamma_v": 0.3}}
        gears = (
            mjgear.warp.attach(m, d, plain, own, applied=True)
            if computed
            else mjgear.warp.attach(m, d, plain, ["j1", "j2"], **gear)
        )
        error, moved, step = 0.0, 0.0, stepper(m, d)
        for i in range(150):
            mjd.ctrl[:] = [60 * np.sin(0.05 * i), 10 * np.cos(0.03 * i)]
            d.ctrl.assign(np.tile((1 - computed) * mjd.ctrl, (3, 1)).astype(np.float32))
            d.qfrc_applied.assign(
                np.tile(computed * np.resize(mjd.ctrl, m.nv) * (np.arange(m.nv) < 2), (3, 1)).astype(np.float32)
            )
            mujoco.mj_step(mjm, mjd)
            step()
            error, moved = max(error, largest(d.qvel.numpy(), mjd.qvel)), max(moved, np.abs(mjd.qvel).max())
        print(f"attached, {integrator}: velocities within {error:.1e} of {moved:.1f}")
        assert error < 1e-4 * moved and moved > 1 and not gears.unsettled.numpy().any(), (integrator, error)

        # reset some worlds: their gears lose the friction of the last step, the others keep it
        friction = gears.friction.numpy()
        assert friction.any(axis=1).all()
        mjgear.warp.reset_data(m, d, wp.array([True, False, True], dtype=bool))
        assert not gears.friction.numpy()[[0, 2]].any() and np.array_equal(gears.friction.numpy()[1], friction[1])
        assert np.array_equal(d.time.numpy() == 0, [True, False, True])
        gears.unsettled.fill_(7)
        gears.reset(wp.array([0, 1, 0], dtype=int))
        assert not gears.friction.numpy().any() and gears.unsettled.numpy().tolist() == [7, 0, 7]
        gears.reset()
        assert not gears.unsettled.numpy().any()


def attached_viscous():
    """Viscous friction of a gear, here of better-actuator-models, moves the device's joint like the plugin's."""
    gear = {"gamma_u": 0.1, "gamma_v": 0.2, "coulomb": 0.5, "viscous": 8}
    plain = ungeared("implicitfast")
    geared = mujoco.MjSpec.from_string(
        MODEL.format(integrator="implicitfast", option="", config="", joint="", armature=1, actuators=MOTORS)
    )
    mjgear.remove(geared, ["j1", "j2"])
    mjgear.add(geared, ["j1", "j2"], **gear)
    mjm = geared.compile()
    mjd, m, d = mujoco.MjData(mjm), mjw.put_model(plain), mjw.make_data(plain, nworld=1, nconmax=16, njmax=64)
    mjgear.warp.attach(m, d, plain, ["j1", "j2"], **gear)
    assert np.array_equal(m.dof_damping.numpy()[0, :2], [8, 8]), m.dof_damping.numpy()
    step = stepper(m, d)
    for i in range(100):
        mjd.ctrl[:] = [60 * np.sin(0.05 * i), 10 * np.cos(0.03 * i)]
        d.ctrl.assign(mjd.ctrl[None].astype(np.float32))
        mujoco.mj_step(mjm, mjd)
        step()
    assert largest(d.qvel.numpy(), mjd.qvel) < 1e-4, (d.qvel.numpy(), mjd.qvel)


def check_refused(call, error, line):
    """In one line with the mistake."""
    try:
        call()
    except error as refusal:
        assert line in str(refusal) and "\n" not in str(refusal), refusal
    else:
        raise AssertionError(f"no {error.__name__} of '{line}'")


def refused():
    """Wrong arguments are refused before a kernel reads beyond its arrays."""
    plain = ungeared("implicitfast")
    small = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint name='j1'/><geom size='.1'/></body></worldbody></mujoco>"
    )

    def worlds(mjm=plain, njmax=64):
        return mjw.put_model(mjm), mjw.make_data(mjm, nworld=2, nconmax=16, njmax=njmax)

    m, d = worlds()
    m_small, d_small = worlds(small)
    gear = {"joints": ["j1"], "coulomb": 0.1}
    for arguments, keys, error, line in (
        ((m, d, plain), {"joints": ["j3"]}, mjgear.GearError, "'j3'"),
        ((m, d, plain), {"joints": ()}, mjgear.GearError, "neither joints nor tendons"),
        ((m, d, plain), {"joints": 5}, mjgear.GearError, "[5]"),
        ((m, d, plain), {"joints": ["j1"], "gamma": 1}, mjgear.GearError, "gamma"),
        ((m, d, plain), {"joints": ["j1"], "coulomb": np.nan}, mjgear.GearError, "not a finite number"),
        ((m, d, plain), {"joints": ["j1"], "coulomb": 1e39}, ValueError, "single precision"),
        ((m, d, plain), {"joints": ["j1"], "coulomb": [1, 2, 3]}, mjgear.GearError, "3 values"),
        ((m, d, plain), {"joints": ["j1"], "preset": "none"}, mjgear.GearError, "'none'"),
        ((m, d, plain), {"robot": "none"}, mjgear.GearError, "'none'"),
        ((m, d, plain), {"joints": {"j1": {"coulomb": 1}}, "preset": "worm"}, mjgear.GearError, "no other preset"),
        ((m, d, plain), {"joints": {"j1": {"gamma": 1}}}, mjgear.GearError, "gamma"),
        ((m, d, plain), {"joints": ["j1"], "robot": "go1"}, ValueError, "either a robot or joints"),
        *(
            ((m, d, plain), gear | {"rounds": value}, ValueError, "rounds")
            for value in (0, -1, 1.5, "3", True, 10**9, np.nan)
        ),
        *(((m, d, plain), gear | {"precision": value}, ValueError, "precision") for value in ("half", None, 64)),
        ((plain, d, plain), gear, TypeError, "model is a MjModel"),
        ((None, d, plain), gear, TypeError, "model is a NoneType"),
        ((m, mujoco.MjData(plain), plain), gear, TypeError, "data is a MjData"),
        ((m, d, m), gear, TypeError, "mjm is a Model"),
        ((m, d, "robot.xml"), gear, TypeError, "mjm is a str"),
        ((m, d_small, plain), gear, ValueError, "not made for this model"),
        ((m, d, small), gear, ValueError, "not made from mjm"),
        ((m_small, d_small, plain), gear, ValueError, "not made from mjm"),
        (worlds(njmax=0) + (plain,), gear, ValueError, "njmax"),
    ):
        check_refused(lambda arguments=arguments, keys=keys: mjgear.warp.attach(*arguments, **keys), error, line)
    assert not hasattr(m, "mjgear")  # whose gear was removed

    # a second time; other worlds of the model have gears by Gears
    gears = mjgear.warp.attach(m, d, plain, **gear)
    check_refused(lambda: mjgear.warp.attach(m, d, plain, **gear), ValueError, "has gears already")
    check_refused(lambda: mjgear.warp.Gears(m, d_small), ValueError, "not made for this model")
    check_refused(lambda: mjgear.warp.Gears(m, d, rounds=0), ValueError, "rounds")
    mjgear.warp.Gears(m, worlds()[1])

    for name, value, line in (
        ("coulomb", np.nan, "not finite"),
        ("coulomb", np.inf, "not finite"),
        ("coulomb", 1e39, "not finite"),
        ("coulomb", "much", "'much'"),
        *(("coulomb", no, repr(no)) for no in (b"1", bytearray(b"1"), True, np.complex64(1), np.timedelta64(1, "s"))),
        ("coulomb", np.ma.masked, "masked"),
        ("coulomb", np.ma.array([[1.0], [2.0]], mask=[[True], [False]]), "masked"),
        ("coulomb", np.zeros((3, 3)), "(3, 3)"),
        ("coulomb", wp.zeros((3, 1)), "(3, 1)"),
        ("rounds", 0, "rounds"),
        ("rounds", None, "rounds"),
        ("softness", -1, "softness"),
        ("hold", "firm", "hold"),
    ):
        check_refused(lambda name=name, value=value: setattr(gears, name, value), ValueError, line)
    one = gears[gears.names[0]]
    for no in (b"1", True, np.ma.masked, [1, True], np.ma.array([1.0, 2.0], mask=[True, False])):
        check_refused(lambda no=no: setattr(one, "coulomb", no), ValueError, "coulomb")
        check_refused(lambda no=no: one.set(sims=[0, 1], coulomb=no), ValueError, "coulomb")
    gears.coulomb = [[0.5], [0.25]]
    assert gears.coulomb.numpy().tolist() == [[0.5], [0.25]]
    for which in (5, [True], [0.5, 1], wp.zeros(5, dtype=bool), wp.zeros(2, dtype=float)):
        check_refused(lambda which=which: gears.reset(which), ValueError, "worlds")
    gears.unsettled.fill_(3)
    gears.reset([False, True])
    assert gears.unsettled.numpy().tolist() == [3, 0]


def made_anew():
    """A second Gears for the same worlds replaces the first: friction does not act twice."""
    mjm, moved = model("implicitfast"), []
    for times in (1, 2):
        m, d = mjgear.warp.put_model(mjm), mjgear.warp.make_data(mjm, nworld=1, nconmax=16, njmax=64)
        for _ in range(times):
            mjgear.warp.Gears(m, d)
        d.ctrl.fill_(40)
        for _ in range(20):
            mjw.step(m, d)
        moved.append(d.qpos.numpy())
    assert np.array_equal(*moved) and moved[0].any()


def without_digits():
    """Friction below the normal numbers of single precision makes no step unsettled."""
    plain, worlds = ungeared("implicitfast"), 64
    m, d = mjw.put_model(plain), mjw.make_data(plain, nworld=worlds, nconmax=16, njmax=64)
    gears = mjgear.warp.attach(
        m, d, plain, ["j1", "j2"], gamma_u=0.1, gamma_v=0.3, stribeck_friction=1, stribeck_velocity=0.05
    )
    m.dof_armature.zero_()  # without a motor friction is the only load
    velocity = np.zeros((worlds, plain.nv), np.float32)
    velocity[:, 0] = np.linspace(0.47, 0.51, worlds)
    d.qvel.assign(velocity)
    mjw.step(m, d)
    friction = np.abs(gears.friction.numpy()[:, 0])
    assert ((friction > 0) & (friction < np.finfo(np.float32).tiny)).mean() > 0.5
    assert not gears.unsettled.numpy().any(), gears.residual.numpy()

    # nothing but rounding of weights acts on a joint about the vertical, and on the leg of a robot that falls
    body = """<mujoco><option integrator="implicitfast"/><worldbody><body><{joint}/><geom size=".1"/><body pos=".1 .05 0" euler="0 0 10">
      <joint name="lift" axis="0 1 0"/><geom type="capsule" size=".04" fromto="0 0 0 .5 0 .1"/></body></body></worldbody></mujoco>"""
    for joint, names, held in (('joint name="turn"', ["turn", "lift"], 5), ("freejoint", ["lift"], 0)):
        plain = mujoco.MjModel.from_xml_string(body.format(joint=joint))
        m, d = mjw.put_model(plain), mjw.make_data(plain, nworld=1, nconmax=16, njmax=64)
        gears = mjgear.warp.attach(m, d, plain, names, gamma_u=0.2, gamma_v=1.1)
        for _ in range(20):
            mjw.step(m, d)
        friction = np.abs(gears.friction.numpy()[0])
        assert friction[0] < 1e-6 and held <= friction[-1] < held + 3, friction
        assert not gears.unsettled.numpy().any(), gears.residual.numpy()


def batched():
    """Fields that differ between worlds."""
    mjm = model("Euler")
    m, d = (
        mjgear.warp.put_model(mjm, batch_sizes={"dof_armature": 2}),
        mjgear.warp.make_data(mjm, nworld=2, nconmax=16, njmax=64),
    )
    mjgear.warp.Gears(m, d)
    armature = m.dof_armature.numpy()
    assert armature.shape == (2, mjm.nv)
    armature[1] *= 2
    m.dof_armature.assign(armature)
    d.ctrl.assign(np.full((2, 2), 60, np.float32))
    for _ in range(20):
        mjw.step(m, d)
    single = []
    for inertia in (1, 2):
        mjm = model("Euler", armature=inertia)
        mjd = mujoco.MjData(mjm)
        mjd.ctrl[:] = 60
        mujoco.mj_step(mjm, mjd, 20)
        single.append(mjd.qvel.copy())
    # the sphere of the third joint has no gear, and its armature is 0
    assert largest(d.qvel.numpy(), np.array(single)) < 1e-4 and largest(*single) > 0.01


def padded():
    """Some of the engine's arrays have more rows than njmax: equal worlds stay equal for any njmax."""
    mjm, runs = scripts.ALL["humanoid"].model(True), []
    for njmax in (160, 157):
        mjd = mujoco.MjData(mjm)
        scripts.ALL["humanoid"].start(mjm, mjd)
        m, d = mjgear.warp.put_model(mjm), mjgear.warp.put_data(mjm, mjd, nworld=3, nconmax=64, njmax=njmax)
        g = mjgear.warp.Gears(m, d)
        for _ in range(30):
            mjw.step(m, d)
        assert (d.nefc.numpy() > g.n).all() and not g.unsettled.numpy().any()
        runs += [*d.qvel.numpy()]
    assert all(np.array_equal(runs[0], x) for x in runs), np.ptp(runs, axis=0)


def captured():
    """A step waits for nothing and reads nothing back while it is captured."""

    def forbidden(*_, **__):
        raise AssertionError("a step waits for the device")

    for integrator in engine.INTEGRATORS:
        mjm = model(integrator, actuators=MOTORS if integrator == "Euler" else SERVOS)
        m, d = mjgear.warp.put_model(mjm), mjgear.warp.make_data(mjm, nworld=2, nconmax=16, njmax=64)
        mjgear.warp.Gears(m, d)
        mjw.step(m, d)
        waits = mock.patch.multiple(
            wp, synchronize=forbidden, synchronize_device=forbidden, synchronize_stream=forbidden
        )
        with waits, mock.patch.object(wp.array, "numpy", forbidden), wp.ScopedCapture():
            mjw.step(m, d)


def refused_names(gears):
    """Refusals of mjgear.Gear: unknown names, and writes to results."""
    for name, line in (
        ("colomb", "unknown key 'colomb'; did you mean coulomb"),
        ("gama_v", "unknown key 'gama_v'; did you mean gamma_"),
        ("friction", "friction is what the last step resulted in"),
        ("status", "status is what the last step resulted in"),
        ("names", "names is what the last step resulted in or what the model says"),
    ):
        before = getattr(gears, name, None)
        try:
            setattr(gears, name, 1)
        except AttributeError as error:
            assert line in str(error), error
        else:
            raise AssertionError(f"{name} is accepted")
        assert getattr(gears, name, None) is before


def motors_and_loads():
    """Actuators on sites and ropes act on links, as with the plugin; one that a key names, gravity compensation and the limits of joints are motors'."""
    keys = '<config key="joint" value="a b"/><config key="gamma_u" value=".1"/><config key="gamma_v" value="{}"/>'
    text = """<mujoco><option integrator="{}" timestep=".002" jacobian="dense"/><extension><plugin plugin="mjgear.transmission"><instance name="g">{}</instance></plugin>
      </extension><worldbody><site name="o" pos="0 0 1"/><body gravcomp=".5"><joint name="a" axis="0 1 0" armature=".2" actuatorgravcomp="true" actuatorfrcrange="-3 2.5"/>
      <geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass="1" contype="0"/><body pos=".5 0 0" gravcomp=".5"><joint name="b" axis="0 1 0" armature=".1"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02" mass=".5" contype="0"/><site name="s" pos=".4 0 0"/></body></body></worldbody>
      <tendon><spatial name="rope"><site site="o"/><site site="s"/></spatial><fixed name="both"><joint joint="a" coef=".5"/><joint joint="b" coef="1"/></fixed></tendon>
      <actuator><motor name="jet" site="s" gear="0 0 -1 0 0 0"/><motor name="winch" tendon="rope"/><motor joint="a" gear="2"/><motor tendon="both"/></actuator></mujoco>"""
    for integrator, gamma_v, named in itertools.product(
        engine.INTEGRATORS, (0.3, 1.4), ("", '<config key="motor" value="jet"/>')
    ):
        host = mujoco.MjModel.from_xml_string(text.format(integrator, keys.format(gamma_v) + named))
        for ctrl in ((2, -3, 0, 0), (2, -3, 2, 1), (-1, 0, -2, -0.5)):
            mjd = mujoco.MjData(host)
            mjd.ctrl[:] = ctrl
            m, d = mjgear.warp.put_model(host), mjgear.warp.put_data(host, mjd, **play.SIZES)
            gears = mjgear.warp.Gears(m, d)
            step = stepper(m, d)
            stood = moved = 0.0
            for _ in range(60):
                mujoco.mj_step(host, mjd)
                step()
                v = d.qvel.numpy()[0]
                assert largest(v, mjd.qvel) < 2e-4 * (1 + np.abs(mjd.qvel).max()), (
                    integrator,
                    gamma_v,
                    named,
                    ctrl,
                    v,
                    mjd.qvel,
                )
                stood, moved = max(stood, np.abs(v).max()), max(moved, np.abs(mjd.qvel).max())
            assert gears.unsettled.numpy()[0] == 0
            assert moved > 1e-3 or (gamma_v > 1 and stood == 0)


def interface():
    # gears of one world by name
    code = "import sys; sys.argv = ['', '']; import test_warp as t; m = t.model(); w = t.mjgear.warp; w.put_model(m); w.make_data(m); "
    code += "[w.put_data(m, t.mujoco.MjData(m)) for _ in range(2)]; g = w.Gears(w.put_model(m), w.put_data(m, t.mujoco.MjData(m), nworld=2)); "
    code += "g['j1'].coulomb = [0.5, 0.25]; assert (g.coulomb.numpy()[:, 0] == [0.5, 0.25]).all() and g['j1'].friction.shape == (2,), g.coulomb"
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=SOURCE / "tests/python/warp", capture_output=True, text=True, check=False
    )
    assert told.returncode == 0 and "frictionloss" not in told.stdout + told.stderr, (
        told
    )  # the rows of gears are no friction of joints

    # refusals name the remedy
    backlash = "".join(f'<config key="{k}" value="{v}"/>' for k, v in
                       {"backlash": "exact", "half_gap": 0.01, "stiffness": 1000, "rotor_inertia": 0.1}.items())  # fmt: skip
    rope = '</instance><instance name="rope">' + "".join(
        f'<config key="{k}" value="{v}"/>' for k, v in {"tendon": "both", "gamma_u": 0.1, "gamma_v": 0.1}.items()
    )
    for arguments, words in (
        ({"config": backlash, "armature": 0}, ("'j1'", "backlash")),
        ({"config": rope}, ("tendons",)),
        ({"config": rope + backlash}, ("tendons",)),
        ({"config": rope + '<config key="oneway" value="1"/>'}, ("tendons",)),
        ({"option": 'solver="CG"'}, ("Newton", "solver")),
        ({"option": 'jacobian="sparse"'}, ("dense", "jacobian")),
        ({"integrator": "implicit"}, ("implicitfast", "integrator")),
        ({"noslip": 2}, ("noslip",)),
        ({"joint": 'frictionloss="1"'}, ("'j1'", "coulomb")),
        (
            {"integrator": "implicitfast", "actuators": '<position name="rope" tendon="both" kp="1" kv="1"/>'},
            ("'rope'", "each joint"),
        ),
        (
            {"integrator": "discrete", "actuators": '<position name="rope" tendon="both" kp="1"/>'},
            ("'rope'", "each joint"),
        ),
    ):
        if arguments.get("integrator") == "discrete" and "discrete" not in engine.INTEGRATORS:
            continue
        try:
            mjgear.warp.put_model(model(**arguments))
        except NotImplementedError as error:
            assert all(word in str(error) for word in words) and "\n" not in str(error), error
        else:
            raise AssertionError(f"{arguments} were not refused")

    for gear, words in (
        (
            {"backlash": "torsion", "stiffness": 1000, "rotor_inertia": 0.1, "slip_torque": 5},
            ("'j1'", "shaft", "rotor"),
        ),
        ({"backlash": "torsion", "stiffness": 1000, "rotor_inertia": 0.1, "freewheel": 1}, ("'j1'", "shaft", "rotor")),
        ({"oneway": 1}, ("'j1'", "one way", "'oneway'")),
        ({"oneway": 1, "tooth_pitch": 0.1}, ("'j1'", "one way", "'oneway'")),
        ({"brake": {"holding_torque": 5}}, ("'j1'", "brake", "mjgear.brake")),
        ({"gamma_torque": "0 1 5 1.2"}, ("'j1'", "table", "'gamma_torque'")),
        ({"coulomb": 1, "coulomb_speed": "0 1 5 1.2"}, ("'j1'", "table", "'coulomb_speed'")),
        (
            {"coulomb": 1, "temperature": 5, "coulomb_temperature": "0 2 40 1"},
            ("'j1'", "table", "'coulomb_temperature'"),
        ),
        ({"presliding_stiffness": 1e4}, ("'j1'", "'presliding_stiffness'")),
    ):
        try:
            mjgear.warp.put_model(ungeared("implicitfast", gamma_u=0.1, gamma_v=0.1, **gear))
        except NotImplementedError as error:
            assert all(word in str(error) for word in words) and "\n" not in str(error), error
        else:
            raise AssertionError(f"{gear} was not refused")

    # results and sensors equal the plugin's; a slipping joint satisfies the law by its
    # definition
    for integrator, actuators, armature in (
        ("discrete", SERVOS, 1), ("implicitfast", SERVOS, 1), ("Euler", MOTORS, 1), ("implicitfast", MOTORS, 1),
        ("Euler", MOTORS, 0.01)
    ):  # fmt: skip
        if integrator not in engine.INTEGRATORS:
            continue
        mjm = model(integrator, actuators=actuators, armature=armature)
        mjd = mujoco.MjData(mjm)
        m, d = mjgear.warp.put_model(mjm), mjgear.warp.make_data(mjm, nworld=2, nconmax=16, njmax=64)
        gears = mjgear.warp.Gears(m, d)
        assert gears.names == ["j1", "j2"]
        slips, states, others, step = 0, set(), 0, stepper(m, d)
        for i in range(150):
            mjd.ctrl[:] = [30 * np.sin(0.05 * i), 10 * np.cos(0.03 * i)]
            d.ctrl.assign(np.tile(mjd.ctrl, (2, 1)).astype(np.float32))
            mujoco.mj_step(mjm, mjd)
            step()
            ours, theirs = d.sensordata.numpy()[1], mjd.sensordata
            slip = 0
            for first in (0, 15):
                t, lam, u, x, mode, power = ours[first : first + 6]
                scale = np.abs(theirs[first : first + 4]).max()
                assert largest(ours[first : first + 4], theirs[first : first + 4]) < 1e-3 * scale + 1e-4, (
                    i,
                    ours,
                    theirs,
                )
                assert mode == theirs[first + 4] and ours[first + 11] == 0
                states.add(str(mjgear.State(ours[first + 13])))
                others += ours[first + 13] != theirs[first + 13]
                if mode != 0:
                    slip += 1
                    assert abs(t - mode * (abs(lam) + 0.5)) < 1e-4 * scale
            slips += slip
        assert largest(d.qpos.numpy()[0], mjd.qpos) < 1e-5 and np.array_equal(*d.qpos.numpy())
        assert np.abs(mjd.qpos).max() > 0.01 and not gears.unsettled.numpy().any()
        # where the torque on the link changes its sign, round-off may decide the gear's state
        assert slips > 20 and others <= 3 and {"locked", "driving", "driven"} <= states, (slips, others, states)
        print(f"{integrator}, {'servos' if actuators == SERVOS else 'motors'}: sensors and motion of the plugin, "
              f"joints were {', '.join(sorted(states))}, {others} otherwise with the plugin")  # fmt: skip

    gains_of_motors()
    randomized()
    some()
    attached()
    attached_viscous()
    refused()
    made_anew()
    without_digits()
    batched()
    padded()
    captured()

    # friction does not change the input of forward; gears change on the device, world by world
    velocity = d.qvel.numpy().copy()
    mjw.forward(m, d)
    assert np.array_equal(velocity, d.qvel.numpy())
    array = gears.coulomb
    gears.coulomb = 2
    assert gears.coulomb is array and (array.numpy() == 2).all()
    gears.coulomb = np.array([[1e3, 1e3], [0.5, 0.5]])
    assert gears.coulomb is array
    refused_names(gears)
    for _ in range(100):
        mjw.step(m, d)
    v, mode = d.qvel.numpy(), gears.mode.numpy()
    assert not v[0].any() and not mode[0].any() and v[1].any()

    # without room for the rows the steps are reported
    m, d = mjgear.warp.put_model(mjm), mjgear.warp.make_data(mjm, nworld=1, nconmax=16, njmax=1)
    m.opt.warn_overflow = 0
    gears = mjgear.warp.Gears(m, d)
    mjw.step(m, d)
    assert (gears.status.numpy() == mjgear.Status.WORKSPACE).all() and gears.unsettled.numpy()[0] == 1
    assert gears[gears.names[0]].status.shape == (1,) and gears.status.shape == gears.friction.shape


TESTS = {
    "native": native_code, "scenes": scenes, "discrete": discrete, "still": still, "worlds": worlds, "law": law, "interface": interface,
}  # fmt: skip
globals().update({f"test_{name}": test for name, test in TESTS.items()})  # for pytest
wp.config.quiet = True

if __name__ == "__main__":
    for test in sys.argv[1:] or TESTS:
        TESTS[test]()
