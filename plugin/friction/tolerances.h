// The tolerances and limits of all methods, each with its reason. Names have one value.

#ifndef MJGEAR_PLUGIN_TOLERANCES_H_
#define MJGEAR_PLUGIN_TOLERANCES_H_

//---------------------------------- rounding, relative to the terms -------------------------------

// a row of constraints may be at its edge, as far as the engine's own sums tell
#define mjgpEDGE 1e-15

// relative round-off of a two-term difference or of a refined residual
#define mjgpROUNDED 1e-14

// a sum of some ten terms: the residual of a row at its edge, a velocity at rest, a shaft
// on its tangent
#define mjgpSUMMED 1e-13

// a solution of a factored system: torques that balance, the end of a shaft's piece
#define mjgpFACTORED 1e-12

// two results of different ways that are one: an acceleration, a place of a path, the end
// of a search, what is left of an interval in which a torque jumps. A velocity that is
// less than this of its terms is set to 0
#define mjgpSAME 1e-10

// 1 + f gamma_v, or the share of a joint's inertia that its motor's gains leave: below it
// a matrix is singular
#define mjgpSINGULAR 1e-9

// a gradient of this many rounding errors is zero
#define mjgpZERO 128

// evaluations of constraint forces by the engine, each with as much rounding as ours
#define mjgpEVALUATIONS 16

// of the largest rounding error, in the metric of the inertia, that of a dof on which
// nothing acts; of the fastest velocity, what the engine's cost of all joints together
// leaves open; of a joint's own acceleration, the least that counts where that of others
// takes it away
#define mjgpLEAST 1e-3

// of the largest velocity of a group: to this the round-off of a slow joint is relative
#define mjgpNEIGHBOURS 1e-5

// rest threshold in rad/s or m/s, which drifts less than 1e-8 in a day; and the velocity
// that is worth a warning
#define mjgpSTILL 1e-14
#define mjgpSEEN  1e-9

// springs behind gears that share a load give way by this share of what friction does to their joints: below mjgpLAW, and above
// what rounding leaves of the share of one
#define mjgpSHARING 1e-9

//---------------------------------- what counts as solved -----------------------------------------

// relative distance from the law above which a step is not solved, a gear is on another
// branch, its friction drives it, or the forces of a step have changed
#define mjgpLAW 1e-8

// residual of a method that has ended: a thousandth of it. And where rounding of the
// gradient is all that is left
#define mjgpROOT  1e-11
#define mjgpROUGH 1e-9

// an iteration that leaves more than this share of the residual is limited by round-off
#define mjgpGAINED 0.5

// of the largest force: what a row at its edge may have been wrong by, if the gradient is
// zero
#define mjgpMISSING 1e-6

// of the velocities that a joint's is the difference of: within it the engine's solver
// has found the same motion
#define mjgpCONFIRMED 1e-6

// the engine's iterations end at a residual of its tolerance: velocities are known to
// this many times that (43 measured); and where it iterates slowly (210 in a chain of
// links between 1e-7 and 1e-1 kg m2 whose stiff servos pull tendons)
#define mjgpITERATED 50
#define mjgpSLOWLY   250

// of the fastest joint's rounding, the part of each: joints that act on each other are
// solved as one
#define mjgpSHARED 0.1

//---------------------------------- stiffness, times the inertia ----------------------------------

// such a servo is worth a word
#define mjgpGAINS 100

//---------------------------------- Newton --------------------------------------------------------

// iterations before the path takes over (99.9 % of the steps that settle take ten); of
// gears that can all be driven from both sides, which have one solution, and where each
// comes closer to the law; and of the dense problem
#define mjgpITERATIONS 12
#define mjgpDESCENTS   40
#define mjgpSTEPS      8

// iterations in which gears exchange pieces as they please, which is cheaper and enough
// for nearly all steps; the same of gears that can all be driven from both sides
#define mjgpEXCHANGES 3
#define mjgpMILD      8

// rounds in which gears answer one after the other, at most (nearly all settle in five),
// and rounds without another piece
#define mjgpSWEEPS 30
#define mjgpCALM   2

// corrections by the factors that are there
#define mjgpREFINE 3

// slope at the end of a line search, of that at its start, and length by which a path may
// be missed, of its line: the next iteration corrects it
#define mjgpLEFT   0.1
#define mjgpTRIALS 20

// halvings of an interval: it is as short as doubles are close
#define mjgpHALVINGS 60

// iterations of the convex problem of constraints alone, which takes far fewer
#define mjgpINNER 100

// linearizations of a group, all methods together, and as many for all ways to break
// away: of 7.7 million steps none that was solved took more than 3200
#define mjgpBUDGET 5000

// rows of constraints, times gears, beyond which friction is the smaller unknown
#define mjgpFORCES 1

//---------------------------------- path ----------------------------------------------------------

// most segments of a path, times rows and gears; times this where they are finer
#define mjgpENDS  40
#define mjgpFINER 10

// tangent of the angle by which a contact that slides may turn on a line
#define mjgpTURN 0.3

// share of the largest force by which gears differ at the start, so that no two leave
// their pieces at once
#define mjgpAPART 1e-4

// length by which a path may be missed, beside its part of a line
#define mjgpNEAR 1e-8

// what is left of a line that missed it by more
#define mjgpSHRINK 0.25

// of its torque, what a shaft may be off its tangent at the end of a line; where it is
// curved, and of the residual of a contact at the end of its zone
#define mjgpOFF    1e-9
#define mjgpCURVED 1e-6

// a line of this length leads nowhere
#define mjgpFAR 1e6

#endif  // MJGEAR_PLUGIN_TOLERANCES_H_
