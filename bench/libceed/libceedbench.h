/*
  The quadrature functions of libceedbench: host back ends call what the program's compiler made of them,
  device back ends compile this file when the program runs.

  A cell's data at a point are the upper triangle of w det(J) J^-1 J^-T, row by row, and with a mass w det(J)
  as a seventh number.
*/
#include <ceed/types.h>

/* w det(J) J^-1 J^-T from dx/dX (its derivative by X_d, component l, is J[3 d + l]); the value is w det(J) */
CEED_QFUNCTION_HELPER CeedScalar Metric(CeedScalar w, const CeedScalar J[9], CeedScalar D[6])
{
  CeedScalar R[9], det; /* the rows of det(J) J^-1 are cross products of the derivatives */
  CeedInt    m = 0;

  for (CeedInt d = 0; d < 3; ++d) {
    const CeedScalar *a = J + 3 * ((d + 1) % 3), *b = J + 3 * ((d + 2) % 3);

    for (CeedInt l = 0; l < 3; ++l) R[3 * d + l] = a[(l + 1) % 3] * b[(l + 2) % 3] - a[(l + 2) % 3] * b[(l + 1) % 3];
  }
  det = J[0] * R[0] + J[1] * R[1] + J[2] * R[2];
  for (CeedInt r = 0; r < 3; ++r)
    for (CeedInt s = r; s < 3; ++s)
      D[m++] = w / det * (R[3 * r] * R[3 * s] + R[3 * r + 1] * R[3 * s + 1] + R[3 * r + 2] * R[3 * s + 2]);
  return w * det;
}

/* in: dx/dX [3 derivatives][3 components][Q], weights [Q]; out: data [6][Q] */
CEED_QFUNCTION(SetUpDiffusion)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out)
{
  const CeedScalar *dx = in[0], *w = in[1];
  CeedScalar       *data = out[0];

  CeedPragmaSIMD for (CeedInt i = 0; i < Q; ++i)
  {
    CeedScalar J[9], D[6];

    for (CeedInt k = 0; k < 9; ++k) J[k] = dx[k * Q + i];
    Metric(w[i], J, D);
    for (CeedInt k = 0; k < 6; ++k) data[k * Q + i] = D[k];
  }
  return CEED_ERROR_SUCCESS;
}

/* the same; out: data [7][Q] */
CEED_QFUNCTION(SetUpBoth)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out)
{
  const CeedScalar *dx = in[0], *w = in[1];
  CeedScalar       *data = out[0];

  CeedPragmaSIMD for (CeedInt i = 0; i < Q; ++i)
  {
    CeedScalar J[9], D[6];

    for (CeedInt k = 0; k < 9; ++k) J[k] = dx[k * Q + i];
    data[6 * Q + i] = Metric(w[i], J, D);
    for (CeedInt k = 0; k < 6; ++k) data[k * Q + i] = D[k];
  }
  return CEED_ERROR_SUCCESS;
}

/* in: du/dX [3][Q], data [6][Q]; out: what the gradients of test functions meet [3][Q] */
CEED_QFUNCTION(ApplyDiffusion)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out)
{
  const CeedScalar(*g)[CEED_Q_VLA] = (const CeedScalar(*)[CEED_Q_VLA])in[0];
  const CeedScalar(*D)[CEED_Q_VLA] = (const CeedScalar(*)[CEED_Q_VLA])in[1];
  CeedScalar(*v)[CEED_Q_VLA]       = (CeedScalar(*)[CEED_Q_VLA])out[0];

  CeedPragmaSIMD for (CeedInt i = 0; i < Q; ++i)
  {
    const CeedScalar x = g[0][i], y = g[1][i], z = g[2][i];

    v[0][i] = D[0][i] * x + D[1][i] * y + D[2][i] * z;
    v[1][i] = D[1][i] * x + D[3][i] * y + D[4][i] * z;
    v[2][i] = D[2][i] * x + D[4][i] * y + D[5][i] * z;
  }
  return CEED_ERROR_SUCCESS;
}

/* in: du/dX [3][Q], data [7][Q], u [Q]; out: what the gradients of test functions meet [3][Q], and what their
   values meet [Q] */
CEED_QFUNCTION(ApplyBoth)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out)
{
  const CeedScalar(*g)[CEED_Q_VLA] = (const CeedScalar(*)[CEED_Q_VLA])in[0];
  const CeedScalar(*D)[CEED_Q_VLA] = (const CeedScalar(*)[CEED_Q_VLA])in[1];
  const CeedScalar *u              = in[2];
  CeedScalar(*v)[CEED_Q_VLA]       = (CeedScalar(*)[CEED_Q_VLA])out[0];
  CeedScalar *m                    = out[1];

  CeedPragmaSIMD for (CeedInt i = 0; i < Q; ++i)
  {
    const CeedScalar x = g[0][i], y = g[1][i], z = g[2][i];

    v[0][i] = D[0][i] * x + D[1][i] * y + D[2][i] * z;
    v[1][i] = D[1][i] * x + D[3][i] * y + D[4][i] * z;
    v[2][i] = D[2][i] * x + D[4][i] * y + D[5][i] * z;
    m[i]    = D[6][i] * u[i];
  }
  return CEED_ERROR_SUCCESS;
}
