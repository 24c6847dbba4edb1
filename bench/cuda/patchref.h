/* Plain host references of the vertex-patch smoother on a uniform box: matrices of the reference cell, and a
   sweep by dense local solves */
#pragma once
#include <petscdt.h>
#include <petscblaslapack.h>

/* 1D stiffness and mass [p+1][p+1] on [0,1], nodes at the Gauss-Lobatto points, integrated exactly */
static inline PetscErrorCode PatchRefCell(PetscInt p, PetscReal A[], PetscReal M[])
{
  const PetscInt P = p + 1, Q = p + 2;
  PetscReal      z[16], wz[16], g[16], w[16];

  PetscFunctionBeginUser;
  z[0] = -1.0;
  z[p] = 1.0;
  if (p > 1) PetscCall(PetscDTGaussLobattoLegendreQuadrature(P, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, z, wz));
  PetscCall(PetscDTGaussQuadrature(Q, -1.0, 1.0, g, w));
  PetscCall(PetscArrayzero(A, P * P));
  PetscCall(PetscArrayzero(M, P * P));
  for (PetscInt q = 0; q < Q; ++q) {
    PetscReal l[16], d[16];

    for (PetscInt i = 0; i < P; ++i) {
      l[i] = 1.0;
      d[i] = 0.0;
      for (PetscInt k = 0; k < P; ++k) {
        PetscReal t = 1.0;

        if (k == i) continue;
        l[i] *= (g[q] - z[k]) / (z[i] - z[k]);
        for (PetscInt m = 0; m < P; ++m)
          if (m != i && m != k) t *= (g[q] - z[m]) / (z[i] - z[m]);
        d[i] += t / (z[i] - z[k]);
      }
    }
    for (PetscInt i = 0; i < P; ++i)
      for (PetscInt j = 0; j < P; ++j) {
        A[i * P + j] += 2.0 * w[q] * d[i] * d[j];
        M[i * P + j] += 0.5 * w[q] * l[i] * l[j];
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same of two cells side by side: [2p+1][2p+1] */
static inline PetscErrorCode PatchRefPair(PetscInt p, const PetscReal C[], PetscReal K[])
{
  const PetscInt P = p + 1, N = 2 * p + 1;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(K, N * N));
  for (PetscInt c = 0; c < 2; ++c)
    for (PetscInt i = 0; i < P; ++i)
      for (PetscInt j = 0; j < P; ++j) K[(c * p + i) * N + c * p + j] += C[i * P + j];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Colours first..last-1 (in descending order where reverse) of the multiplicative smoother; the form is that
   of cudapatch.h */
static inline PetscErrorCode PatchRefSweep(PetscInt dim, PetscInt p, const PetscReal d[], PetscReal m, const PetscInt ncells[],
                                           PetscInt first, PetscInt last, PetscBool reverse, const PetscReal b[], PetscReal x[])
{
  const PetscInt N = 2 * p + 1, n = N - 2, nn = PetscPowInt(n, dim), NN = PetscPowInt(N, dim), sy = ncells[0] * p + 1,
                 sz = dim == 3 ? sy * (ncells[1] * p + 1) : 0;
  PetscReal    A1[256], M1[256], A[289], M[289], *K, *L, *r;
  PetscBLASInt bn = (PetscBLASInt)nn, one = 1, info;

  PetscFunctionBeginUser;
  PetscCall(PatchRefCell(p, A1, M1));
  PetscCall(PatchRefPair(p, A1, A));
  PetscCall(PatchRefPair(p, M1, M));
  PetscCall(PetscMalloc3(nn * NN, &K, nn * nn, &L, nn, &r));
  for (PetscInt i = 0; i < nn; ++i) { /* rows inside the patch, all its columns */
    const PetscInt ii[3] = {i % n + 1, i / n % n + 1, i / n / n + 1};

    for (PetscInt j = 0, k = 0; j < NN; ++j) {
      const PetscInt jj[3]  = {j % N, j / N % N, j / N / N};
      PetscReal      v      = m;
      PetscBool      inside = PETSC_TRUE;

      for (PetscInt a = 0; a < dim; ++a) {
        v *= M[ii[a] * N + jj[a]];
        if (jj[a] == 0 || jj[a] == N - 1) inside = PETSC_FALSE;
      }
      for (PetscInt a = 0; a < dim; ++a) {
        PetscReal t = d[a];

        for (PetscInt c = 0; c < dim; ++c) t *= (c == a ? A : M)[ii[c] * N + jj[c]];
        v += t;
      }
      K[i * NN + j] = v;
      if (inside) L[i * nn + k++] = v;
    }
  }
  PetscCallBLAS("LAPACKpotrf", LAPACKpotrf_("L", &bn, L, &bn, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK potrf failed: %d", (int)info);
  for (PetscInt q = first; q < last; ++q) {
    const PetscInt color = reverse ? first + last - 1 - q : q,
                   c[3]  = {(color >> (dim - 1)) & 1, (color >> (dim - 2)) & 1, dim == 3 ? color & 1 : 0};

    for (PetscInt v2 = c[2]; dim == 3 ? v2 + 2 <= ncells[2] : v2 < 1; v2 += 2)
      for (PetscInt v1 = c[1]; v1 + 2 <= ncells[1]; v1 += 2)
        for (PetscInt v0 = c[0]; v0 + 2 <= ncells[0]; v0 += 2) {
          const PetscInt at = v0 * p + v1 * p * sy + v2 * p * sz;

          for (PetscInt i = 0; i < nn; ++i) {
            r[i] = b[at + i % n + 1 + (i / n % n + 1) * sy + (i / n / n + 1) * sz];
            for (PetscInt j = 0; j < NN; ++j) r[i] -= K[i * NN + j] * x[at + j % N + j / N % N * sy + j / N / N * sz];
          }
          PetscCallBLAS("LAPACKpotrs", LAPACKpotrs_("L", &bn, &one, L, &bn, r, &bn, &info));
          for (PetscInt i = 0; i < nn; ++i) x[at + i % n + 1 + (i / n % n + 1) * sy + (i / n / n + 1) * sz] += r[i];
        }
  }
  PetscCall(PetscFree3(K, L, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
