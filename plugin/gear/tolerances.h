// The tolerances and limits of all methods. Those without a unit are relative or count.

#ifndef MJGEAR_PLUGIN_TOLERANCES_H_
#define MJGEAR_PLUGIN_TOLERANCES_H_

//---------------------------------- relative errors -----------------------------------------------

// round-off of a sum of ten terms, relative to their sizes: a row at its edge, a gear on its law, the
// tangent of a shaft
#define mjgpSUMMED 1e-13

// round-off of a factored system: balanced torques, the end of a shaft's piece
#define mjgpFACTORED 1e-12

// residual at which a method ends: a thousandth of mjgpLAW
#define mjgpROOT 1e-11

// difference of two computations of one result, for instance an acceleration or a point of a path.
// Below it a diagonal is singular, a velocity is zero, a residual is limited by round-off
#define mjgpSAME 1e-10

// distance from the law above which a step is not solved, a gear is on another branch, or the
// forces of a step have changed; error of a path beside mjgpLEFT of its segment
#define mjgpLAW 1e-8

// error of a first approximation: the engine's motion, the tangent of a curve or of a steep line,
// springs that share a load (round-off of the shares is 1e-16 over it), the effect of a fast
// neighbour on a slow joint
#define mjgpCLOSE 1e-6

// share that counts as something: of the largest round-off, for a dof without forces; of the fastest
// velocity, for the engine's total cost; of a joint's own acceleration, where others reduce it
#define mjgpLEAST 1e-3

// share that the next iteration removes: final over initial slope of a line search, error over
// length of a path's segment; share of the fastest joint's round-off that reaches the others
#define mjgpLEFT 0.1

// an iteration that leaves more of the residual is limited by round-off; a path's segment that
// missed the path is shortened by it
#define mjgpGAINED 0.5

//---------------------------------- multiples -----------------------------------------------------

// of round-off, below which a gradient is zero and a velocity is not known
#define mjgpZERO 128

// of the engine's solver tolerance, for the error of its velocities where it iterates (43 measured,
// and 210 in a chain of links between 1e-7 and 1e-1 kg m2 with stiff servos on tendons)
#define mjgpITERATED 250

// of the inertia, from which a servo's gains times h and h^2 warrant a warning
#define mjgpGAINS 100

// of the inertia of a link behind a gap, from which h times its joint's damping warrants one
#define mjgpDAMPED 10

//---------------------------------- velocities, rad/s or m/s --------------------------------------

// at rest: a drift less than 1e-8 in a day
#define mjgpSTILL 1e-14

// warrants a warning if round-off alone causes it
#define mjgpSEEN 1e-9

//---------------------------------- iterations ----------------------------------------------------

// default of the key maxiter: most linearizations of a group by all methods, and again for
// releases. Of 7.7 million solved steps none took more than 3200
#define mjgpBUDGET 5000

// of Newton, before the path takes over (99.9 % of converged steps take ten), of the dense problem,
// of solutions for one load
#define mjgpITERATIONS 12

// of problems in which each iteration comes closer: constraints alone, backdrivable gears
#define mjgpINNER 100

// iterations in which all gears change pieces at once, which is cheaper and usually enough, and
// corrections of a point of a path; with backdrivable gears alone
#define mjgpEXCHANGES 3
#define mjgpMILD      8

// most block Gauss-Seidel sweeps (five usually suffice), and sweeps without a change that end them
#define mjgpSWEEPS 30
#define mjgpCALM   2

// halvings of an interval, to the spacing of doubles
#define mjgpHALVINGS 60

// constraint rows and damped dofs without gears, over gears, above which a step does not begin with
// the forces of the rows: these are dense there
#define mjgpFORCES 2

//---------------------------------- path ----------------------------------------------------------

// most segments over rows and gears; factor on them where they are shorter
#define mjgpENDS  40
#define mjgpFINER 10

// longest segment, in the homotopy parameter
#define mjgpFAR 1e6

// tangent of the angle by which a sliding contact may turn on a segment
#define mjgpTURN 0.3

// share of the largest force by which gears differ at the start, so that no two breakpoints
// coincide
#define mjgpAPART 1e-4

#endif  // MJGEAR_PLUGIN_TOLERANCES_H_
