/* Public interface of MATHOPSBOX and PCBOXMG: uniform boxes on a CUDA device. */
#pragma once
#include <petscksp.h>
#include <hopsmat.h>

/*MC
  MATHOPSBOX - "hopsbox": the matrix-free operator of a scalar diffusion-reaction form on a uniform box, on a
  CUDA device.

  Level: intermediate

  Notes:
  Unknowns are all Gauss-Lobatto nodes of the box in lexicographic order, x fastest, those of the boundary
  included, whose rows are those of the identity: a right-hand side holds the essential values there. (The
  other rows keep their columns of the boundary; the operator is symmetric on vectors that vanish there.)

  Nothing is stored but 1D matrices of a cell. An application reads and writes each number about once.

.seealso: `MatCreateHopsBox()`, `PCBOXMG`, `MATPA`
M*/
#define MATHOPSBOX "hopsbox"

PETSC_EXTERN PetscErrorCode MatCreateHopsBox(MPI_Comm, PetscInt, PetscInt, const PetscInt[], const PetscReal[], const PetscReal[],
                                             PetscReal, Mat *);
PETSC_EXTERN PetscErrorCode MatHopsBoxGetNodes(Mat, PetscInt, PetscInt *, PetscReal *[]);

/*MC
  PCBOXMG - "boxmg": geometric multigrid with vertex patches for a uniform box (`MATHOPSBOX`), on a CUDA
  device.

  Options Database Keys:
+ -pc_boxmg_precision <double|single> - of the cycle, see `PCBoxMGSetPrecision()` (default double)
. -pc_boxmg_full <bool>               - a solve by `KSPRICHARDSON` from zero starts with nested iteration
  (default true)
. -pc_boxmg_ignore_guess <bool>       - a solve by `KSPRICHARDSON` starts from zero, whatever the vector of
  the solution holds
                                        (default false)
. -pc_boxmg_direction <forward|symmetric> - order of the colours after the coarse correction: as before it, or
  the other way
                                            round (default forward)
. -pc_boxmg_levels <n>                - levels at most
. -pc_boxmg_coarse_nodes <n>          - coarsen while there are more nodes inside in some direction (default
  63, at most 127)
- -pc_boxmg_graph <bool>              - the levels below the finest one run as CUDA graphs, in a cycle and in
  the nested
                                        iteration (default true)

  Level: intermediate

  Notes:
  Setters follow `PCSetType()`: on a `PC` without a type they raise an error, on one of another type they do
  nothing.

  A level smooths by one multiplicative sweep over its vertex patches, each solved exactly, before and after
  the coarse correction. The coarsest box is solved exactly by fast diagonalisation of the whole of it.

  With `-ksp_type richardson` the solver is full multigrid: one pass of nested iteration, then V-cycles until
  the residual, in the 2-norm and in double precision, is small enough (`-ksp_rtol`, relative to the
  right-hand side, `-ksp_atol`, `-ksp_max_it`); this needs no further vectors, and counts V-cycles on the
  finest level. A monitor of the `KSP` makes it an ordinary Richardson iteration by V-cycles. `KSPSolve()`
  sets x to zero first, which the solver has no need of; `-ksp_initial_guess_nonzero -pc_boxmg_ignore_guess`
  spares that pass. (Where `KSPRICHARDSON` iterates by itself, such as with monitors, it takes x as its guess
  then.) As a preconditioner it is one V-cycle; conjugate gradients need `-pc_boxmg_direction symmetric`.

  Essential values other than zero are taken from the right-hand side. Nested iteration starts from zero
  values, so they cost cycles.

  Reference:
. * - C. Cui, P. Grosse-Bley, G. Kanschat, R. Strzodka, An implementation of tensor product patch smoothers on
  GPU, algorithms
      2.1 to 2.3

.seealso: `MATHOPSBOX`, `MatCreateHopsBox()`, `PCBoxMGSetPrecision()`, `PCHOPSMG`,
`PCPATCHFD`
M*/
#define PCBOXMG "boxmg"

PETSC_EXTERN PetscErrorCode PCBoxMGSetPrecision(PC, PetscBool);
