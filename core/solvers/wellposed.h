// Tests whether the step is known to have exactly one solution.

#ifndef MJGEAR_WELLPOSED_H_
#define MJGEAR_WELLPOSED_H_

// Returns 1 if the step has exactly one solution for all v*, phi and c, 0 if unknown.
//   A            unit diagonal, positive definite; may differ a little from symmetric   (n x n)
//   alpha, beta  P = [alpha] A - [beta], in the units of A                              (n)
//   ratio        largest factor on the friction bound, >= 1; nullable: 1                (n)
//   S            scratch                                                                (n x n)
int mjgi_wellPosed(const double* A, const double* alpha, const double* beta, const double* ratio,
                   int n, double* S);

// Find alpha and beta with P = [alpha] A - [beta]. Returns 0 if P has another form.
int mjgi_factorP(double* alpha, double* beta, const double* A, const double* P, int n);

#endif  // MJGEAR_WELLPOSED_H_
