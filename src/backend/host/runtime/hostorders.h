/* Orders with specialised host kernels: X(P_1d, Q_1d), in 2D and 3D. Any other pair runs the generic
   kernel. */
#pragma once
#if defined(__SANITIZE_ADDRESS__) /* a few suffice there: instrumented, all of them take minutes to compile */
  #define HOPS_HOST_ORDERS(X) \
    X(2, 2) \
    X(3, 4) \
    X(4, 4)
#elif defined(HOPS_HOST_SINGLE) /* the default quadrature */
  #define HOPS_HOST_ORDERS(X) \
    X(2, 3) \
    X(3, 4) \
    X(4, 5) \
    X(5, 6) \
    X(6, 7) \
    X(7, 8) \
    X(8, 9) \
    X(9, 10)
#else
  #define HOPS_HOST_ORDERS(X) \
    X(2, 2) \
    X(2, 3) \
    X(3, 3) \
    X(3, 4) \
    X(4, 4) \
    X(4, 5) \
    X(5, 5) \
    X(5, 6) \
    X(6, 6) \
    X(6, 7) \
    X(7, 7) \
    X(7, 8) \
    X(8, 8) \
    X(8, 9) \
    X(9, 9) \
    X(9, 10)
#endif

/* Patches of so many unknowns in a direction have specialised kernels: 2p - 1, and p at boundaries, of the
   vertex patch of order p */
#if defined(__SANITIZE_ADDRESS__)
  #define HOPS_HOST_PATCHES(X) \
    X(1) \
    X(3) \
    X(5)
#else
  #define HOPS_HOST_PATCHES(X) \
    X(1) \
    X(2) \
    X(3) \
    X(4) \
    X(5) \
    X(6) \
    X(7) \
    X(8) \
    X(9) \
    X(11) \
    X(13) \
    X(15)
#endif

/* Windows of n among n + 2 nodes: two cells without their ends */
#if defined(__SANITIZE_ADDRESS__)
  #define HOPS_HOST_SWEEPS(X) \
    X(1) \
    X(3) \
    X(5)
#else
  #define HOPS_HOST_SWEEPS(X) \
    X(1) \
    X(3) \
    X(5) \
    X(7) \
    X(9) \
    X(11) \
    X(13) \
    X(15)
#endif
