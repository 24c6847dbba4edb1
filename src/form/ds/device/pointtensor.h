/* Tensors at a point, in reference coordinates. Both the C compiler and the compiler of a device's code
   read this file, which has HOPS_POINT_FUNCTION for the first words of a function. */

/* The pairs of components pair[npairs][kind, test, trial, entry], whose tensors are w times those of g[kind],
   from q[entry * stride] on, once where pairs have the same; Ji is the inverse Jacobian */
HOPS_POINT_FUNCTION void HopsTensorsAtPoint(int dim, int npairs, const int *pair, int ntrial, double w, const double *Ji,
                                            const double *const g[4], size_t stride, double *q)
{
  int next = 0;

  for (int j = 0; j < npairs; ++j, pair += 4) {
    const int     kind = pair[0], na = kind & 2 ? dim : 1, nb = kind & 1 ? dim : 1;
    const double *v   = g[kind] + (size_t)(pair[1] * ntrial + pair[2]) * na * nb;
    double       *ent = q + pair[3] * stride;

    if (pair[3] < next) continue;
    next += na * nb;
    for (int a = 0; a < na; ++a) {
      double r[3] = {0, 0, 0};

      for (int e = 0; e < na; ++e)
        for (int f = 0; f < nb; ++f) r[f] += (kind & 2 ? Ji[a * dim + e] : 1.0) * v[e * nb + f];
      for (int b = 0; b < nb; ++b, ent += stride) {
        double s = 0;

        for (int f = 0; f < nb; ++f) s += r[f] * (kind & 1 ? Ji[b * dim + f] : 1.0);
        *ent = w * s;
      }
    }
  }
}
