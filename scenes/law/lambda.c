// The internal force of one joint that slips, (31) and (35), over phi and rho: Kikuuwe 2022, Fig. 7. Row i
// of the recording is one point of a grid.

#include "../helpers.h"

#define SIDE 41  // points in phi and in rho, both from -2 to 2

static void measure(double* value, const mjModel* m, const mjData* d) {
  int i = mjg_lastGridPoint(m, d);
  double phi = mjg_gridValue(i % SIDE, SIDE, 2), rho = mjg_gridValue(i / SIDE, SIDE, 2);
  double lambda[2] = {NAN, NAN};
  value[0] = phi;
  value[1] = rho;
  value[2] = mjg_lambdaSet(lambda, phi, rho);
  value[3] = value[2] > 0 ? lambda[0] : NAN;
  value[4] = value[2] > 0 ? lambda[(int)value[2] - 1] : NAN;
  value[5] = mjg_lambdaStick(phi, rho);
}

// the lines of (31)
static int count(double phi, double rho) {
  return phi == 0 ? 1 : fabs(rho) < 1 ? 1 : phi * rho > 0 ? 0 : fabs(rho) == 1 ? 1 : 2;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  int first = mjg_column(run, "phi"), wrong = 0, torn = 0, empty = 0, dual = 0;
  double residual = 0;
  for (int i = 0; i < run->nrow; i++) {
    const double* row = mjg_row(run, i) + first;
    double phi = row[0], rho = row[1], stick = row[5];

    // at rho = +-1 and phi = 0 every value is a solution: the function gives 0
    int n = (int)row[2];
    wrong += n != count(phi, rho);
    empty += n == 0;
    dual += n == 2;
    for (int k = 0; k < n; k++) {
      double lambda = row[3 + (k == n - 1 && n > 1)];
      residual = fmax(residual, fabs(lambda - rho * fabs(lambda) - phi));
    }

    // (35): the branch with the sign of phi; infinite if no such branch exists
    double slope = 1 - (phi > 0 ? rho : -rho);
    torn += phi != 0 &&
            (slope > 0 ? fabs(stick - phi / slope) > 1e-12 * (1 + fabs(stick)) : stick != copysign(INFINITY, phi));
  }
  mjg_claim(claims, wrong == 0 && residual < 1e-12 && dual > 0 && empty > 0,
            "Fig. 7: %d points have no value, %d two, as (31) says; lambda - rho |lambda| = phi within %.1g", empty,
            dual, residual);
  mjg_claim(claims, torn == 0, "lambda_s, (35), is the part that is connected to stick, everywhere: %d points off",
            torn);
}

mjgSCENE(Lambda, "lambda", "law/law.xml", 1e-3 * SIDE * SIDE,
         "The plots show the internal force of a joint that slips, for all pairs of coefficients (Kikuuwe, Fig. 7).",
         .flg_still = 1, .column = "phi rho values low high stick", .measure = measure, .claims = claims);
