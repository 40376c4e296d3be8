#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tribo/tribo.h>

enum { NV = 18, NU = 12, NX = 2 * NV, MOST = NX };

// C (n x p) = A (n x m) B (m x p), or A^T B for A (m x n).
static void product(const double* A, int transposed, const double* B, int n, int m, int p,
                    double* C) {
  memset(C, 0, sizeof(double) * (size_t)(n * p));
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < m; k++) {
      double a = transposed ? A[k * n + i] : A[i * m + k];
      for (int j = 0; j < p; j++) C[i * p + j] += a * B[k * p + j];
    }
  }
}

// The rows of W: an orthonormal basis of the displacements and velocities at which no contact that
// carries moves. Returns their number.
static int contact_manifold(const tbModel* m, const tbData* d, double W[MOST * NX]) {
  double basis[2 * NV * NV], jac[3 * NV], rows[(3 * NV + NV) * NV] = {0};
  int nrow = 0, found = 0, n = 0;
  for (int i = 0; i < d->ncon && nrow < 3 * NV; i++) {
    const tbContact* c = &d->contact[i];
    if (!(c->force[0] > 0)) continue;
    for (int side = 0; side < 2; side++) {
      tb_jac(m, d, m->geom_bodyid[c->geom[side]], c->pos, jac, NULL);
      for (int k = 0; k < 3 * NV; k++) rows[nrow * NV + k] += side ? jac[k] : -jac[k];
    }
    nrow += 3;
  }
  for (int k = 0; k < NV; k++) rows[(nrow + k) * NV + k] = 1;
  memset(W, 0, sizeof(double) * MOST * NX);
  // Gram and Schmidt: first the rows of contacts, then unit vectors, of which the remainders are
  // kept.
  for (int k = 0; k < nrow + NV && found < NV; k++) {
    double *v = rows + k * NV, before = 0, after = 0;
    for (int i = 0; i < NV; i++) before += v[i] * v[i];
    for (int b = 0; b < 2 * found; b++) {
      const double* e = basis + b % found * NV;
      double along = 0;
      for (int i = 0; i < NV; i++) along += e[i] * v[i];
      for (int i = 0; i < NV; i++) v[i] -= along * e[i];
    }
    for (int i = 0; i < NV; i++) after += v[i] * v[i];
    if (after < 1e-12 * before) continue;
    for (int i = 0; i < NV; i++) basis[found * NV + i] = v[i] / sqrt(after);
    if (k >= nrow) memcpy(W + n++ * NX, basis + found * NV, sizeof(double) * NV);
    found++;
  }
  for (int k = 0; k < n; k++) memcpy(W + (n + k) * NX + NV, W + k * NX, sizeof(double) * NV);
  return 2 * n;
}

// X <- S^-1 X for S (NU x NU) symmetric and positive definite, X (NU x n).
static void solve(double* S, double* X, int n) {
  for (int k = 0; k < NU; k++) {
    for (int i = 0; i < NU; i++) {
      double f = i == k ? 0 : S[i * NU + k] / S[k * NU + k];
      for (int j = k; f != 0 && j < NU; j++) S[i * NU + j] -= f * S[k * NU + j];
      for (int j = 0; f != 0 && j < n; j++) X[i * n + j] -= f * X[k * n + j];
    }
  }
  for (int i = 0; i < NU; i++) {
    for (int j = 0; j < n; j++) X[i * n + j] /= S[i * NU + i];
  }
}

// K (NU x n) of the discrete Riccati equation, iterated until the cost-to-go P converges.
static int riccati(int n, const double* A, const double* B, const double* Q, double r, double* K) {
  static double P[MOST * MOST], PA[MOST * MOST], PB[MOST * NU], S[NU * NU], G[NU * MOST];
  static double next[MOST * MOST], less[MOST * MOST];
  memcpy(P, Q, sizeof(double) * (size_t)(n * n));
  for (int k = 1; k < 20000; k++) {
    double change = 0, scale = 0;
    product(P, 0, A, n, n, n, PA);
    product(P, 0, B, n, n, NU, PB);
    product(B, 1, PB, NU, n, NU, S);
    product(B, 1, PA, NU, n, n, G);
    for (int i = 0; i < NU; i++) S[i * NU + i] += r;
    memcpy(K, G, sizeof(double) * (size_t)(NU * n));
    solve(S, K, n);
    product(A, 1, PA, n, n, n, next);
    product(G, 1, K, n, NU, n, less);
    for (int i = 0; i < n; i++) {
      for (int j = 0; j <= i; j++) {
        double sum = next[i * n + j] - less[i * n + j] + next[j * n + i] - less[j * n + i];
        double value = Q[i * n + j] + sum / 2;
        change = fmax(change, fabs(value - P[i * n + j]));
        scale = fmax(scale, fabs(value));
        P[i * n + j] = P[j * n + i] = value;
      }
    }
    if (change < 1e-9 * scale) return k;
  }
  return 0;
}

// Feet on the floor, and the torques that hold the robot there.
static int stand(const tbModel* m, tbData* d) {
  double gap = 1, rest[NV] = {0}, torque[NV];
  tbInverseInfo info;
  if (tb_reset_keyframe(m, d, 0) != TB_OK || tb_forward(m, d) != TB_OK) return 0;
  for (int i = 0; i < d->ncon; i++) gap = fmin(gap, d->contact[i].dist);
  d->qpos[2] -= gap;
  if (tb_inverse(m, d, rest, NULL, torque, &info) != TB_OK || !info.feasible) return 0;
  memcpy(d->ctrl, torque + NV - NU, sizeof(double) * NU);
  return 1;
}

// K (NU x NX) of the whole state; 0 where there is none.
static int regulator(const tbModel* m, tbData* d, double* K) {
  static double A[NX * NX], B[NX * NU], W[MOST * NX], Wt[NX * MOST], AW[NX * MOST], QW[NX * MOST];
  static double Az[MOST * MOST], Bz[MOST * NU], Qz[MOST * MOST], Kz[NU * MOST];
  tbDerivatives* derivatives = tb_derivatives_new(m);
  tbDerivativeSettings settings = tbDefaultDerivativeSettings();
  tbDerivativeInfo info;
  settings.hold_contacts = 1;
  if (!derivatives || tb_step_linearize(m, d, &settings, derivatives, &info) != TB_OK) return 0;
  tb_derivatives_dense(derivatives, A, B);
  tb_derivatives_free(derivatives);
  if (!info.differentiable) return fprintf(stderr, "%s\n", info.reason), 0;
  int n = contact_manifold(m, d, W);
  // Weights: 100 on positions, 1 on velocities, 10 on torques.
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < NX; k++) Wt[k * n + i] = W[i * NX + k];
    for (int k = 0; k < NX; k++) QW[k * n + i] = (k < NV ? 100 : 1) * W[i * NX + k];
  }
  product(A, 0, Wt, NX, NX, n, AW);
  product(W, 0, AW, n, NX, n, Az);
  product(W, 0, B, n, NX, NU, Bz);
  product(W, 0, QW, n, NX, n, Qz);
  int iterations = riccati(n, Az, Bz, Qz, 10, Kz);
  product(Kz, 0, W, NU, n, NX, K);
  printf("%d contacts stick, %d states on the contact manifold, %d iterations\n", info.sticking, n,
         iterations);
  return iterations;
}

int main(int argc, char** argv) {
  static double K[NU * NX];
  double qpos[NV + 1], ctrl[NU], dx[NX];
  tbError error;
  tbModel* m = tb_load(argc > 1 ? argv[1] : "scenes/quadruped_torque.xml", NULL, &error);
  if (!m) return fprintf(stderr, "%s\n", error.message), 2;
  if (m->nv != NV || m->nu != NU || m->njnt < 1 || m->jnt_type[0] != TB_JOINT_FREE || m->nkey < 1) {
    return fprintf(stderr,
                   "lqr: expected a robot like scenes/quadruped_torque.xml: a free trunk, %d dofs "
                   "(has %d), %d motors (has %d), a keyframe (has %d)\n",
                   NV, m->nv, NU, m->nu, m->nkey),
           2;
  }
  tbData* d = tb_data_new(m);
  if (!d || !stand(m, d)) return fprintf(stderr, "lqr: its motors cannot hold the keyframe\n"), 2;
  if (!regulator(m, d, K)) return fprintf(stderr, "lqr: no regulator at this stance\n"), 2;
  memcpy(qpos, d->qpos, sizeof qpos);
  memcpy(ctrl, d->ctrl, sizeof ctrl);

  // A push forwards, sideways and up; u = u* - K (x - x*).
  d->qvel[0] = d->qvel[1] = d->qvel[2] = 0.15;
  double farthest = 0, end = 0;
  while (d->time < 5) {
    tb_differentiate_pos(m, dx, 1, qpos, d->qpos);
    memcpy(dx + NV, d->qvel, sizeof(double) * NV);
    product(K, 0, dx, NU, NX, 1, d->ctrl);
    for (int i = 0; i < NU; i++) d->ctrl[i] = ctrl[i] - d->ctrl[i];
    end = sqrt(dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2]);
    farthest = fmax(farthest, end);
    if (tb_step(m, d) != TB_OK) return fprintf(stderr, "%s\n", d->message), 1;
  }
  printf("trunk: farthest %.1f mm, after 5 s %.1f mm from the stance\n", 1e3 * farthest, 1e3 * end);
  tb_data_free(d);
  tb_model_free(m);
  return end < 0.02 ? 0 : 1;
}
