static char help[] =
  "The magnetic field of a current-carrying coil in air: A-phi formulation with all spaces of the de Rham complex.\n\
  div(beta grad phi) = 0, phi = 0 and 1 on the terminals (Face Sets 1 and 2)         in H1: LOR with BoomerAMG\n\
  curl curl A + beta A = -beta grad phi, A x n = 0 on the boundary                   in H(curl): LOR with AMS\n\
  B = curl A                                                                         in H(div)\n\
  -dm_plex_filename <file>  : mesh of hexahedra; beta is 1 in Cell Sets 1 (the coil) and -air elsewhere\n\
  -order <p>                : order (default 2)\n\
  -air <beta>               : conductivity of air (default 1e-6)\n\
  -vtu <name>               : write name_phi.vtu, name_A.vtu, name_B.vtu and, with the conductivity, name_beta.vtu for\n\
                              ParaView\n\n";

#include <hops.h>

/* phi = 0 on the first terminal, 1 on the second, which lie at x < 0 and x > 0 */
static PetscErrorCode Terminals(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar phi[], void *ctx)
{
  phi[0] = x[0] > 0.0 ? 1.0 : 0.0;
  return 0;
}

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 1.0;
  return 0;
}

/* 1 in the cells of Cell Sets 1, air elsewhere */
static PetscErrorCode CreateConductivity(HopsSpace space, DM dm, PetscReal air, HopsCoefficient *beta)
{
  PetscInt     cStart, cEnd, set;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscMalloc1(cEnd - cStart, &values));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscCall(DMGetLabelValue(dm, "Cell Sets", c, &set));
    values[c - cStart] = set == 1 ? 1.0 : air;
  }
  PetscCall(HopsCoefficientCreateCell(space, 1, values, beta));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

/* CG to a relative 1e-8 with the low-order-refined preconditioner of the operator */
static PetscErrorCode Solve(const char name[], const char prefix[], Mat A, Vec b, Vec x)
{
  KSP      ksp;
  PC       pc;
  PetscInt its, n;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecGetSize(x, &n));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: unknowns %" PetscInt_FMT ", iterations %" PetscInt_FMT "\n", name, n, its));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* A field to name_field.vtu */
static PetscErrorCode Write(const char name[], const char field[], HopsSpace space, Vec u)
{
  char file[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(file, sizeof(file), "%s_%s.vtu", name, field));
  PetscCall(HopsSpaceViewVTU(space, u, field, file));
  PetscFunctionReturn(0);
}

/* The conductivity as a field in L2, whose unknowns are integrals over the boxes of a cell */
static PetscErrorCode WriteConductivity(const char name[], HopsSpace l2, DM dm, PetscReal air)
{
  DM           numbering;
  PetscSection s;
  PetscInt     cStart, cEnd, rstart, n, off, set;
  PetscScalar *a;
  Vec          beta;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateVec(l2, &beta));
  PetscCall(HopsSpaceInterpolate(l2, One, NULL, beta)); /* volumes */
  PetscCall(HopsSpaceGetDM(l2, &numbering));
  PetscCall(DMGetGlobalSection(numbering, &s));
  PetscCall(VecGetOwnershipRange(beta, &rstart, NULL));
  PetscCall(VecGetArray(beta, &a));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscCall(PetscSectionGetDof(s, c, &n));
    PetscCall(PetscSectionGetOffset(s, c, &off));
    PetscCall(DMGetLabelValue(dm, "Cell Sets", c, &set));
    for (PetscInt i = 0; i < n; ++i) a[off - rstart + i] *= set == 1 ? 1.0 : air;
  }
  PetscCall(VecRestoreArray(beta, &a));
  PetscCall(Write(name, "beta", l2, beta));
  PetscCall(VecDestroy(&beta));
  PetscFunctionReturn(0);
}

/* int beta |u|^2 of a field without essential values */
static PetscErrorCode Energy(const char name[], HopsSpace space, HopsCoefficient beta, Vec u)
{
  Mat         M;
  Vec         Mu;
  PetscScalar e;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(space, &M));
  PetscCall(MatPASetMass(M, beta));
  PetscCall(VecDuplicate(u, &Mu));
  PetscCall(MatMult(M, u, Mu));
  PetscCall(VecDot(Mu, u, &e));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %.4e\n", name, (double)PetscRealPart(e)));
  PetscCall(VecDestroy(&Mu));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(0);
}

/* phi: div(beta grad phi) = 0 */
static PetscErrorCode SolvePotential(HopsSpace h1, HopsCoefficient beta, Vec *phi)
{
  Mat P;
  Vec zero;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceSetEssentialFunction(h1, Terminals, NULL));
  PetscCall(MatCreatePA(h1, &P));
  PetscCall(MatPASetDiffusion(P, beta));
  PetscCall(HopsSpaceCreateVec(h1, phi));
  PetscCall(VecDuplicate(*phi, &zero));
  PetscCall(MatPALiftEssential(P, zero));
  PetscCall(Solve("potential", "phi_", P, zero, *phi));
  PetscCall(VecDestroy(&zero));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(0);
}

/* b = -beta grad phi; on the boundary the gradient's unknowns are essential values of the space, which
   lifting moves to b */
static PetscErrorCode CreateSource(HopsSpace h1, HopsSpace curl, HopsCoefficient beta, Vec phi, Vec *b)
{
  Mat M;
  Vec gradphi;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(curl, &M));
  PetscCall(MatPASetMass(M, beta));
  PetscCall(HopsSpaceCreateVec(curl, &gradphi));
  PetscCall(VecDuplicate(gradphi, b));
  PetscCall(HopsSpaceDifferentiate(h1, phi, curl, gradphi));
  PetscCall(MatMult(M, gradphi, *b));
  PetscCall(VecScale(*b, -1.0));
  PetscCall(MatPALiftEssential(M, *b));
  PetscCall(HopsSpaceSetEssentialFunction(curl, NULL, NULL));
  PetscCall(VecDestroy(&gradphi));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt  values[3] = {1, 2, 3};
  PetscInt        order     = 2;
  PetscReal       air       = 1e-6, divergence;
  PetscScalar     one       = 1.0;
  PetscBool       write;
  char            vtu[PETSC_MAX_PATH_LEN];
  DM              dm;
  DMLabel         label;
  HopsSpace       h1, curl, curlfree, div, l2;
  HopsCoefficient beta, unit;
  Mat             A;
  Vec             phi, E, b, a, B, divB;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-air", &air, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vtu", vtu, sizeof(vtu), &write));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCheck(label, PETSC_COMM_WORLD, PETSC_ERR_USER,
             "The mesh has no label 'Face Sets': give its terminals the physical groups 1 and 2, the rest of its boundary 3");
  PetscCall(HopsSpaceCreateH1(dm, order, label, 2, values, &h1));
  PetscCall(HopsSpaceCreateHCurl(dm, order, label, 3, values, &curl));
  PetscCall(HopsSpaceCreateCompanion(curl, HOPS_HCURL, PETSC_FALSE, &curlfree));
  PetscCall(HopsSpaceCreateCompanion(curl, HOPS_HDIV, PETSC_FALSE, &div));
  PetscCall(HopsSpaceCreateCompanion(curl, HOPS_L2, PETSC_FALSE, &l2));
  PetscCall(CreateConductivity(h1, dm, air, &beta));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &unit));

  /* the electric potential and its power */
  PetscCall(SolvePotential(h1, beta, &phi));
  PetscCall(HopsSpaceCreateVec(curlfree, &E));
  PetscCall(HopsSpaceDifferentiate(h1, phi, curlfree, E));
  PetscCall(Energy("power beta |grad phi|^2", curlfree, beta, E));

  /* the vector potential and the magnetic field, which is free of divergence */
  PetscCall(CreateSource(h1, curl, beta, phi, &b));
  PetscCall(VecDuplicate(b, &a));
  PetscCall(MatCreatePA(curl, &A));
  PetscCall(MatPASetCurlCurl(A, unit));
  PetscCall(MatPASetMass(A, beta));
  PetscCall(Solve("vector potential", "A_", A, b, a));
  PetscCall(HopsSpaceCreateVec(div, &B));
  PetscCall(HopsSpaceCreateVec(l2, &divB));
  PetscCall(HopsSpaceDifferentiate(curl, a, div, B));
  PetscCall(HopsSpaceDifferentiate(div, B, l2, divB));
  PetscCall(VecNorm(divB, NORM_INFINITY, &divergence));
  PetscCall(Energy("magnetic energy |B|^2", div, unit, B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "divergence of B: %s\n", divergence < 1e-13 ? "zero" : "NOT ZERO"));
  if (write) {
    PetscCall(Write(vtu, "phi", h1, phi));
    PetscCall(Write(vtu, "A", curl, a));
    PetscCall(Write(vtu, "B", div, B));
    PetscCall(WriteConductivity(vtu, l2, dm, air));
  }
  PetscCall(VecDestroy(&phi));
  PetscCall(VecDestroy(&E));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&a));
  PetscCall(VecDestroy(&B));
  PetscCall(VecDestroy(&divB));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&beta));
  PetscCall(HopsCoefficientDestroy(&unit));
  PetscCall(HopsSpaceDestroy(&h1));
  PetscCall(HopsSpaceDestroy(&curl));
  PetscCall(HopsSpaceDestroy(&curlfree));
  PetscCall(HopsSpaceDestroy(&div));
  PetscCall(HopsSpaceDestroy(&l2));
  PetscCall(DMDestroy(&dm));
  return PetscFinalize();
}

/*TEST

  testset:
    requires: hypre
    args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/coil.msh -phi_ksp_max_it 80 -A_ksp_max_it 80
    filter: sed -e "s/, iterations [0-9]*$//"
    diff_args: -j
    test:
      suffix: coil
      nsize: {{1 3}}
      args: -order 1
    test:
      suffix: coil_2
      nsize: 2
      args: -order 2 -vtu coil

TEST*/
