/* Nodes per direction P_1d with specialised CUDA kernels, each for Q_1d = P_1d and P_1d + 1 points, in 2D and 3D (one file
   cudapa_P.cu each). Any other pair runs the generic kernels. */
#pragma once
#define HOPS_CUDA_ORDERS(X) \
  X(2) \
  X(3) \
  X(4) \
  X(5) \
  X(6) \
  X(7) \
  X(8) \
  X(9)
