"""Cost of gears in MuJoCo Warp: steps per second of all worlds, captured, on a GPU or on the CPU backend.

    build/venv-warp/bin/python benchmarks/warp/cost.py                                # the GPU if there is one
    build/venv-warp/bin/python benchmarks/warp/cost.py --device cpu --worlds 16 --steps 50

Prints a table in Markdown. Worlds start from the scene's first state with random motor torques and are stepped with gears
until they are steady. That state is where every way starts from, again and again after a few steps, so that all
have the same contacts to solve for. Ways: no friction, rows of constant friction loss on the same joints, gears in single and
in double precision. A way that fails has the reason in its row. Ratios are processor time on the CPU and elapsed time on a GPU, each
variant in turn so that other load affects all of them. Launches are the mean over those steps, not captured: they grow with the
iterations of the constraint solver in the slowest world.
"""

import argparse
import statistics
import time

import mujoco
import mujoco_warp as mjw
import numpy as np
import play
import scripts
import warp as wp

import mjgear.warp

WAYS = {
    "plain": None,
    "frictionloss": None,
    "gears": {},
    "gears, double": {"precision": "double"},
}


REPLAYED = 10  # steps from the state that is measured


class Case:
    """The worlds of a scene with one kind of friction; they start at states that another case reaches after some steps."""

    def __init__(self, scene, way, nworld, steps, like=None):
        options = WAYS[way]
        host_model = scene.model(options is not None)
        host = mujoco.MjData(host_model)
        scene.start(host_model, host)
        names = [host_model.joint(host_model.actuator_trnid[i, 0]).name for i in range(host_model.nu)]
        if way == "frictionloss":
            host_model.dof_frictionloss[[host_model.joint(name).dofadr[0] for name in names]] = 5
        package = mjgear.warp if options is not None else mjw
        self.model = package.put_model(host_model)
        self.data = package.put_data(host_model, host, nworld=nworld, **play.SIZES)
        self.gears = mjgear.warp.Gears(self.model, self.data, **options) if options is not None else None
        random = np.random.default_rng(1).uniform(-1, 1, (nworld, host_model.nu)).astype(np.float32)
        self.data.ctrl.assign(random * 20)
        mjw.step(self.model, self.data)  # compiles
        with wp.ScopedCapture() as capture:
            mjw.step(self.model, self.data)
        self.graph, self.steps, self.times = capture.graph, steps, []
        if like is None:
            for _ in range(steps):
                wp.capture_launch(self.graph)
        self.first = [wp.clone(x) for x in (like or self)._states()]
        self._start()
        self.launches = self._count()
        self._run()

    def _states(self):
        d, g = self.data, self.gears
        states = [d.qpos, d.qvel, d.act, d.qacc_warmstart, d.time]
        return states + ([g.friction, g.internal_force, g.mode, g._slack] if g else [])

    def _start(self):
        for x, first in zip(self._states(), self.first):
            wp.copy(x, first)

    def _count(self):
        count, launch, tiled = [0], wp.launch, wp.launch_tiled

        def counted(function):
            def call(*args, **kwargs):
                count[0] += 1
                return function(*args, **kwargs)

            return call

        wp.launch, wp.launch_tiled = counted(launch), counted(tiled)
        try:
            for _ in range(REPLAYED):
                mjw.step(self.model, self.data)
        finally:
            wp.launch, wp.launch_tiled = launch, tiled
        return count[0] / REPLAYED

    def _run(self):
        for i in range(self.steps):
            if i % REPLAYED == 0:
                self._start()
            wp.capture_launch(self.graph)
        wp.synchronize()

    def measure(self):
        clock = time.process_time if wp.get_device().is_cpu else time.perf_counter
        begin = clock()
        self._run()
        self.times.append(clock() - begin)


def measured(scene, nworld, arguments):
    """All ways that work, with their times; for the others a short reason."""
    cases, failed, settled = {}, {}, None

    def tried(way, action):
        try:
            return action()
        except Exception as error:  # a kernel that does not compile or run raises many types
            failed[way] = " ".join(f"{type(error).__name__}: {error}".split())[:120].replace("|", "/")

    for way in ("gears", "frictionloss", "plain"):  # start of the others
        settled = settled or tried(way, lambda: Case(scene, way, nworld, arguments.steps))
    for way in WAYS:
        case = way not in failed and tried(way, lambda: Case(scene, way, nworld, arguments.steps, settled))
        if case:
            cases[way] = case
    for _ in range(arguments.rounds):
        for way in [way for way in cases if way not in failed]:
            tried(way, cases[way].measure)
    return cases, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="of Warp: cuda, cpu")
    parser.add_argument("--worlds", type=int, nargs="+", help="default: 256 4096 16384 on a GPU, 16 on the CPU")
    parser.add_argument("--steps", type=int, default=200, help="of a run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scenes", nargs="+", default=["arm", "sinking", "sinking, discrete"])
    arguments = parser.parse_args()
    wp.config.quiet = True
    wp.set_device(arguments.device or wp.get_preferred_device())
    device = wp.get_device()
    print(f"{device.name}; medians of {arguments.rounds} runs of {arguments.steps} steps\n")
    print("| scene | worlds | friction | steps/s | time / plain | launches |\n|:--|--:|:--|--:|--:|--:|")
    for scene in arguments.scenes:
        for nworld in arguments.worlds or ([16] if device.is_cpu else [256, 4096, 16384]):
            cases, failed = measured(scripts.ALL[scene], nworld, arguments)
            for way in WAYS:
                if way in failed:
                    print(f"| {scene} | {nworld} | {way} | {failed[way]} | | |", flush=True)
                    continue
                case = cases[way]
                seconds = statistics.median(case.times)
                plain = cases["plain"].times if "plain" in cases else [float("nan")]
                ratio = statistics.median(a / b for a, b in zip(case.times, plain))
                rate = arguments.steps * nworld / seconds
                print(f"| {scene} | {nworld} | {way} | {rate:,.0f} | {ratio:.2f} | {case.launches:.0f} |", flush=True)


if __name__ == "__main__":
    main()
