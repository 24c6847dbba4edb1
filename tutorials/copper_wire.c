static char help[] =
  "A copper wire in air: curl curl u + beta u = f with a conductivity beta that jumps by orders of magnitude, u x n = 0 on the\n\
boundary. f is a current along the wire. LOR with AMS; iterations of CG against contrast and order.\n\
  -dm_plex_filename <file> : mesh of hexahedra; beta is 1 in Cell Sets 1 (the wire) and 1/contrast elsewhere\n\
  -contrasts <c,...>       : contrasts of the conductivities (default 1e6)\n\
  -orders <p,...>          : orders (default 3)\n\
  -pitch <h>               : height of a turn of the wire around the z axis (default 8)\n\
  -rtol <r>                : relative tolerance in the energy norm of the preconditioned residual (default 1e-12)\n\
  -vtu <name>              : write the last field to name.vtu for ParaView\n\n";

#include <hops.h>

/* (-w y, w x, 1) is free of divergence and has no component normal to anything that turns around the axis as
   the wire does */
static PetscErrorCode Current(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  const PetscReal w = 2.0 * PETSC_PI / *(PetscReal *)ctx;

  f[0] = -w * x[1];
  f[1] = w * x[0];
  f[2] = 1.0;
  return 0;
}

/* one value in the cells of Cell Sets 1, another elsewhere */
static PetscErrorCode CreateCoefficient(HopsSpace space, DM dm, PetscReal wire, PetscReal air, HopsCoefficient *cf)
{
  PetscInt     cStart, cEnd, set;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscMalloc1(cEnd - cStart, &values));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscCall(DMGetLabelValue(dm, "Cell Sets", c, &set));
    values[c - cStart] = set == 1 ? wire : air;
  }
  PetscCall(HopsCoefficientCreateCell(space, 1, values, cf));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

/* The current's moments int j . v over the wire: the mass form of its interpolant, with a coefficient that is
   zero in air */
static PetscErrorCode CreateSource(HopsSpace space, DM dm, PetscReal pitch, Vec *b)
{
  HopsCoefficient wire;
  Mat             M;
  Vec             j;

  PetscFunctionBeginUser;
  PetscCall(CreateCoefficient(space, dm, 1.0, 0.0, &wire));
  PetscCall(MatCreatePA(space, &M));
  PetscCall(MatPASetMass(M, wire));
  /* not zero at the ends of the wire: lifting brings it in, with a minus */
  PetscCall(HopsSpaceSetEssentialFunction(space, Current, &pitch));
  PetscCall(HopsSpaceCreateVec(space, &j));
  PetscCall(VecDuplicate(j, b));
  PetscCall(HopsSpaceInterpolate(space, Current, &pitch, j));
  PetscCall(MatMult(M, j, *b));
  PetscCall(VecScale(*b, -1.0));
  PetscCall(MatPALiftEssential(M, *b));
  PetscCall(VecScale(*b, -1.0));
  PetscCall(HopsSpaceSetEssentialFunction(space, NULL, NULL));
  PetscCall(VecDestroy(&j));
  PetscCall(MatDestroy(&M));
  PetscCall(HopsCoefficientDestroy(&wire));
  PetscFunctionReturn(0);
}

/* int mu |curl u|^2 or int beta |u|^2 */
static PetscErrorCode Energy(HopsSpace space, HopsCoefficient mu, HopsCoefficient beta, Vec u, PetscScalar *e)
{
  Mat A;
  Vec Au;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(space, &A));
  if (mu) PetscCall(MatPASetCurlCurl(A, mu));
  if (beta) PetscCall(MatPASetMass(A, beta));
  PetscCall(VecDuplicate(u, &Au));
  PetscCall(MatMult(A, u, Au));
  PetscCall(VecDot(Au, u, e));
  PetscCall(VecDestroy(&Au));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt  value      = 1;
  PetscInt        orders[16] = {3}, no = 16, nc = 16, n, its;
  PetscReal       contrasts[16] = {1e6}, pitch = 8.0, rtol = 1e-12;
  PetscScalar     one = 1.0, magnetic, power, work;
  PetscBool       set, write;
  char            vtu[PETSC_MAX_PATH_LEN];
  DM              dm;
  DMLabel         label;
  HopsSpace       space;
  HopsCoefficient unit, beta;
  Mat             A;
  Vec             b, u;
  KSP             ksp;
  PC              pc;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &no, &set));
  if (!set) no = 1;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-contrasts", contrasts, &nc, &set));
  if (!set) nc = 1;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-pitch", &pitch, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &rtol, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vtu", vtu, sizeof(vtu), &write));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCheck(label, PETSC_COMM_WORLD, PETSC_ERR_USER, "The mesh has no label 'Face Sets': give its boundary the physical group 1");
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &unit));
  for (PetscInt i = 0; i < no; ++i) {
    PetscCall(HopsSpaceCreateHCurl(dm, orders[i], label, 1, &value, &space));
    PetscCall(CreateSource(space, dm, pitch, &b));
    PetscCall(VecDuplicate(b, &u));
    PetscCall(VecGetSize(b, &n));
    PetscCall(MatCreatePA(space, &A));
    PetscCall(MatPASetCurlCurl(A, unit));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
    PetscCall(KSPSetTolerances(ksp, rtol, 1e-300, PETSC_DEFAULT, 500));
    PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCLOR));
    PetscCall(KSPSetFromOptions(ksp));
    for (PetscInt k = 0; k < nc; ++k) {
      PetscCall(CreateCoefficient(space, dm, 1.0, 1.0 / contrasts[k], &beta));
      PetscCall(MatPASetMass(A, beta)); /* the low-order-refined matrix keeps its pattern */
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(VecZeroEntries(u));
      PetscCall(KSPSolve(ksp, b, u));
      PetscCall(KSPGetIterationNumber(ksp, &its));
      PetscCall(Energy(space, unit, NULL, u, &magnetic));
      PetscCall(Energy(space, NULL, beta, u, &power));
      PetscCall(VecDot(b, u, &work));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "order %" PetscInt_FMT ", contrast %g, unknowns %" PetscInt_FMT ", iterations %" PetscInt_FMT "\n",
                            orders[i], (double)contrasts[k], n, its));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  work of the current %.4e, magnetic energy + loss %s\n",
                            (double)PetscRealPart(work),
                            PetscAbsScalar(magnetic + power - work) < 1e-8 * PetscAbsScalar(work) ? "the same" : "DIFFER"));
      PetscCall(HopsCoefficientDestroy(&beta));
    }
    if (write && i == no - 1) PetscCall(HopsSpaceViewVTU(space, u, "u", vtu));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&u));
    PetscCall(MatDestroy(&A));
    PetscCall(HopsSpaceDestroy(&space));
  }
  PetscCall(HopsCoefficientDestroy(&unit));
  PetscCall(DMDestroy(&dm));
  return PetscFinalize();
}

/*TEST

  test:
    requires: hypre
    nsize: {{1 3}}
    args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/wire.msh -orders 1,3 -contrasts 1,1e6 -ksp_max_it 60
    filter: sed -e "s/, iterations [0-9]*$//"
    diff_args: -j

TEST*/
