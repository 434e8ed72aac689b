"""The C headers of the core as native functions of Warp, in single or double precision."""

import functools
import pathlib
from typing import NamedTuple

import warp as wp

_HERE = pathlib.Path(__file__).parent
_CORE = _HERE.parents[2] / "core"

# headers in order of inclusion, beside this file or in the source tree
_WORLD = ("law/law.h", "solvers/lanes.h", "world.h")
_NEWTON = ("law/law.h", "solvers/lanes.h", "solvers/dense_newton.h")
_PIECES = (*_NEWTON, "pieces.h")

# threads of a block share a world; on the CPU backend a block has one, unless warp.config.enable_cpu_blocks says otherwise
_LANES = """
#undef mjgLANE
#undef mjgLANES
#undef mjgSYNC
#define mjgLANE ((int)WP_TILE_THREAD_IDX)
#define mjgLANES WP_TILE_BLOCK_DIM
#define mjgSYNC() WP_TILE_SYNC()
"""

# functions of matrices are called, not part of their callers: registers of a GPU are few, and kernels compile in half the time
_CALLED = """
#undef mjgFUNCTION
#ifdef __CUDA_ARCH__
#define mjgFUNCTION static __device__ __noinline__
#else
#define mjgFUNCTION static __attribute__((noinline))
#endif
"""


def _header(name: str) -> str:
    for path in (_HERE / pathlib.Path(name).name, _CORE / name):
        if path.is_file():
            return path.read_text()
    raise FileNotFoundError(f"mjgear.warp: {name} is neither beside {__file__} nor in the source tree")


@functools.cache
def source(real: str, headers: tuple[str, ...]) -> str:
    """Headers as the members of a struct, for numbers of type 'float' or 'double'."""
    defined = "LAW_H_", "LANES_H_", "DENSE_NEWTON_H_", "WORLD_H_", "PIECES_H_"
    head = "".join(f"#undef MJGEAR_{name}\n" for name in defined) + "#undef mjgREAL\n#undef mjgFUNCTION\n"
    head += f"#define mjgREAL {real}\n#define mjgFUNCTION static CUDA_CALLABLE inline\n{_LANES}"
    texts = [_header(name) for name in headers]
    return "struct mjgear {\n" + head + texts[0] + _CALLED + "\n".join(texts[1:]) + "\n};\n"


class Functions(NamedTuple):
    sync: wp.Function
    lane: wp.Function
    expand: wp.Function
    add_row: wp.Function
    gap: wp.Function
    along: wp.Function
    times: wp.Function
    gather: wp.Function
    factor: wp.Function
    columns: wp.Function
    solve: wp.Function
    multiply: wp.Function
    multiply_columns: wp.Function
    integrated: wp.Function
    effect: wp.Function
    newton: wp.Function
    exchange: wp.Function
    hold: wp.Function
    locked: wp.Function
    releases: wp.Function


@functools.cache
def functions(real: str) -> Functions:
    """The native functions: see world.h, dense_newton.h and pieces.h. Arrays have a world a row."""
    scalar = {"float": wp.float32, "double": wp.float64}[real]
    vectors, matrices = wp.array2d(dtype=scalar), wp.array3d(dtype=scalar)
    engine_vectors, engine_matrices = wp.array2d(dtype=float), wp.array3d(dtype=float)
    indices, modes = wp.array(dtype=int), wp.array2d(dtype=int)
    head = source(real, _WORLD)

    def of(name: str, kind: str = real) -> str:
        """The part of an array that is this world's; arrays may be part of larger ones, and some of the engine's are padded."""
        return f"({kind}*)((char*){name}.data + (size_t)world * {name}.strides[0])"

    worlds_z = f"implicit ? {of('Z')} : nullptr"

    row = "J.data + ((size_t)world * J.shape[1] + row) * J.shape[2]"
    engine_vector = "({name}.data + (size_t)world * {name}.shape[1])"

    @wp.func_native(_LANES + "mjgSYNC();")
    def sync(): ...

    @wp.func_native(_LANES + "return mjgLANE;")
    def lane() -> int: ...

    @wp.func_native(
        head
        + f"""
    mjgear::expand({of("full")}, {of("M", "float")}, rownnz.data, rowadr.data, colind.data, nv);
    """
    )
    def expand(
        full: matrices, M: engine_vectors, rownnz: indices, rowadr: indices, colind: indices, nv: int, world: int
    ): ...

    @wp.func_native(
        head
        + f"""
    mjgear::add({of("H")} + (size_t)i * H.shape[2], {row}, f, i + 1);
    """
    )
    def add_row(H: matrices, J: engine_matrices, f: scalar, world: int, i: int, row: int): ...

    @wp.func_native(
        head
        + f"""
    return mjgear::gap({row}, {engine_vector.format(name="a")}, (mjgREAL)aref.data[(size_t)world * aref.shape[1] + row], nv);
    """.replace("mjgREAL", real)
    )
    def gap(J: engine_matrices, a: engine_vectors, aref: engine_vectors, nv: int, world: int, row: int) -> scalar: ...

    @wp.func_native(
        head
        + f"""
    return mjgear::along({row}, {engine_vector.format(name="a")}, {of("b")}, nv);
    """
    )
    def along(J: engine_matrices, a: engine_vectors, b: vectors, nv: int, world: int, row: int) -> scalar: ...

    @wp.func_native(
        head
        + f"""
    mjgear::times({of("y")}, {of("A")}, {of("x")}, m, n);
    """
    )
    def times(y: vectors, A: matrices, x: vectors, m: int, n: int, world: int): ...

    @wp.func_native(
        head
        + f"""
    mjgear::Rows c = {{{of("J", "float")}, {of("D", "float")}, {of("force", "float")}, {of("state", "int")}, {of("kind", "int")},
                      {of("identity", "int")}, geared.data, rows, (int)J.shape[2], quadratic, friction}};
    mjgear::gather(fills ? {of("H")} : nullptr, {of("g")}, &c, nv);
    """
    )
    def gather(
        H: matrices,
        g: vectors,
        J: engine_matrices,
        D: engine_vectors,
        force: engine_vectors,
        state: modes,
        kind: modes,
        identity: modes,
        geared: indices,
        rows: int,
        quadratic: int,
        friction: int,
        fills: int,
        nv: int,
        world: int,
    ): ...

    @wp.func_native(
        head
        + f"""
    return mjgear::factor({of("A")}, nv);
    """
    )
    def factor(A: matrices, nv: int, world: int) -> int: ...

    @wp.func_native(
        head
        + f"""
    return mjgear::columns({of("x")}, {of("A")}, dof.data, nv, n);
    """
    )
    def columns(x: matrices, A: matrices, dof: indices, nv: int, n: int, world: int) -> int: ...

    @wp.func_native(
        head
        + f"""
    mjgear::solve({of("x")}, {of("U")}, nv);
    """
    )
    def solve(x: vectors, U: matrices, nv: int, world: int): ...

    inertia = "M.data + (size_t)world * M.shape[1], rownnz.data, rowadr.data, colind.data"

    @wp.func_native(
        head
        + f"""
    mjgear::multiply({of("y")}, {of("x")}, {inertia}, nv, 1);
    """
    )
    def multiply(
        y: vectors,
        x: vectors,
        M: engine_vectors,
        rownnz: indices,
        rowadr: indices,
        colind: indices,
        nv: int,
        world: int,
    ): ...

    @wp.func_native(
        head
        + f"""
    mjgear::multiply({of("y")}, {of("x")}, {inertia}, nv, n);
    """
    )
    def multiply_columns(
        y: matrices,
        x: matrices,
        M: engine_vectors,
        rownnz: indices,
        rowadr: indices,
        colind: indices,
        nv: int,
        n: int,
        world: int,
    ): ...

    @wp.func_native(
        head
        + f"""
    mjgear::integrated({of("result")}, {of("a")}, {worlds_z}, dof.data, nv, n);
    """
    )
    def integrated(
        result: vectors, a: vectors, Z: matrices, dof: indices, implicit: int, nv: int, n: int, world: int
    ): ...

    @wp.func_native(
        head
        + f"""
    mjgear::effect({of("A")}, {of("X")}, {worlds_z}, dof.data, h, nv, n);
    """
    )
    def effect(
        A: matrices, X: matrices, Z: matrices, dof: indices, h: scalar, implicit: int, nv: int, n: int, world: int
    ): ...

    problem = f"""
        t.data + k, v.data + k, lam.data + k, mode.data + k, {of("A")}, v_free.data + k, phi.data + k, alpha.data + k, beta.data + k,
        coulomb.data + k, ratio.data + k, v0.data + k, n, {of("number")}, integer.data + (size_t)world * integer.shape[1]"""

    @wp.func_native(
        source(real, _NEWTON)
        + f"""
    size_t k = (size_t)world * n;
    return mjgear::mjgi_denseNewton({problem}, release);
    """
    )
    def newton(
        t: vectors,
        v: vectors,
        lam: vectors,
        mode: modes,
        A: matrices,
        v_free: vectors,
        phi: vectors,
        alpha: vectors,
        beta: vectors,
        coulomb: vectors,
        ratio: vectors,
        v0: vectors,
        n: int,
        number: vectors,
        integer: modes,
        release: int,
        world: int,
    ) -> int: ...

    @wp.func_native(
        source(real, _PIECES)
        + f"""
    size_t k = (size_t)world * n;
    return mjgear::mjgi_exchangePieces({problem}, release, most);
    """
    )
    def exchange(
        t: vectors,
        v: vectors,
        lam: vectors,
        mode: modes,
        A: matrices,
        v_free: vectors,
        phi: vectors,
        alpha: vectors,
        beta: vectors,
        coulomb: vectors,
        ratio: vectors,
        v0: vectors,
        n: int,
        number: vectors,
        integer: modes,
        release: int,
        most: int,
        world: int,
    ) -> int: ...

    @wp.func_native(
        head
        + """
    return mjgear::mjgi_lawHold(lam, c, static_ratio, v0, t);
    """
    )
    def hold(lam: scalar, c: scalar, static_ratio: scalar, v0: scalar, t: scalar) -> scalar: ...

    @wp.func_native(
        head
        + """
    return mjgear::mjgi_lawLocked(t, lam, beta, c, static_ratio, v0);
    """
    )
    def locked(t: scalar, lam: scalar, beta: scalar, c: scalar, static_ratio: scalar, v0: scalar) -> int: ...

    @wp.func_native(
        head
        + """
    return mjgear::mjgi_lawReleases(mode, mjgear::mjgi_lawRatio(static_ratio, v0, 1), mjgear::mjgi_lawRatio(static_ratio, v0, -1));
    """
    )
    def releases(mode: int, static_ratio: scalar, v0: scalar) -> int: ...

    return Functions(
        sync, lane, expand, add_row, gap, along, times, gather, factor, columns, solve, multiply, multiply_columns, integrated, effect, newton, exchange, hold,
        locked, releases,
    )  # fmt: skip
