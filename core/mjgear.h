// mjgear: gear transmissions with friction that depends on load and direction.
//
// This header is the manual of the C core. The core knows no physics engine; it needs the
// C library and OpenBLAS, holds no global, and neither allocates, locks nor does input or
// output, with one exception: in blocks of 32 joints or more it calls OpenBLAS for matrix
// products. OpenBLAS takes a buffer from its own pool, under its own lock. Every call is
// re-entrant: threads may share inputs but not workspaces or outputs.
//
// Rules for all functions of all public headers:
//
//   - A pointer must not be null unless its comment says nullable. An array without entries may be.
//   - A call with a forbidden null pointer writes nothing. It returns mjgERR_ARGUMENT as an int,
//     NaN as a double, 0 as a size, null as a pointer.
//   - A call that returns an error, a negative number, leaves its outputs as they were unless its
//     comment says otherwise.
//   - A call that returns mjgSOLVED or mjgJAMMED has written finite numbers, except numbers that its comment says
//     are infinite. Numbers that overflow on the way are mjgERR_NOT_FINITE, never a success.
//
// Equation numbers are those of R. Kikuuwe, "Dynamics Modeling of Gear Transmissions with
// Asymmetric Load-Dependent Friction", TechRxiv 18583775.v2, 2022, read with corrected
// signs; the journal has it as Mechanism and Machine Theory 179, 2023, 105116.
//
// Units are SI at the output side of the gear: rad, rad/s, N m, kg m2 for a hinge, m,
// m/s, N, kg for a slide. "Torque", "inertia" and "angle" stand for both. Matrices are
// row-major.
//
//   m           rotor inertia reflected to the output side
//   tau_u       motor torque, positive in the joint's direction
//   a           joint acceleration over the step, (v+ - v)/h
//   u           torque delivered into the gear, tau_u - m a
//   lambda      internal force, (gamma_u + gamma_v) u - gamma_v t
//   t           friction torque, opposing motion: t in (|lambda| + c) sgn(v+)
//   x           torque delivered to the link, u - t
//
// One implicit step of n joints is the problem of this header: given v*,
// A, phi, P find t with
//
//     v+     = v* - A t
//     lambda = phi + P t                                                (51b), (62), (65)
//     t_i in (|lambda_i| + c_i) sgn(v+_i)        sgn(0) = [-1, 1]       (51a), (51c)

#ifndef MJGEAR_H_
#define MJGEAR_H_

#include <stddef.h>

// begin and end of the declarations of a public header, which the shared library alone exports
#if defined(MJGEAR_EXPORTS) && defined(__GNUC__)
#define mjgEXPORT   _Pragma("GCC visibility push(default)")
#define mjgNOEXPORT _Pragma("GCC visibility pop")
#else
#define mjgEXPORT
#define mjgNOEXPORT
#endif
// clang-format off
#ifdef __cplusplus
#define mjgBEGIN mjgEXPORT extern "C" {
#define mjgEND   } mjgNOEXPORT
#else
#define mjgBEGIN mjgEXPORT
#define mjgEND   mjgNOEXPORT
#endif
// clang-format on

mjgBEGIN


//---------------------------------- status and errors ---------------------------------------------

// result of a call: >= 0 a status, < 0 an error that leaves all outputs untouched
typedef enum mjgStatus_ {
  mjgSOLVED = 0,           // solved to the tolerance
  mjgJAMMED = 1,           // solved, but data are ill posed: another solution may exist
  mjgITERATION_LIMIT = 2,  // not solved to the tolerance; the best iterate is returned

  mjgERR_ARGUMENT = -1,    // null pointer, negative size, or an option out of range
  mjgERR_NOT_FINITE = -2,  // an input is NaN or infinite, or a result would be
  mjgERR_NOT_PD = -3,      // a matrix that must be positive definite is not
  mjgERR_WORKSPACE = -4,   // workspace too small for this problem
  mjgERR_SIZE = -5         // too large for the method (enumeration)
} mjgStatus;

// Returns one line about the meaning of a status or error; never null
const char* mjg_statusString(int status);

// version of this library, "0.2.0"; mjgear_version.h has the version of the headers
const char* mjg_version(void);


//---------------------------------- one joint -----------------------------------------------------

// forward and backward efficiency from asymmetry coefficients, (26)
//   eta_f = (1 - gamma_u)/(1 + gamma_v): driving gives x = eta_f u
//   eta_b = (1 - gamma_v)/(1 + gamma_u): being driven gives u = eta_b x; <= 0: non-backdrivable
// error: mjgERR_ARGUMENT if gamma_v = -1 or gamma_u = -1 (no finite efficiency),
// mjgERR_NOT_FINITE
int mjg_efficiencies(double* eta_f, double* eta_b, double gamma_u, double gamma_v);

// asymmetry coefficients from efficiencies, (27); error: mjgERR_ARGUMENT if eta_f eta_b =
// 1 unless both are 1, which is the gear without friction (gamma_u = gamma_v = 0);
// mjgERR_NOT_FINITE
int mjg_coefficients(double* gamma_u, double* gamma_v, double eta_f, double eta_b);

// rho-hat, (29): (gamma_u m - gamma_v M)/(m + M); M is the inertia of the output side
double mjg_rho(double gamma_u, double gamma_v, double m, double M);

// phi, (32): gamma_u f_u + gamma_v f_v - rho (f_u - f_v)
double mjg_phi(double f_u, double f_v, double gamma_u, double gamma_v, double rho);

// all lambda with lambda - rho |lambda| = phi, (31): writes the values to lambda[2] in
// ascending order and returns their number, 0, 1 or 2. phi = 0 with |rho| = 1, where a
// ray of solutions exists, gives 0 alone, as in the paper's first line. error: mjgERR_NOT_FINITE,
// also where a value is too large for a double
int mjg_lambdaSet(double lambda[2], double phi, double rho);

// the branch of (31) that is connected to stick, lambda_s of (35); +-INFINITY where the
// load would have to grow without bound, that is where the joint stops at once; NaN where
// an argument is not finite or the value overflows
double mjg_lambdaStick(double phi, double rho);

// friction torque of a joint that slips with s = sgn(v) in [-1, 1], Phi = s
// |lambda_s(phi, rho s)| of (34) on that branch; NaN as above, and for another s
double mjg_PhiScalar(double s, double phi, double rho);

// one implicit Euler step of one joint, (44): velocity after the step; sets *t (nullable)
// to the friction torque. A stuck joint's velocity is exactly 0.
//   v  velocity before the step     h  timestep > 0     f_u  motor torque    f_v  load torque
//   m  rotor inertia >= 0           M  output inertia; m + M > 0
// error: mjgERR_ARGUMENT, mjgERR_NOT_FINITE
int mjg_stepScalar(double* v_next, double* t, double v, double f_u, double f_v, double gamma_u,
                   double gamma_v, double m, double M, double h);


//---------------------------------- problem, settings, solution -----------------------------------

// one implicit step of n joints. Arrays belong to the caller and are only read.
//
// A and P may be block diagonal (one block a kinematic tree or an island): block b has
// size block[b], its dense row-major block[b] x block[b] entries follow those of block
// b-1.
typedef struct mjgProblem_ {
  int n;                  // number of joints, >= 0
  int nblock;             // number of blocks; 0: one block of size n
  const int* block;       // block sizes, sum n; nullable when nblock = 0   (nblock)
  const double* v;        // v*, velocity after the step without friction   (n)      rad/s
  const double* A;        // effect of friction on velocity, positive       (blocks) rad/s/(N m)
                          //   definite; symmetric in the paper, h M-hat^-1, not required here
  const double* phi;      // lambda without friction                        (n)      N m
  const double* P;        // effect of friction on lambda; nullable: P is   (blocks) 1
                          //   [alpha] A - [beta], the form that mechanics gives
  const double* alpha;    // (gamma_u + gamma_v) m / h; read if P is null   (n)      N m/(rad/s)
  const double* beta;     // gamma_v; read if P is null                     (n)      1
  const double* coulomb;  // load-independent bound c >= 0; nullable: 0     (n)      N m
  const double* static_ratio;  // static to sliding bound >= 1; nullable: 1      (n)      1
  const double* v0;            // velocity before the step; a joint that leaves  (n)      rad/s
                               //   rest or reverses must exceed the static
                               //   bound; nullable: all joints are at rest
} mjgProblem;

typedef enum mjgSolver_ {
  mjgNEWTON = 0,        // guarded semismooth Newton, the default
  mjgGAUSS_SEIDEL = 1,  // exact one-joint solve (44), joint by joint
  mjgPROJECTION = 2,    // the paper's: s := proj(B, s - c F(s)) with lambda by fixed point
  mjgLEMKE = 3,         // exact pivoting on the piecewise-linear form
  mjgENUMERATION = 4,   // every combination of modes, n <= mjgMAXENUM
  mjgNSOLVER = 5
} mjgSolver;

// name of a solver, "newton", null if there is none; solver of a name, -1 if there is
// none
const char* mjg_solverName(int solver);
int mjg_solverFromName(const char* name);

// most joints in a block that enumeration accepts, because it tries 5^n combinations of modes
#define mjgMAXENUM 8

typedef struct mjgSettings_ {
  int solver;           // mjgSolver
  int warm_start;       // start from solution->t and solution->mode: 0 no, 1 yes;
                        // of several solutions the default method then finds the one
                        // next to this start
  int skip_uniqueness;  // 1: accept without a test of uniqueness (status mjgSOLVED) a
                        // solution that mjgNEWTON finds from a warm start within two
                        // iterations; saves up to a third of the time. 0: test
  int iterations;       // iteration limit of the chosen method; 0: the method's default
  int pivots;           // limit of pivots on all paths of mjgNEWTON together; remaking
                        // the equations counts as 1 + n/8 pivots. 0: thorough, some
                        // thousands for each joint
  double tolerance;     // relative residual at which a problem counts as solved, in [0, 1)
} mjgSettings;

// mjgNEWTON, cold, default limits, tolerance 1e-12
void mjg_defaultSettings(mjgSettings* settings);

// result; arrays belong to the caller
typedef struct mjgSolution_ {
  double* t;       // friction torque                                (n)      N m
  double* v;       // velocity after the step; exactly 0.0 if stuck  (n)      rad/s
  double* lambda;  // internal force                                 (n)      N m
  int* mode;       // -1 slips backward, 0 stuck, 1 slips forward    (n)
} mjgSolution;

typedef struct mjgInfo_ {
  int status;          // mjgStatus
  int iterations;      // iterations of the chosen method, most of all blocks
  int factorizations;  // matrix factorizations, sum of all blocks
  int fallbacks;       // blocks in which the default solver had to call another method
  double residual;     // bound of the relative residual of all joints, see mjg_certify
} mjgInfo;

#define mjgMAXBLOCK 32768  // most joints of one block: entries of its matrices are counted by int

// workspace for problems of up to n joints in blocks of up to nmax joints, nmax <= n,
// nmax <= mjgMAXBLOCK: O(n + nmax^2) doubles; memory from the caller, any alignment. 0
// where n or nmax is out of range, or a size_t cannot count the bytes
typedef struct mjgWorkspace_ mjgWorkspace;
size_t mjg_memsize(int n, int nmax);

// workspace in this memory; null if mjg_memsize is 0 or more than size
mjgWorkspace* mjg_create(void* memory, size_t size, int n, int nmax);

// Pre-sliding: below break-away a stuck joint yields, as if a spring of the stiffness
// sigma (N m/rad) stood in series with its friction. With s the velocity of slip and t0
// the friction torque of the last step, which the spring still holds,
//
//     v+ = s + e (t - t0),    t in (|lambda| + c) sgn(s),    e = 1/(sigma h)
//
// In terms of s this is the problem above with v* + e t0, A + [e] and the P of the joint
// that sticks, [alpha] A - [beta] with its A, which must be given. Every solver solves
// it, and the statements on existence and uniqueness hold unchanged: with beta + alpha e
// it is the same condition on A. e = 0 is the joint that sticks. The friction works h t s
// >= 0 and the spring stores t^2/(2 sigma), which grows by no more than h t v+ - h t s:
// over a closed cycle friction never drives, whatever the bound does (doc/theory.md).
// static_ratio must be 1.

// e of a stiffness in (0, INFINITY] over the step h > 0; 0 for INFINITY and, as model
// files have it, for 0; INFINITY where it overflows, NaN for other arguments
double mjg_preslidingCompliance(double stiffness, double h);

// change one joint's v* and diagonal entry of A from the problem in v+ to the problem in
// s
void mjg_addPresliding(double* v, double* A, double compliance, double t_last);

// the joint's velocity v+ from its velocity of slip, and the other way round
double mjg_preslidingVelocity(double slip, double t, double compliance, double t_last);
double mjg_preslidingSlip(double velocity, double t, double compliance, double t_last);

// solve a problem. info is nullable. Returns a status, or an error with outputs
// untouched.
//
// Which solution. The step has exactly one, whatever v*, phi and c are, if and only if
//
//     [(beta - 1)/alpha]  <  A  <  [(beta + 1)/alpha]      (order of symmetric matrices)
//
// with r alpha, r beta for a static ratio r; the left side counts where beta > 1. 0 <=
// gamma < 1 grants it, sigma_max(P) < 1 grants it. The status is mjgSOLVED then, and
// every solver has the same result.
//
// Otherwise there may be several, the status is mjgJAMMED, and the jamming rule chooses:
// scale v* by theta and follow the solutions from theta = 0, where every joint stands
// still, until theta first is 1. Coupled joints may, rarely, slip or stand there although
// their own law (44) says otherwise with all other frictions given. One-joint steps then
// search for a solution that agrees with every joint's law. For one joint this is
// lambda_s of (35): it slips in direction s only while 1 - s sgn(lambda) P > 0, else it
// stops within the step. mjgNEWTON, mjgLEMKE and mjgENUMERATION follow this rule and
// agree; the others return some solution. If mjgNEWTON reaches a solution from a warm
// start within two iterations, it keeps this solution: from step to step the joints stay
// on their branch. With settings->skip_uniqueness the status is mjgSOLVED then.
//
// With a static ratio > 1 joints at rest, and in the direction of reversal, get the
// static bound; joints that it does not hold get the sliding bound, and the problem is
// solved again, at most n + 1 times.
int mjg_solve(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
              const mjgSettings* settings, mjgWorkspace* work);


//---------------------------------- certificate ---------------------------------------------------

// properties of a result, computed from problem and solution alone, without any solver
typedef struct mjgCertificate_ {
  double residual;  // max_i |v+_i - (v* - A t)_i| and distance of t_i from the inclusion,
                    //   each relative to the size of its terms; below DBL_MIN, where
                    //   a double has no digits, it counts as 0
  double power;     // t . v+; negative where friction creates energy          W
  int nviolated;    // joints whose residual exceeds the tolerance
  int worst;        // joint with the largest residual, -1 if n = 0
  int passive;      // 1 if no joint creates energy
  int well_posed;   // 1 if the solution is known to be unique
  int valid;        // 1 if residual <= tolerance and passive
} mjgCertificate;

// check a solution. violated (nullable) gets 1 for each joint beyond the tolerance, else
// 0                                                                                   (n)
int mjg_certify(mjgCertificate* certificate, int* violated, const mjgProblem* problem,
                const mjgSolution* solution, double tolerance, mjgWorkspace* work);


mjgEND

#endif  // MJGEAR_H_
