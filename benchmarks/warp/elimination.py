"""Elimination of a world's friction problem: the loops of mjgear.warp, which threads share on a GPU, against a tile of threads a world.

    build/venv-warp/bin/python benchmarks/warp/elimination.py [--device cpu] [--worlds 256]

Prints a table in Markdown. The timed part is the largest of a friction problem: the factor of H, and the columns of its
inverse at the geared joints. The tile takes wp.tile_cholesky and wp.tile_cholesky_solve, as MuJoCo Warp does. Both are held
against NumPy's inverse. Variants are interleaved; the fastest round counts.
"""

import argparse
import time

import numpy as np
import warp as wp

from mjgear.warp import native

SIZES = ((7, 6), (12, 12), (29, 23), (64, 64))  # dofs, geared joints
TYPES = {"double": (wp.float64, np.float64, 1e-10), "float": (wp.float32, np.float32, 1e-3)}
THREADS = 32  # threads of a world on a GPU
ROUNDS = 9


def kernels(nv, n, real):
    scalar = TYPES[real][0]
    columns = native.functions(real).columns

    @wp.kernel(module="unique", enable_backward=False)
    def by_loops(H: wp.array3d(dtype=scalar), dof: wp.array(dtype=int), nv: int, n: int, X: wp.array3d(dtype=scalar)):
        w, lane = wp.tid()
        columns(X, H, dof, nv, n, w)

    @wp.kernel(module="unique", enable_backward=False)
    def by_tile(H: wp.array3d(dtype=scalar), E: wp.array2d(dtype=scalar), X: wp.array3d(dtype=scalar)):
        w = wp.tid()
        L = wp.tile_cholesky(wp.tile_load(H[w], shape=(nv, nv), bounds_check=False))
        E_tile = wp.tile_load(E, shape=(nv, n), bounds_check=False)
        wp.tile_store(X[w], wp.tile_cholesky_solve(L, E_tile), bounds_check=False)

    return by_loops, by_tile


def seconds(launch):
    """Processor time on the CPU, elapsed time on a GPU."""
    clock = time.thread_time if wp.get_device().is_cpu else time.perf_counter
    wp.synchronize()
    begin = clock()
    launch()
    wp.synchronize()
    return clock() - begin


def measure(nv, n, real, nworld):
    scalar, host, tolerance = TYPES[real]
    rng = np.random.default_rng(nv)
    B = rng.normal(size=(nworld, nv, nv))
    matrices = B @ B.transpose(0, 2, 1) + nv * np.eye(nv)
    dofs = np.sort(rng.permutation(nv)[:n])
    expected = np.linalg.inv(matrices)[:, :, dofs]

    first, dof = wp.array(matrices.astype(host), dtype=scalar), wp.array(dofs, dtype=int)
    E = wp.array(np.eye(nv)[:, dofs].astype(host), dtype=scalar)
    H, X = wp.clone(first), [wp.zeros((nworld, nv, n), dtype=scalar) for _ in range(2)]
    by_loops, by_tile = kernels(nv, n, real)
    times, lanes = [[], []], 1 if wp.get_device().is_cpu else THREADS
    for _ in range(ROUNDS):
        wp.copy(H, first)  # overwritten by its factor
        times[0].append(
            seconds(
                lambda: wp.launch(by_loops, (nworld, lanes), inputs=[H, dof, nv, n], outputs=[X[0]], block_dim=THREADS)
            )
        )
        tile = {"dim": nworld, "inputs": [first, E], "outputs": [X[1]], "block_dim": THREADS}
        times[1].append(seconds(lambda: wp.launch_tiled(by_tile, **tile)))
    for x in X:
        error = np.abs(x.numpy() - expected).max() / np.abs(expected).max()
        assert error < tolerance, (nv, n, real, error)
    return [1e6 * min(t) / nworld for t in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="of Warp: cuda, cpu; default: the GPU if there is one")
    parser.add_argument("--worlds", type=int, default=256)
    arguments = parser.parse_args()
    wp.config.quiet = True
    wp.set_device(arguments.device or wp.get_preferred_device())
    print(f"{wp.get_device().name}, {arguments.worlds} worlds\n")
    print(
        "| precision | dofs | gears | loops, us a world | tile, us a world | tile / loops |\n|:--|--:|--:|--:|--:|--:|"
    )
    for real in TYPES:
        for nv, n in SIZES:
            thread, tile = measure(nv, n, real, arguments.worlds)
            print(f"| {real} | {nv} | {n} | {thread:.2f} | {tile:.2f} | {tile / thread:.1f} |", flush=True)


if __name__ == "__main__":
    main()
