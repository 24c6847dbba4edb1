/* Orders with kernels of their own: an object each, as the makefile lists them. Others run the generic
   kernels. */
#pragma once

/* Points per direction Q_1d with kernels of full tensors that know all sizes, for Q_1d and Q_1d - 1 nodes */
#define HOPS_TENSOR_POINTS(X) \
  X(2) \
  X(3) \
  X(4) \
  X(5) \
  X(6) \
  X(7) \
  X(8)

/* Nodes per direction P_1d with fused kernels in H(curl), H(div) and L2, for Q_1d = P_1d and P_1d + 1
   points */
#define HOPS_DERHAM_NODES(X) \
  HOPS_TENSOR_POINTS(X) \
  X(9)

/* Points per direction Q_1d with fused kernels in H1 in 2D and 3D in single precision, for every P_1d <=
   Q_1d */
#define HOPS_H1_SINGLE_POINTS(X) \
  HOPS_DERHAM_NODES(X) \
  X(10)

/* The same in double precision */
#define HOPS_H1_POINTS(X) \
  HOPS_H1_SINGLE_POINTS(X) \
  X(11) \
  X(12) \
  X(13) \
  X(14) \
  X(15) \
  X(16) \
  X(17) \
  X(18)

#define HOPS_TENSOR_MOST_POINTS    8
#define HOPS_DERHAM_MOST_NODES     9
#define HOPS_H1_MOST_SINGLE_POINTS 10
#define HOPS_H1_MOST_POINTS        18
