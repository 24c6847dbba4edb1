/* The adjugate of a Jacobian, for host and device: a function of double or of a vector of lanes. */
#pragma once

/* A = det(J) J^-1, row-major; returns det(J) */
#define HOPS_ADJUGATE(qualifiers, real) \
  qualifiers real Adjugate(const int dim, const real J[], real A[]) \
  { \
    if (dim == 2) { \
      A[0] = J[3]; \
      A[1] = -J[1]; \
      A[2] = -J[2]; \
      A[3] = J[0]; \
      return J[0] * J[3] - J[1] * J[2]; \
    } \
    A[0] = J[4] * J[8] - J[5] * J[7]; \
    A[1] = J[2] * J[7] - J[1] * J[8]; \
    A[2] = J[1] * J[5] - J[2] * J[4]; \
    A[3] = J[5] * J[6] - J[3] * J[8]; \
    A[4] = J[0] * J[8] - J[2] * J[6]; \
    A[5] = J[2] * J[3] - J[0] * J[5]; \
    A[6] = J[3] * J[7] - J[4] * J[6]; \
    A[7] = J[1] * J[6] - J[0] * J[7]; \
    A[8] = J[0] * J[4] - J[1] * J[3]; \
    return J[0] * A[0] + J[1] * A[3] + J[2] * A[6]; \
  }
