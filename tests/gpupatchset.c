static char help[] =
  "Local solves of sets of patches on a device against plain loops: cubes (by vector units and by tensor cores), bricks and\n\
  dense inverses, all modes.\n\
  -dim <d> -sizes <n,...>\n\n";

#include <petscsys.h>

#if defined(PETSC_HAVE_CUDA)
  #include <backend/cuda/patch/cudapatchset.h>

  #define NP      8003
  #define NCOLORS 3

/* z += corrections, by loops over all entries of a patch */
static PetscErrorCode Reference(const HopsCudaPatchInput *in, int color, HopsCudaPatchMode mode, const PetscReal r[], PetscReal z[])
{
  PetscReal *u, *w;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(in->start[in->n], &u, in->start[in->n], &w));
  for (PetscInt p = 0; p < in->n; ++p) {
    const PetscInt s = in->start[p], n = in->start[p + 1] - s;
    const int     *size = in->size[p];

    if (color >= 0 && in->color[p] != color) continue;
    for (PetscInt e = 0; e < n; ++e) {
      const int i = in->idx[s + e];

      u[e] = i == in->nP - 1 || (mode == HOPS_CUDA_PATCH_RESTRICT_IN && in->level[i] != in->dist[s + e]) ? 0.0 : r[i];
    }
    if (in->dense[p] >= 0) {
      for (PetscInt e = 0; e < n; ++e) {
        w[e] = 0.0;
        for (PetscInt k = 0; k < n; ++k) w[e] += in->inv[in->dense[p] + e * n + k] * u[k];
      }
      PetscCall(PetscArraycpy(u, w, n));
    } else {
      for (int t = 0; t < 2; ++t) {
        for (PetscInt d = 0, stride = 1; d < in->dim; stride *= size[d++]) {
          const PetscReal *S = in->values + in->foffset[in->factor[p][d]];

          for (PetscInt e = 0; e < n; ++e) {
            const PetscInt i = e / stride % size[d];

            w[e] = 0.0;
            for (PetscInt k = 0; k < size[d]; ++k) w[e] += (t ? S[i * size[d] + k] : S[k * size[d] + i]) * u[e + (k - i) * stride];
          }
          PetscCall(PetscArraycpy(u, w, n));
        }
        for (PetscInt e = 0; e < n && !t; ++e) {
          PetscReal lambda = in->scale[p][3];

          for (PetscInt d = 0, stride = 1; d < in->dim; stride *= size[d++])
            lambda += in->scale[p][d] * in->values[in->foffset[in->factor[p][d]] + size[d] * size[d] + e / stride % size[d]];
          u[e] *= in->scale[p][4] / lambda;
        }
      }
    }
    for (PetscInt e = 0; e < n; ++e) {
      const int i = in->idx[s + e];

      if (i != in->nP - 1 && (mode != HOPS_CUDA_PATCH_RESTRICT_OUT || in->level[i] == in->dist[s + e])) z[i] += u[e];
    }
  }
  PetscCall(PetscFree2(u, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Three patches of each colour: a cube of size n, a brick near it, and a dense one where that is small */
typedef struct {
  HopsCudaPatchInput in;
  PetscInt           start[3 * NCOLORS + 1], dense[3 * NCOLORS], foffset[4];
  int                size[3 * NCOLORS][3], factor[3 * NCOLORS][3], color[3 * NCOLORS], fsize[4], *idx, *level;
  PetscReal          scale[3 * NCOLORS][5], *values, *inv;
  unsigned char     *dist;
} Patches;

/* Sizes of the patches, and of what they share */
static PetscErrorCode CreateShapes(Patches *pt, PetscInt size, PetscRandom rand, PetscInt *nvalues)
{
  HopsCudaPatchInput *in = &pt->in;
  PetscReal           v;

  PetscFunctionBeginUser;
  *nvalues = 0;
  for (int f = 0; f < 4; ++f) { /* 0, 1: of the cube; 2, 3: of the brick */
    pt->fsize[f]   = (int)(f < 2 ? size : PetscMax(1, size + 1 - 3 * (f - 2)));
    pt->foffset[f] = *nvalues;
    *nvalues += pt->fsize[f] * (pt->fsize[f] + 1);
  }
  for (int p = 0; p < in->n; ++p) {
    const int kind  = p / NCOLORS;
    PetscInt  total = 1;

    pt->color[p] = p % NCOLORS;
    for (int d = 0; d < 3; ++d) {
      pt->factor[p][d] = kind == 1 ? 2 + (d + p) % 2 : (d + p) % 2;
      pt->size[p][d]   = d < in->dim ? (kind == 2 ? (int)PetscMin(size, 6) : pt->fsize[pt->factor[p][d]]) : 1;
      total *= pt->size[p][d];
    }
    pt->start[p + 1] = pt->start[p] + total;
    pt->dense[p]     = -1;
    if (kind == 2) {
      pt->dense[p] = in->ninv;
      in->ninv += total * total;
    }
    for (int k = 0; k < 5; ++k) {
      PetscCall(PetscRandomGetValueReal(rand, &v));
      pt->scale[p][k] = 0.5 + v;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Patches of a colour share no unknown, those of different ones do; some entries stand for nothing */
static PetscErrorCode CreateEntries(Patches *pt, PetscRandom rand)
{
  PetscReal v;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < NP; ++i) pt->level[i] = 9;
  for (int c = 0; c < NCOLORS; ++c) {
    PetscInt next = c;

    for (int p = 0; p < pt->in.n; ++p)
      for (PetscInt e = pt->start[p]; e < pt->start[p + 1] && pt->color[p] == c; ++e) {
        PetscCall(PetscRandomGetValueReal(rand, &v));
        pt->idx[e]            = v < 0.1 || next >= NP - 1 ? NP - 1 : (int)((next++ * 7) % (NP - 1)); /* NP - 1 is prime to 7 */
        pt->dist[e]           = (unsigned char)(4 * v);
        pt->level[pt->idx[e]] = PetscMin(pt->level[pt->idx[e]], pt->dist[e]);
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreatePatches(PetscInt dim, PetscInt size, PetscBool single, PetscRandom rand, Patches *pt)
{
  HopsCudaPatchInput *in = &pt->in;
  PetscInt            nvalues, total;
  PetscReal           v;

  PetscFunctionBeginUser;
  *pt = (Patches){.in = {.dim = (int)dim, .single = single, .n = 3 * NCOLORS, .ncolors = NCOLORS, .nP = NP, .nfactors = 4}};
  PetscCall(CreateShapes(pt, size, rand, &nvalues));
  total = pt->start[in->n];
  PetscCall(PetscMalloc5(nvalues, &pt->values, in->ninv, &pt->inv, total, &pt->idx, total, &pt->dist, NP, &pt->level));
  for (PetscInt i = 0; i < nvalues; ++i) {
    PetscCall(PetscRandomGetValueReal(rand, &v));
    pt->values[i] = v - 0.3;
  }
  for (int f = 0; f < 4; ++f)
    for (int i = 0; i < pt->fsize[f]; ++i) pt->values[pt->foffset[f] + pt->fsize[f] * pt->fsize[f] + i] = 1.0 + i;
  for (PetscInt i = 0; i < in->ninv; ++i) PetscCall(PetscRandomGetValueReal(rand, &pt->inv[i]));
  PetscCall(CreateEntries(pt, rand));
  in->start   = pt->start;
  in->idx     = pt->idx;
  in->dist    = pt->dist;
  in->level   = pt->level;
  in->size    = (const int(*)[3])pt->size;
  in->factor  = (const int(*)[3])pt->factor;
  in->scale   = (const PetscReal(*)[5])pt->scale;
  in->color   = pt->color;
  in->dense   = pt->dense;
  in->inv     = pt->inv;
  in->fsize   = pt->fsize;
  in->foffset = pt->foffset;
  in->values  = pt->values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(PetscInt dim, PetscInt size, PetscBool single, PetscBool tensor)
{
  Patches          pt;
  HopsCudaPatchSet set;
  PetscReal        r[NP], z[NP], worst = 0.0;
  PetscRandom      rand;
  double          *rd, *zd, y[NP];
  PetscBool        has;

  PetscFunctionBeginUser;
  HopsCudaPatchTensor = tensor;
  PetscCall(HopsCudaPatchHasTensor(&has));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(CreatePatches(dim, size, single, rand, &pt));
  for (PetscInt i = 0; i < NP; ++i) PetscCall(PetscRandomGetValueReal(rand, &r[i]));
  PetscCall(HopsCudaPatchSetCreate(&pt.in, &set));
  PetscCallCUDA(cudaMalloc((void **)&rd, sizeof(r)));
  PetscCallCUDA(cudaMalloc((void **)&zd, sizeof(z)));
  PetscCallCUDA(cudaMemcpy(rd, r, sizeof(r), cudaMemcpyHostToDevice));
  for (int c = -1; c < NCOLORS; ++c)
    for (int mode = HOPS_CUDA_PATCH_PLAIN; mode <= HOPS_CUDA_PATCH_RESTRICT_IN; ++mode) {
      PetscReal num = 0.0, den = 0.0;

      for (PetscInt i = 0; i < NP; ++i) z[i] = 0.01 * i / NP;
      PetscCallCUDA(cudaMemcpy(zd, z, sizeof(z), cudaMemcpyHostToDevice));
      PetscCall(HopsCudaPatchSetApply(set, c, (HopsCudaPatchMode)mode, rd, zd, 0));
      PetscCall(Reference(&pt.in, c, (HopsCudaPatchMode)mode, r, z));
      PetscCallCUDA(cudaMemcpy(y, zd, sizeof(y), cudaMemcpyDeviceToHost));
      for (PetscInt i = 0; i < NP; ++i) {
        num += PetscSqr(y[i] - z[i]);
        den += PetscSqr(z[i]);
      }
      if (!(PetscSqrtReal(num / den) <= worst)) worst = PetscSqrtReal(num / den);
    }
  PetscCallCUDA(cudaFree(rd));
  PetscCallCUDA(cudaFree(zd));
  PetscCall(HopsCudaPatchSetDestroy(&set));
  PetscCall(PetscFree5(pt.values, pt.inv, pt.idx, pt.dist, pt.level));
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "size %" PetscInt_FMT ", %s precision%s: ", size, single ? "single" : "double",
                        tensor && has ? ", tensor cores" : ""));
  if (worst < (single ? 1e-5 : 1e-12)) PetscCall(PetscPrintf(PETSC_COMM_SELF, "agree\n"));
  else PetscCall(PetscPrintf(PETSC_COMM_SELF, "differ by %g\n", (double)worst));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  dim = 3, sizes[16], n = 16;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &n, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -sizes");
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt single = 0; single < 2; ++single) PetscCall(Run(dim, sizes[i], single ? PETSC_TRUE : PETSC_FALSE, PETSC_FALSE));
    if (dim == 3 && sizes[i] % 2 && sizes[i] >= 5) PetscCall(Run(dim, sizes[i], PETSC_FALSE, PETSC_TRUE));
  }
  PetscCall(PetscFinalize());
  return 0;
}
#else
int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_SUP, "This PETSc has no CUDA");
}
#endif

/*TEST

  build:
    requires: cuda

  test:
    suffix: 2d
    args: -dim 2 -sizes 1,2,3,5,7,9,11,13,15,17

  test:
    suffix: 3d
    args: -dim 3 -sizes 1,2,3,5,7,9,11,13,15

TEST*/
