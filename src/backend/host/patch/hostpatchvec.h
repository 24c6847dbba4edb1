/* Local solves and sweeps on vectors of VECTORs; included by hostpatch.h, PATCHV() naming the functions. */

INLINE pvec PATCHV(PatchGather)(const int idx[], const VECTOR x[])
{
  if (sizeof(VECTOR) == 4) {
    pvec  v;
    REAL *s = (REAL *)&v;

    UNROLL
    for (int l = 0; l < LANES; l++) s[l] = (REAL)x[idx[l]];
    return v;
  }
  if (sizeof(REAL) == 8) return (pvec)Gather(idx, (const double *)x);
  else {
    typedef float half __attribute__((vector_size(4 * W)));
    union {
      half h[2];
      pvec v;
    } u;

    u.h[0] = __builtin_convertvector(Gather(idx, (const double *)x), half);
    u.h[1] = __builtin_convertvector(Gather(idx + W, (const double *)x), half);
    return u.v;
  }
}

/* Entries of all lanes, and their sum into z; restricted: entries count where no centre is nearer */
INLINE void PATCHV(LoadEntries)(const struct _HopsPatchKernel *k, const int n, const int idx[], const unsigned char dist[],
                                HopsPatchMode mode, const VECTOR r[], pvec u[])
{
  if (mode != HOPS_PATCH_RESTRICT_IN) {
    for (int i = 0; i < n; i++) u[i] = PATCHV(PatchGather)(idx + i * LANES, r);
  } else {
    REAL *s = (REAL *)u;

    for (int i = 0; i < n; i++)
      for (int l = 0; l < LANES; l++, idx++) s[i * LANES + l] = k->level[*idx] == dist[i] ? (REAL)r[*idx] : 0;
  }
}

INLINE void PATCHV(AddEntries)(const struct _HopsPatchKernel *k, const int n, const int idx[], const unsigned char dist[],
                               HopsPatchMode mode, const pvec u[], VECTOR z[])
{
  const REAL *s = (const REAL *)u;

  if (mode != HOPS_PATCH_RESTRICT_OUT) {
    for (int i = 0; i < n; i++) {
      UNROLL
      for (int l = 0; l < LANES; l++) z[idx[i * LANES + l]] += s[i * LANES + l];
    }
  } else {
    for (int i = 0; i < n; i++)
      for (int l = 0; l < LANES; l++)
        if (k->level[idx[i * LANES + l]] == dist[i]) z[idx[i * LANES + l]] += s[i * LANES + l];
  }
}

static void PATCHV(PatchSolve)(const struct _HopsPatchKernel *k, const void *batch, HopsPatchMode mode, const VECTOR r[],
                               VECTOR z[])
{
  const HopsHostPatchBatch *b = (const HopsHostPatchBatch *)batch;
  const int                 n = b->size[0] * b->size[1] * b->size[2], *idx = k->idx + b->idx;
  pvec                     *e = (pvec *)k->e;

  PATCHV(LoadEntries)
  (k, n, idx, b->dist, mode, r, e);
  PATCH(PatchInvert)
  (k, b, e);
  PATCHV(AddEntries)
  (k, n, idx, b->dist, mode, e, z);
}

/*
  z += R^T (local inverse) R (b - A z), A the tensor product on all nodes of the patches' cells, a plane of
  them at a time: A = s_5 (s_0 A_x M_y M_z + s_1 M_x A_y M_z + s_2 M_x M_y A_z + s_3 M_x M_y M_z)
*/
static void PATCHV(PatchSweep)(const struct _HopsPatchKernel *k, const void *batch, const VECTOR b[], VECTOR z[])
{
  const HopsHostPatchBatch *h  = (const HopsHostPatchBatch *)batch;
  const int                 nx = h->size[0], ny = h->size[1], nz = h->size[2], Nx = h->esize[0], Ny = h->esize[1], Nz = h->esize[2],
            n = nx * ny * nz, np = nx * ny;
  const int   kind = h->kind, *eidx = k->idx + h->eidx, *idx = k->idx + h->idx;
  const REAL *reals = (const REAL *)k->reals, *A[3], *M[3];
  const pvec *s     = (const pvec *)(reals + h->scale);
  pvec       *e = (pvec *)k->e, *plane = e + n, *mx = plane + Nx * Ny, *ax = mx + nx * Ny, *t = ax + nx * Ny, *c = t + np,
       *mm = c + np * Nz;
  Rect rect[3];

  for (int d = 0; d < k->dim; d++) {
    const int m = h->size[d];

    A[d]    = reals + h->matrix[d] + 2 * HOPS_PATCH_MATRIX(kind, m) + m * (kind == HOPS_HOST_PATCH_VARYING ? LANES : 1);
    M[d]    = A[d] + HOPS_PATCH_RECT(kind, m, h->esize[d]);
    rect[d] = FindRect(m, h->esize[d], kind);
  }
  for (int o = 0; o < Nz; o++) {
    pvec *co = c + o * np, *mo = mm + o * np;

    for (int i = 0; i < Nx * Ny; i++) plane[i] = PATCHV(PatchGather)(eidx + (o * Nx * Ny + i) * LANES, z);
    rect[0](nx, Nx, M[0], Ny, Nx, 1, plane, nx, 1, mx);
    rect[0](nx, Nx, A[0], Ny, Nx, 1, plane, nx, 1, ax);
    rect[1](ny, Ny, M[1], nx, 1, nx, mx, 1, nx, mo);
    rect[1](ny, Ny, A[1], nx, 1, nx, mx, 1, nx, t);
    for (int i = 0; i < np; i++) co[i] = s[1] * t[i] + s[3] * mo[i];
    rect[1](ny, Ny, M[1], nx, 1, nx, ax, 1, nx, t);
    for (int i = 0; i < np; i++) co[i] += s[0] * t[i];
  }
  if (k->dim == 3) {
    rect[2](nz, Nz, M[2], np, 1, np, c, 1, np, e);
    rect[2](nz, Nz, A[2], np, 1, np, mm, 1, np, c);
    for (int i = 0; i < n; i++) e[i] = PATCHV(PatchGather)(idx + i * LANES, b) - s[5] * (e[i] + s[2] * c[i]);
  } else
    for (int i = 0; i < n; i++) e[i] = PATCHV(PatchGather)(idx + i * LANES, b) - s[5] * c[i];
  PATCH(PatchInvert)
  (k, h, e);
  PATCHV(AddEntries)
  (k, n, idx, h->dist, HOPS_PATCH_PLAIN, e, z);
}
