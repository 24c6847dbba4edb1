static char help[] =
  "Kernels of patches on a device: vertex-patch sweeps over boxes against dense local solves on the host, and local solves of\n\
  sets of patches against plain loops: cubes (by vector units and by tensor cores), bricks and dense inverses, all modes.\n\
  -dim <d> -orders <p,...> -ncells <n0,n1,n2> -each <patches of a part of a walk> -library <the library's kernels alone>\n\
  -dim <d> -sizes <n,...> -backends host,<cuda or kokkos>: sets of patches of these sizes, there\n\n";

#include <petscsys.h>

#if defined(PETSC_HAVE_CUDA)
  #include "../bench/cuda/patchbox.h"
  #include <backend/cuda/patch/cudapatchlanes.h>
#endif
#if defined(HOPS_HAVE_KOKKOS)
  #include <backend/kokkos/patch/kokkospatch.h>
#endif

#if defined(PETSC_HAVE_CUDA)

/* The library's sweep from zero, over x that holds NaN inside, gives bit by bit what one from an x set to
   zero does */
static PetscErrorCode SweepFromZero(Box *box, PetscBool reverse, PetscBool *same)
{
  const PetscInt nx = box->ncells[0] * box->p + 1, ny = box->ncells[1] * box->p + 1,
                 nz = box->dim == 3 ? box->ncells[2] * box->p + 1 : 1;
  const size_t size = box->single ? 4 : 8;
  PetscReal   *x, *b;
  void        *y[2];
  PetscRandom  rand;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(box->nnodes, &x, box->nnodes, &b, box->nnodes * size, (char **)&y[0], box->nnodes * size, (char **)&y[1]));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (PetscInt64 i = 0; i < box->nnodes; ++i) PetscCall(PetscRandomGetValueReal(rand, &b[i]));
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(BoxCopy(box, box->nnodes, b, &box->b));
  for (int zero = 0; zero < 2; ++zero) {
    for (PetscInt64 i = 0; i < box->nnodes; ++i) {
      const PetscInt64 j = i / nx % ny, k = i / nx / ny;
      const PetscBool  inside =
        i % nx && i % nx < nx - 1 && j && j < ny - 1 && (box->dim == 2 || (k && k < nz - 1)) ? PETSC_TRUE : PETSC_FALSE;

      x[i] = zero && inside ? NAN : 0.0;
    }
    PetscCall(BoxCopy(box, box->nnodes, x, &box->x));
    PetscCall(HopsCudaPatchSweep(box->modal, 0, 1 << box->dim, reverse, zero ? PETSC_TRUE : PETSC_FALSE, box->b, box->x, 0));
    PetscCallCUDA(cudaMemcpy(y[zero], box->x, box->nnodes * size, cudaMemcpyDeviceToHost));
  }
  PetscCall(PetscMemcmp(y[0], y[1], box->nnodes * size, same));
  PetscCall(PetscFree4(x, b, y[0], y[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweeps(PetscInt dim)
{
  PetscInt  orders[8], n = 8, nc = 3, ncells[3] = {4, 3, 3}, each = 0;
  PetscBool set, library = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &n, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-ncells", ncells, &nc, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-each", &each, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-library", &library, NULL));
  for (PetscInt i = 0; i < n; ++i) {
    PetscBool good = PETSC_TRUE;

    for (PetscInt single = 0; single < 2; ++single)
      for (PetscInt mass = 0; mass < 2; ++mass) {
        const PetscBool reverse = mass ? PETSC_TRUE : PETSC_FALSE;
        Box             box;

        PetscCall(BoxCreate(dim, orders[i], ncells, 0.7 * mass, single ? PETSC_TRUE : PETSC_FALSE, &box));
        box.modal->each = (int)each;
        for (BoxKind kind = library ? BOX_MODAL : BOX_GLOBAL; kind < BOX_NKINDS; kind = (BoxKind)(kind + 1)) {
          PetscReal error;
          PetscBool ok = PETSC_FALSE;

          PetscCall(BoxCompare(&box, kind, reverse, &ok, &error));
          if (!ok) continue; /* more shared memory than a block has */
          if (!(error < (single ? 1e-5 : 1e-12))) {
            PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", %s precision, %s: %.2e\n", orders[i],
                                  single ? "single" : "double", BoxKinds[kind], (double)error));
            good = PETSC_FALSE;
          }
        }
        for (int r = 0; r < 2; ++r) {
          PetscBool same;

          PetscCall(SweepFromZero(&box, r ? PETSC_TRUE : PETSC_FALSE, &same));
          if (!same) {
            PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", %s precision: a %s sweep from zero differs\n",
                                  orders[i], single ? "single" : "double", r ? "backward" : "forward"));
            good = PETSC_FALSE;
          }
        }
        PetscCall(BoxDestroy(&box));
      }
    if (good)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": all kernels agree with dense local solves\n", orders[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode Sweeps(PetscInt dim)
{
  PetscFunctionBeginUser;
  SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_SUP, "This PETSc has no CUDA");
}
#endif

#if defined(PETSC_HAVE_CUDA) || defined(HOPS_HAVE_KOKKOS)
  #define NP      8003
  #define NCOLORS 3

/* z += corrections, by loops over all entries of a patch */
static PetscErrorCode Reference(const HopsLanesPatchInput *in, int color, HopsPatchMode mode, const PetscReal r[], PetscReal z[])
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

      u[e] = i == in->nP - 1 || (mode == HOPS_PATCH_RESTRICT_IN && in->level[i] != in->dist[s + e]) ? 0.0 : r[i];
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

      if (i != in->nP - 1 && (mode != HOPS_PATCH_RESTRICT_OUT || in->level[i] == in->dist[s + e])) z[i] += u[e];
    }
  }
  PetscCall(PetscFree2(u, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MIXED: three patches of each colour, a cube of size n, a brick near it, a dense one where that is small.
   CUBES: as many cubes of one colour, more than a host's group; SAME: all have the same factors; EVEN:
   modes are even or odd */
enum {
  MIXED = 0,
  CUBES = 1,
  SAME  = 2,
  EVEN  = 4
};

typedef struct {
  HopsLanesPatchInput in;
  int                 shapes;
  PetscInt            start[3 * NCOLORS + 1], dense[3 * NCOLORS], foffset[4];
  int                 size[3 * NCOLORS][3], factor[3 * NCOLORS][3], color[3 * NCOLORS], fsize[4], *idx, *level;
  PetscReal           scale[3 * NCOLORS][5], *values, *inv;
  unsigned char      *dist, feven[4];
} Patches;

/* Sizes of the patches, and of what they share */
static PetscErrorCode CreateShapes(Patches *pt, PetscInt size, PetscRandom rand, PetscInt *nvalues)
{
  HopsLanesPatchInput *in = &pt->in;
  PetscReal            v;

  PetscFunctionBeginUser;
  *nvalues = 0;
  for (int f = 0; f < 4; ++f) { /* 0, 1: of the cube; 2, 3: of the brick */
    pt->fsize[f]   = (int)(f < 2 ? size : PetscMax(1, size + 1 - 3 * (f - 2)));
    pt->foffset[f] = *nvalues;
    *nvalues += pt->fsize[f] * (pt->fsize[f] + 1);
  }
  for (int p = 0; p < in->n; ++p) {
    const int kind = pt->shapes ? 0 : p / NCOLORS, turn = pt->shapes & SAME ? 0 : p;
    PetscInt  total = 1;

    pt->color[p] = p % (int)in->ncolors;
    for (int d = 0; d < 3; ++d) {
      pt->factor[p][d] = kind == 1 ? 2 + (d + turn) % 2 : (d + turn) % 2;
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

/* Patches of a colour share no unknown, those of different ones do, and those of an only one; some entries
   stand for nothing */
static PetscErrorCode CreateEntries(Patches *pt, PetscRandom rand)
{
  PetscReal v;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < NP; ++i) pt->level[i] = 9;
  for (int c = 0; c < pt->in.ncolors; ++c) {
    PetscInt next = c;

    for (int p = 0; p < pt->in.n; next = pt->shapes ? p : next, ++p)
      for (PetscInt e = pt->start[p]; e < pt->start[p + 1] && pt->color[p] == c; ++e) {
        PetscCall(PetscRandomGetValueReal(rand, &v));
        pt->idx[e]            = v < 0.1 || next >= NP - 1 ? NP - 1 : (int)((next++ * 7) % (NP - 1)); /* NP - 1 is prime to 7 */
        pt->dist[e]           = (unsigned char)(4 * v);
        pt->level[pt->idx[e]] = PetscMin(pt->level[pt->idx[e]], pt->dist[e]);
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Even modes, then odd ones */
static void MakeEven(PetscInt n, PetscReal S[])
{
  for (PetscInt i = 0; i < (n + 1) / 2; ++i)
    for (PetscInt m = 0; m < n; ++m) {
      if (m >= (n + 1) / 2 && 2 * i == n - 1) S[i * n + m] = 0.0;
      S[(n - 1 - i) * n + m] = m < (n + 1) / 2 ? S[i * n + m] : -S[i * n + m];
    }
}

static PetscErrorCode CreatePatches(PetscInt dim, PetscInt size, PetscBool single, int shapes, PetscRandom rand, Patches *pt)
{
  HopsLanesPatchInput *in = &pt->in;
  PetscInt             nvalues, total;
  PetscReal            v;

  PetscFunctionBeginUser;
  *pt            = (Patches){.in = {.dim = (int)dim, .single = single, .n = 3 * NCOLORS, .nP = NP, .nfactors = 4}};
  pt->shapes     = shapes;
  pt->in.ncolors = shapes ? 1 : NCOLORS;
  PetscCall(CreateShapes(pt, size, rand, &nvalues));
  total = pt->start[in->n];
  PetscCall(PetscMalloc5(nvalues, &pt->values, in->ninv, &pt->inv, total, &pt->idx, total, &pt->dist, NP, &pt->level));
  for (PetscInt i = 0; i < nvalues; ++i) {
    PetscCall(PetscRandomGetValueReal(rand, &v));
    pt->values[i] = v - 0.3;
  }
  for (int f = 0; f < 4; ++f) {
    pt->feven[f] = (unsigned char)(shapes & EVEN ? 1 : 0);
    if (pt->feven[f]) MakeEven(pt->fsize[f], pt->values + pt->foffset[f]);
    for (int i = 0; i < pt->fsize[f]; ++i) pt->values[pt->foffset[f] + pt->fsize[f] * pt->fsize[f] + i] = 1.0 + i;
  }
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
  in->feven   = pt->feven;
  in->values  = pt->values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The greatest difference, of all colours and modes */
static PetscErrorCode Run(const HopsLanesPatchKernels *kernels, PetscInt dim, PetscInt size, PetscBool single, int shapes,
                          PetscReal *worst)
{
  const HopsMemoryOps *memory = kernels->backend->memory;
  Patches              pt;
  HopsLanesPatchSet    set;
  PetscReal            r[NP], z[NP];
  PetscRandom          rand;
  double              *rd, *zd, y[NP];

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(CreatePatches(dim, size, single, shapes, rand, &pt));
  for (PetscInt i = 0; i < NP; ++i) PetscCall(PetscRandomGetValueReal(rand, &r[i]));
  PetscCall(HopsLanesPatchSetCreate(kernels, &pt.in, &set));
  PetscCall((*memory->Malloc)(sizeof(r), (void **)&rd));
  PetscCall((*memory->Malloc)(sizeof(z), (void **)&zd));
  PetscCall((*memory->Copy)(NULL, rd, r, sizeof(r), HOPS_COPY_IN));
  for (int c = -1; c < (shapes ? 0 : NCOLORS); ++c)
    for (int mode = HOPS_PATCH_PLAIN; mode <= HOPS_PATCH_RESTRICT_IN; ++mode) {
      PetscReal num = 0.0, den = 0.0;

      for (PetscInt i = 0; i < NP; ++i) z[i] = 0.01 * i / NP;
      PetscCall((*memory->Copy)(NULL, zd, z, sizeof(z), HOPS_COPY_IN));
      PetscCall(HopsLanesPatchSetApply(set, c, (HopsPatchMode)mode, PETSC_FALSE, rd, zd));
      PetscCall(Reference(&pt.in, c, (HopsPatchMode)mode, r, z));
      PetscCall((*memory->Copy)(NULL, y, zd, sizeof(y), HOPS_COPY_OUT));
      for (PetscInt i = 0; i < NP; ++i) {
        num += PetscSqr(y[i] - z[i]);
        den += PetscSqr(z[i]);
      }
      if (!(PetscSqrtReal(num / den) <= *worst)) *worst = PetscSqrtReal(num / den);
    }
  PetscCall((*memory->Free)((void **)&rd));
  PetscCall((*memory->Free)((void **)&zd));
  PetscCall(HopsLanesPatchSetDestroy(&set));
  PetscCall(PetscFree5(pt.values, pt.inv, pt.idx, pt.dist, pt.level));
  PetscCall(PetscRandomDestroy(&rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetKernels(const HopsLanesPatchKernels **kernels)
{
  char name[64] = "", *comma;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-backends", name, sizeof(name), NULL));
  comma    = strchr(name, ',');
  *kernels = NULL;
  #if defined(PETSC_HAVE_CUDA)
  if (comma && !strcmp(comma + 1, "cuda")) *kernels = &HopsPatchKernelsCUDA;
  #endif
  #if defined(HOPS_HAVE_KOKKOS)
  if (comma && !strcmp(comma + 1, "kokkos")) *kernels = &HopsPatchKernelsKokkos;
  #endif
  PetscCheck(*kernels, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -backends host,cuda or host,kokkos, whichever this build has");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In double precision, in single precision, and in double precision on tensor cores where there are any */
static PetscErrorCode Sets(PetscInt dim)
{
  const char *const            names[] = {"double precision", "single precision", "double precision on tensor cores"};
  const HopsLanesPatchKernels *kernels = NULL;
  PetscInt                     sizes[16], n = 16;
  PetscBool                    set;

  PetscFunctionBeginUser;
  PetscCall(GetKernels(&kernels));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &n, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -sizes");
  for (PetscInt i = 0; i < n; ++i) {
    PetscBool good = PETSC_TRUE;

    for (int k = 0; k < (kernels->HasTensor ? 3 : 2); ++k) {
      const int shapes[] = {MIXED, CUBES, CUBES | SAME, CUBES | EVEN, CUBES | SAME | EVEN};
      PetscReal worst    = 0.0;

      HopsLanesPatchTensor = k == 2 ? 1 : 0;
      for (int j = 0; j < 5; ++j) PetscCall(Run(kernels, dim, sizes[i], k == 1 ? PETSC_TRUE : PETSC_FALSE, shapes[j], &worst));
      if (worst < (k == 1 ? 1e-5 : 1e-12)) continue;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "size %" PetscInt_FMT ", %s: differ by %g\n", sizes[i], names[k], (double)worst));
      good = PETSC_FALSE;
    }
    if (good) PetscCall(PetscPrintf(PETSC_COMM_SELF, "size %" PetscInt_FMT ": sets agree with plain loops\n", sizes[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode Sets(PetscInt dim)
{
  PetscFunctionBeginUser;
  SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_SUP, "Neither CUDA nor Kokkos is here");
}
#endif

int main(int argc, char **argv)
{
  PetscInt  dim = 3;
  PetscBool sets;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-sizes", &sets));
#if defined(PETSC_HAVE_CUDA)
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
#endif
  PetscCall(sets ? Sets(dim) : Sweeps(dim));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    requires: cuda
    test:
      suffix: cuda_2d
      args: -dim 2 -orders 1,2,3,4,5,6,7,8 -ncells 9,6

    test:
      suffix: cuda_3d
      args: -dim 3 -orders 1,2,3,4,5 -ncells 4,5,3

    test:
      suffix: cuda_3d_row
      args: -dim 3 -orders 2,3,4 -ncells 23,3,2

    test:
      suffix: cuda_3d_row_high
      args: -dim 3 -orders 5 -ncells 9,2,3

    test:
      suffix: cuda_3d_high
      args: -dim 3 -orders 6,7 -ncells 3,3,2
      timeoutfactor: 3

    test:
      suffix: cuda_3d_row_highest
      args: -dim 3 -orders 6,7 -ncells 8,2,2
      timeoutfactor: 3

    test:
      suffix: cuda_3d_highest
      args: -dim 3 -orders 8 -ncells 3,2,3
      timeoutfactor: 3

    test:
      suffix: cuda_3d_walk
      args: -dim 3 -orders 7 -ncells 3,2,8 -each {{1 2 9}}
      timeoutfactor: 3
      output_file: output/patchkernels_cuda_3d_walk.out

    test:
      suffix: cuda_3d_walk_odd
      args: -dim 3 -orders 7 -ncells 2,3,9 -each {{1 3 9}}
      timeoutfactor: 3
      output_file: output/patchkernels_cuda_3d_walk.out

    test:
      suffix: cuda_3d_walk_few
      args: -dim 3 -orders 7,8 -ncells {{2,2,2 2,2,3 2,2,4}}
      timeoutfactor: 3
      output_file: output/patchkernels_cuda_3d_walk_few.out

    test:
      suffix: cuda_3d_walk_middle
      args: -dim 3 -orders 5,6 -ncells {{10,6,5 11,7,4}} -library -each {{0 2}}
      timeoutfactor: 3
      output_file: output/patchkernels_cuda_3d_walk_middle.out

    test:
      suffix: cuda_3d_walk_middle_high
      args: -dim 3 -orders 7 -ncells 10,6,3 -library
      timeoutfactor: 3
      output_file: output/patchkernels_cuda_3d_walk.out

    test:
      suffix: cuda_3d_walk_middle_highest
      args: -dim 3 -orders 8 -ncells 10,6,3 -library
      timeoutfactor: 4
      output_file: output/patchkernels_cuda_3d_highest.out

    test:
      suffix: cuda_3d_walk_x
      args: -dim 3 -orders 5,6,7 -ncells {{2,4,6 4,2,6 5,3,3}} -library
      timeoutfactor: 3
      output_file: output/patchkernels_cuda_3d_walk_x.out

  testset:
    requires: cuda
    args: -backends host,cuda
    test:
      suffix: cuda_set_2d
      args: -dim 2 -sizes 1,2,3,5,7,9,11,13,15,17
    test:
      suffix: cuda_set_3d
      args: -dim 3 -sizes 1,2,3,5,7,9,11,13,15

TEST*/
