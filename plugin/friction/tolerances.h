// The tolerances and limits of all methods, each with its reason. Names have one value.

#ifndef MJGEAR_PLUGIN_TOLERANCES_H_
#define MJGEAR_PLUGIN_TOLERANCES_H_

//---------------------------------- rounding, relative to the terms -------------------------------

// relative round-off of the engine's sums, within which a constraint row is at its edge
#define mjgpEDGE 1e-15

// relative round-off of a two-term difference or of a refined residual
#define mjgpROUNDED 1e-14

// relative round-off of a sum of ten terms: a row's residual, a velocity at rest, a shaft's
// tangent
#define mjgpSUMMED 1e-13

// relative round-off of a factored system: balanced torques, the end of a shaft's piece
#define mjgpFACTORED 1e-12

// relative difference of two computations of one result: an acceleration, a point of a path, the
// end of a search, the width of a jump. A velocity below this share of its terms is set to 0
#define mjgpSAME 1e-10

// least 1 + f gamma_v, and least share of a joint's inertia beside its motor's gains: below it a
// matrix is singular
#define mjgpSINGULAR 1e-9

// round-off errors below which a gradient is zero
#define mjgpZERO 128

// factor on round-off of constraint forces: the engine evaluates them this many times
#define mjgpEVALUATIONS 16

// least share: of the largest round-off, for a dof without forces; of the fastest velocity, for
// the engine's total cost; of a joint's own acceleration per torque, where other joints reduce it
#define mjgpLEAST 1e-3

// share of a group's largest velocity to which the round-off of a slow joint is relative
#define mjgpNEIGHBOURS 1e-5

// rest threshold, rad/s or m/s: drifts less than 1e-8 in a day; and the velocity that warrants a
// warning
#define mjgpSTILL 1e-14
#define mjgpSEEN  1e-9

// compliance of springs behind gears that share a load, relative to the effect of friction on
// their joints: round-off of their shares, relative to the load, is 1e-16 over it
#define mjgpSHARING 1e-6

// most solutions for one load, with springs ever stiffer from the second on
#define mjgpSHARES 12

//---------------------------------- criteria of a solution ----------------------------------------

// relative distance from the law above which a step is not solved, a gear is on another
// branch, its friction drives it, or the forces of a step have changed
#define mjgpLAW 1e-8

// residual at which a method ends, a thousandth of mjgpLAW; and where round-off of the gradient
// or of shares of a load limits it
#define mjgpROOT  1e-11
#define mjgpROUGH 1e-9

// an iteration that leaves more than this share of the residual is limited by round-off
#define mjgpGAINED 0.5

// error of a row at its edge, of the largest force, if the gradient is zero
#define mjgpMISSING 1e-6

// share of the velocities in a joint's difference within which the engine found the same motion
#define mjgpCONFIRMED 1e-6

// error of the engine's velocities over its solver tolerance (43 measured); and where it iterates
// slowly (210 in a chain of links between 1e-7 and 1e-1 kg m2 with stiff servos on tendons)
#define mjgpITERATED 50
#define mjgpSLOWLY   250

// share of the fastest joint's round-off in the round-off of each joint: coupled joints
// are solved together
#define mjgpSHARED 0.1

//---------------------------------- stiffness, times the inertia ----------------------------------

// gains over inertia from which a servo warrants a warning
#define mjgpGAINS 100

// h times a joint's damping over the inertia of a link behind a gap, from which it does
#define mjgpDAMPED 10

//---------------------------------- Newton --------------------------------------------------------

// iterations before the path takes over (99.9 % of converged steps take ten); with backdrivable
// gears alone, where each iteration comes closer; of the dense problem
#define mjgpITERATIONS 12
#define mjgpDESCENTS   40
#define mjgpSTEPS      8

// iterations in which all gears change pieces at once, which is cheaper and usually enough; with
// backdrivable gears alone
#define mjgpEXCHANGES 3
#define mjgpMILD      8

// most block Gauss-Seidel sweeps (five usually suffice), and sweeps without a change that end
// them
#define mjgpSWEEPS 30
#define mjgpCALM   2

// refinements on existing factors
#define mjgpREFINE 3

// final over initial slope of a line search, and error over length of a path's segment: the next
// iteration corrects it
#define mjgpLEFT   0.1
#define mjgpTRIALS 20

// halvings of an interval, to the spacing of doubles
#define mjgpHALVINGS 60

// iterations of the convex problem of constraints alone, which needs far fewer
#define mjgpINNER 100

// default of the key maxiter: most linearizations of a group by all methods, and again for
// releases. Of 7.7 million solved steps none took more than 3200
#define mjgpBUDGET 5000

// ratio of constraint rows to gears above which a step does not begin with the forces of the rows
#define mjgpFORCES 2

//---------------------------------- path ----------------------------------------------------------

// most segments of a path over rows and gears; factor on them where they are shorter
#define mjgpENDS  40
#define mjgpFINER 10

// tangent of the angle by which a sliding contact may turn on a segment
#define mjgpTURN 0.3

// share of the largest force by which gears differ at the start, so that no two breakpoints
// coincide
#define mjgpAPART 1e-4

// error of a path, beside mjgpLEFT of its segment
#define mjgpNEAR 1e-8

// factor on a segment that missed the path by more
#define mjgpSHRINK 0.25

// error of a shaft's tangent at the end of a segment, of its torque; where it is curved, and of a
// contact's residual at the end of its zone
#define mjgpOFF    1e-9
#define mjgpCURVED 1e-6

// length of a segment that counts as zero
#define mjgpFAR 1e6

#endif  // MJGEAR_PLUGIN_TOLERANCES_H_
