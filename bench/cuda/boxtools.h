/* Right-hand sides and errors of a uniform box on the device, as products of functions of one coordinate */
#pragma once
#include <petscsys.h>

EXTERN_C_BEGIN
/* x[i,j,k] = c g[0][i] g[1][j] g[2][k], zero on the boundary; g on the host, n[a] = 1 beyond the dimension.
   An error code of CUDA is returned. */
PETSC_INTERN int BoxFill(const int n[3], double c, const double *const g[3], double *x);
/* sum over the cells of the integral of (u - e_0 e_1 e_2)^2 by Q points per direction on unit cells;
   B[Q][p+1], w[Q], e[a][ncells[a] Q] on the host */
PETSC_INTERN int BoxError(int dim, int p, const int ncells[3], int Q, const double *B, const double *w, const double *const e[3],
                          const double *u, double *sum);
EXTERN_C_END
