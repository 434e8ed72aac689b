// The operator axproj for two joints: Kikuuwe 2022, Fig. 8. Row i of the recording is a point v of
// a grid and its projection.

#include "../helpers.h"
#include "mjgear_paper.h"

#define SIDE 31

static const double A[4] = {1, 0.35, 0.35, 0.8};
static const double P[4] = {0.15, -0.2, 0.1, -0.25};
static const double phi[2] = {1, -0.7};

static void measure(double* value, const mjModel* m, const mjData* d) {
  int i = mjg_lastGridPoint(m, d);
  double v[2] = {mjg_gridValue(i % SIDE, SIDE, 2.5), mjg_gridValue(i / SIDE, SIDE, 2)}, y[2];
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  double memory[4096];
  mjgWorkspace* work = mjg_create(memory, sizeof memory, 2, 2);
  value[4] = mjg_axproj(y, NULL, v, A, phi, P, 2, &settings, work);
  value[0] = v[0];
  value[1] = v[1];
  value[2] = y[0];
  value[3] = y[1];
}

// (67) with t = [s]|lambda|, y = A t: t_i = |lambda_i| sgn(v_i - y_i) and lambda = phi + P t
static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  int first = mjg_column(run, "v_0"), unsolved = 0, count[3] = {0};
  double det = A[0] * A[3] - A[1] * A[2], worst = 0;
  for (int i = 0; i < run->nrow; i++) {
    const double* row = mjg_row(run, i) + first;
    double y[2] = {row[2], row[3]};
    double t[2] = {(A[3] * y[0] - A[1] * y[1]) / det, (A[0] * y[1] - A[2] * y[0]) / det};
    int zero = 0;
    unsolved += row[4] < 0;
    for (int k = 0; k < 2; k++) {
      double w = row[k] - y[k], bound = fabs(phi[k] + P[2 * k] * t[0] + P[2 * k + 1] * t[1]);
      int rests = fabs(w) < 1e-9;
      zero += rests;
      worst = fmax(worst, rests ? fabs(t[k]) - bound : fabs(t[k] - (w > 0 ? bound : -bound)));
    }
    count[zero]++;
  }
  mjg_claim(claims, unsolved == 0 && worst < 1e-9, "Fig. 8: (67) holds at all %d points within %.1g", run->nrow, worst);
  mjg_claim(claims, count[0] > 0 && count[1] > 0 && count[2] > 0,
            "%d points go to a vertex, %d along an axis to an edge, %d stay inside", count[0], count[1], count[2]);
}

mjgSCENE(Axproj, "axproj", "law/law.xml", 1e-3 * SIDE * SIDE,
         "The plots show the paper's projection along the axes for two joints (Kikuuwe, Fig. 8).", .flg_still = 1,
         .column = "v_0 v_1 y_0 y_1 status", .measure = measure, .claims = claims);
