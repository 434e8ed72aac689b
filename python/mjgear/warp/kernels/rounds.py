"""Rounds that make friction, motion and states of constraints consistent, after a constraint solve with the friction of the last step.

A round is a friction problem at the states that constraints have (problem.py) and a look at the states that follow (states.py). If states, forces and motion no longer change, the world is done. If rounds do not end, gears become rows of friction loss with
the bound of the last friction problem. That is a convex problem, in which friction drives by no more than the softness of rows
allows. One more round continues from its solution. If the round does not converge, the solution of the rows is kept.

Threads of a block share a world: each takes every lanes-th column, row or joint, and computes single numbers itself.
"""

import warp as wp

from mjgear.warp.engine import OVERFLOW_ITERATIONS

from .numbers import RESIDUAL, UNSOLVED, Constraints, Couples, Motion, Round, Tree, blame, integers, scalars, vectors

# stages: rounds, rows of friction loss, both once more; and limit of solves for rows of
# friction loss, a convex problem
STAGES = 4
PASSIVE = 30


@wp.func
def begin(stage: int, steps: int) -> Round:
    """The first round of a stage."""
    round = Round()
    round.stage = stage
    round.passive = stage % 2
    round.other = 1
    round.solved = 1
    round.steps = steps
    return round


def make(numbers) -> list[wp.Kernel]:
    real, Law, Found, Scratch, this_lane = (
        numbers.real,
        numbers.Law,
        numbers.Found,
        numbers.Scratch,
        numbers.native.lane,
    )
    cones, hessian, integrator_rows, states = numbers.cones, numbers.hessian, numbers.integrator_rows, numbers.states
    newton_point, start, hold, of_rows, look = (
        numbers.newton_point,
        numbers.start,
        numbers.hold,
        numbers.of_rows,
        numbers.look,
    )
    factor, release = numbers.native.factor, numbers.release
    factorize, set_up, settle_joints, move, take = (
        numbers.factorize,
        numbers.set_up,
        numbers.settle_joints,
        numbers.move,
        numbers.take,
    )

    @wp.kernel(module="unique", enable_backward=False)
    def settle(
        lanes: int,
        limit: int,
        nv: int,
        njmax: int,
        implicit: int,
        elliptic: int,
        softness: float,
        tolerance: float,
        dof: wp.array(dtype=int),
        geared: wp.array(dtype=int),
        timestep: scalars,
        frictionadr: integers,
        tree: Tree,
        metric: vectors,
        derivative: vectors,
        couples: Couples,
        c: Constraints,
        law: Law,
        before: wp.array(dtype=int),
        scratch: Scratch,
        # in and out
        motion: Motion,
        found: Found,
        overflow: wp.array(dtype=int),
        # out
        iterations: wp.array(dtype=int),
        status: wp.array(dtype=int),
        steps: wp.array(dtype=int),
        unsettled: wp.array(dtype=int),
        slow: wp.array(dtype=int),
    ):
        """All rounds of a world."""
        w, thread = wp.tid()
        lane = this_lane()
        rows = wp.min(c.nefc[w], njmax)
        h = real(timestep[w % timestep.shape[0]])
        if lane == 0 and overflow.shape[0] > 0:
            # that the constraint solve ended early is nothing to report
            overflow[w] = (overflow[w] & ~OVERFLOW_ITERATIONS) | before[w]
        definite = int(1)
        if rows <= 0:
            definite = 0
        elif implicit != 0:
            definite = integrator_rows(w, nv, dof, tree, metric, derivative, scratch)
        ends = int(0)
        cycled = int(0)
        largest = float(0.0)
        round = begin(0, 0)
        while definite != 0 and round.stage < STAGES:
            if elliptic != 0:
                cones(w, lane, lanes, nv, rows, c, motion, scratch)
            hessian(w, lane, lanes, nv, rows, round, elliptic, tree, metric, couples, geared, c, motion, scratch)
            if round.passive != 0:
                if round.other != 0:
                    definite = factor(scratch.H, nv, w)
            elif round.other != 0:
                definite = factorize(w, lane, lanes, nv, implicit, h, dof, found, scratch)
            if definite != 0:
                newton_point(w, lane, lanes, nv, motion, scratch)
                start(w, lane, lanes, dof, frictionadr, found, motion, scratch)
                if round.passive == 0:
                    set_up(w, lane, lanes, implicit, h, dof, law, found, nv, scratch)
                    round = settle_joints(w, dof.shape[0], round, law, found, scratch)
                round = move(w, lane, lanes, nv, dof, round, found, motion, scratch)
                round.largest = take(w, lane, lanes, nv, rows, tree, metric, couples, motion, scratch)
                round = states(w, lane, lanes, nv, rows, round, c, geared, found, motion, scratch)
            if round.settled != 0 and round.passive == 0:
                round.settled = 1 - release(w, lane, lanes, dof.shape[0], law, found)
            most = wp.where(round.passive != 0, PASSIVE, wp.where(round.stage == 2, 1, limit))
            if round.settled != 0 and round.passive == 0:
                ends = 1
                round.stage = STAGES
            elif round.settled != 0 or round.number >= most:
                ends = round.settled
                largest = round.largest
                round = begin(round.stage + 1, round.steps)
                if round.passive != 0:
                    cycled = 1
                    hold(w, lane, lanes, softness, dof, frictionadr, law, found, c, scratch)
                    look(w, lane, lanes, nv, rows, c, motion)
                else:
                    of_rows(w, lane, lanes, dof, frictionadr, found, motion)
        if definite != 0 and ends == 0:
            # its remaining motion may be round-off
            round.other = 0
            hessian(w, lane, lanes, nv, rows, round, elliptic, tree, metric, couples, geared, c, motion, scratch)
            missing = float(0.0)
            for k in range(nv):
                missing = wp.max(missing, wp.abs(float(scratch.gradient[w, k])))
            ends = wp.where(missing <= tolerance * largest, 1, 0)
        for k in range(lane, nv, lanes):
            motion.qfrc_constraint[w, k] = motion.Ma[w, k] - motion.smooth[w, k]
        if lane == 0:
            iterations[w] = round.steps
            steps[w] += 1
            slow[w] += cycled
            if definite == 0:
                blame(status, unsettled, w, UNSOLVED)
            elif ends == 0:
                blame(status, unsettled, w, RESIDUAL)

    return [settle]
