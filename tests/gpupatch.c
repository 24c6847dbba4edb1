static char help[] = "Vertex-patch smoothing sweeps on a device against dense local solves on the host.\n\
  -dim <d> -orders <p,...> -ncells <n0,n1,n2> -each <patches of a part of a walk> -library <the library's kernels alone>\n\n";

#include <petscsys.h>

#if defined(PETSC_HAVE_CUDA)
  #include "../bench/cuda/patchbox.h"

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

int main(int argc, char **argv)
{
  PetscInt  dim = 3, orders[8], n = 8, nc = 3, ncells[3] = {4, 3, 3}, each = 0;
  PetscBool set, library = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
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
    args: -dim 2 -orders 1,2,3,4,5,6,7,8 -ncells 9,6

  test:
    suffix: 3d
    args: -dim 3 -orders 1,2,3,4,5 -ncells 4,5,3

  test:
    suffix: 3d_row
    args: -dim 3 -orders 2,3,4 -ncells 23,3,2

  test:
    suffix: 3d_row_high
    args: -dim 3 -orders 5 -ncells 9,2,3

  test:
    suffix: 3d_high
    args: -dim 3 -orders 6,7 -ncells 3,3,2
    timeoutfactor: 3

  test:
    suffix: 3d_row_highest
    args: -dim 3 -orders 6,7 -ncells 8,2,2
    timeoutfactor: 3

  test:
    suffix: 3d_highest
    args: -dim 3 -orders 8 -ncells 3,2,3
    timeoutfactor: 3

  test:
    suffix: 3d_walk
    args: -dim 3 -orders 7 -ncells 3,2,8 -each {{1 2 9}}
    timeoutfactor: 3
    output_file: output/gpupatch_3d_walk.out

  test:
    suffix: 3d_walk_odd
    args: -dim 3 -orders 7 -ncells 2,3,9 -each {{1 3 9}}
    timeoutfactor: 3
    output_file: output/gpupatch_3d_walk.out

  test:
    suffix: 3d_walk_few
    args: -dim 3 -orders 7,8 -ncells {{2,2,2 2,2,3 2,2,4}}
    timeoutfactor: 3
    output_file: output/gpupatch_3d_walk_few.out

  test:
    suffix: 3d_walk_middle
    args: -dim 3 -orders 5,6 -ncells {{10,6,5 11,7,4}} -library -each {{0 2}}
    timeoutfactor: 3
    output_file: output/gpupatch_3d_walk_middle.out

  test:
    suffix: 3d_walk_middle_high
    args: -dim 3 -orders 7 -ncells 10,6,3 -library
    timeoutfactor: 3
    output_file: output/gpupatch_3d_walk.out

  test:
    suffix: 3d_walk_middle_highest
    args: -dim 3 -orders 8 -ncells 10,6,3 -library
    timeoutfactor: 4
    output_file: output/gpupatch_3d_highest.out

  test:
    suffix: 3d_walk_x
    args: -dim 3 -orders 5,6,7 -ncells {{2,4,6 4,2,6 5,3,3}} -library
    timeoutfactor: 3
    output_file: output/gpupatch_3d_walk_x.out

TEST*/
