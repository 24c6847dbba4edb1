/* The options of PETSc's PCHYPRE that a real cycle for complex vectors has: their names, defaults, and the
   functions of hypre that take them. */
#include "realhypreimpl.h"
#include <petsc/private/pcimpl.h>
#include <strings.h>

const char *const HopsHypreTypes[] = {"boomeramg", "ams", "ads", NULL};

static const char *const Cycles[]   = {"", "V", "W", NULL};
static const char *const Coarsens[] = {"CLJP", "Ruge-Stueben", "",  "modifiedRuge-Stueben", "", "", "Falgout", "", "PMIS",
                                       "",     "HMIS",         NULL};
static const char *const Measures[] = {"local", "global", NULL};
static const char *const Relaxes[]  = {"Jacobi",
                                       "sequential-Gauss-Seidel",
                                       "seqboundary-Gauss-Seidel",
                                       "SOR/Jacobi",
                                       "backward-SOR/Jacobi",
                                       "",
                                       "symmetric-SOR/Jacobi",
                                       "",
                                       "l1scaled-SOR/Jacobi",
                                       "Gaussian-elimination",
                                       "",
                                       "",
                                       "",
                                       "l1-Gauss-Seidel",
                                       "backward-l1-Gauss-Seidel",
                                       "CG",
                                       "Chebyshev",
                                       "FCF-Jacobi",
                                       "l1scaled-Jacobi",
                                       NULL};
static const char *const Interps[] =
  {"classical",    "", "", "direct", "multipass", "multipass-wts", "ext+i", "ext+i-cc", "standard",
   "standard-wts", "", "", "FF",     "FF1",       "ext",           NULL};

/* One option: a number, or one of a list (its place there). One of the functions takes it; options without
   go together in HopsHypreOptionsApply() */
typedef struct {
  const char        *name;
  PetscReal          value;
  const char *const *list;
  HYPRE_Int (*integer)(HYPRE_Solver, HYPRE_Int);
  HYPRE_Int (*real)(HYPRE_Solver, HYPRE_Real);
  PetscBool ifset; /* hypre's own default else */
} Option;

static HYPRE_Int NoCF(HYPRE_Solver s, HYPRE_Int no)
{
  return HYPRE_BoomerAMGSetRelaxOrder(s, no ? 0 : 1);
}

static HYPRE_Int RelaxCoarse(HYPRE_Solver s, HYPRE_Int type)
{
  return HYPRE_BoomerAMGSetCycleRelaxType(s, type, 3);
}

/* an integer that hypre takes with others */
static HYPRE_Int Together(HYPRE_Solver s, HYPRE_Int value)
{
  return 0;
}

/* in the order in which hypre is told: a smoother of all levels sets that of the coarsest */
static const Option BoomerAMG[] = {{"cycle_type", 1.0, Cycles, HYPRE_BoomerAMGSetCycleType, NULL, PETSC_FALSE},
                                   {"max_levels", 25.0, NULL, HYPRE_BoomerAMGSetMaxLevels, NULL, PETSC_FALSE},
                                   {"max_iter", 1.0, NULL, HYPRE_BoomerAMGSetMaxIter, NULL, PETSC_FALSE},
                                   {"tol", 0.0, NULL, NULL, HYPRE_BoomerAMGSetTol, PETSC_FALSE},
                                   {"truncfactor", 0.0, NULL, NULL, HYPRE_BoomerAMGSetTruncFactor, PETSC_FALSE},
                                   {"P_max", 0.0, NULL, HYPRE_BoomerAMGSetPMaxElmts, NULL, PETSC_FALSE},
                                   {"agg_nl", 0.0, NULL, HYPRE_BoomerAMGSetAggNumLevels, NULL, PETSC_FALSE},
                                   {"agg_num_paths", 1.0, NULL, HYPRE_BoomerAMGSetNumPaths, NULL, PETSC_FALSE},
                                   {"strong_threshold", 0.25, NULL, NULL, HYPRE_BoomerAMGSetStrongThreshold, PETSC_FALSE},
                                   {"max_row_sum", 0.9, NULL, NULL, HYPRE_BoomerAMGSetMaxRowSum, PETSC_FALSE},
                                   {"grid_sweeps_all", 1.0, NULL, HYPRE_BoomerAMGSetNumSweeps, NULL, PETSC_FALSE},
                                   {"relax_type_all", 6.0, Relaxes, HYPRE_BoomerAMGSetRelaxType, NULL, PETSC_FALSE},
                                   {"relax_type_coarse", 9.0, Relaxes, RelaxCoarse, NULL, PETSC_TRUE},
                                   {"relax_weight_all", 1.0, NULL, NULL, HYPRE_BoomerAMGSetRelaxWt, PETSC_FALSE},
                                   {"outer_relax_weight_all", 1.0, NULL, NULL, HYPRE_BoomerAMGSetOuterWt, PETSC_FALSE},
                                   {"no_CF", 0.0, NULL, NoCF, NULL, PETSC_FALSE},
                                   {"measure_type", 0.0, Measures, HYPRE_BoomerAMGSetMeasureType, NULL, PETSC_FALSE},
                                   {"coarsen_type", 6.0, Coarsens, HYPRE_BoomerAMGSetCoarsenType, NULL, PETSC_FALSE},
                                   {"max_coarse_size", 9.0, NULL, HYPRE_BoomerAMGSetMaxCoarseSize, NULL, PETSC_FALSE},
                                   {"min_coarse_size", 1.0, NULL, HYPRE_BoomerAMGSetMinCoarseSize, NULL, PETSC_FALSE},
                                   {"interp_type", 0.0, Interps, HYPRE_BoomerAMGSetInterpType, NULL, PETSC_FALSE},
                                   {"nodal_coarsen", 0.0, NULL, HYPRE_BoomerAMGSetNodal, NULL, PETSC_TRUE},
                                   {"numfunctions", 1.0, NULL, HYPRE_BoomerAMGSetNumFunctions, NULL, PETSC_TRUE},
                                   {NULL, 0.0, NULL, NULL, NULL, PETSC_FALSE}};

/* places in the two lists that follow */
enum {
  RELAX_TYPE,
  RELAX_TIMES,
  RELAX_WEIGHT,
  OMEGA,
  THETA_0,
  THETA_1,
  AMS_CYCLE
};
static const Option        AMS[]    = {{"relax_type", 2.0, NULL, Together, NULL, PETSC_FALSE},
                                       {"relax_times", 1.0, NULL, Together, NULL, PETSC_FALSE},
                                       {"relax_weight", 1.0, NULL, NULL, NULL, PETSC_FALSE},
                                       {"omega", 1.0, NULL, NULL, NULL, PETSC_FALSE},
                                       {"amg_alpha_theta", 0.25, NULL, NULL, NULL, PETSC_FALSE},
                                       {"amg_beta_theta", 0.25, NULL, NULL, NULL, PETSC_FALSE},
                                       {"cycle_type", 13.0, NULL, HYPRE_AMSSetCycleType, NULL, PETSC_FALSE},
                                       {"print_level", 0.0, NULL, HYPRE_AMSSetPrintLevel, NULL, PETSC_FALSE},
                                       {"max_iter", 1.0, NULL, HYPRE_AMSSetMaxIter, NULL, PETSC_FALSE},
                                       {"tol", 0.0, NULL, NULL, HYPRE_AMSSetTol, PETSC_FALSE},
                                       {"projection_frequency", 0.0, NULL, HYPRE_AMSSetProjectionFrequency, NULL, PETSC_TRUE},
                                       {NULL, 0.0, NULL, NULL, NULL, PETSC_FALSE}};
static const Option        ADS[]    = {{"relax_type", 2.0, NULL, Together, NULL, PETSC_FALSE},
                                       {"relax_times", 1.0, NULL, Together, NULL, PETSC_FALSE},
                                       {"relax_weight", 1.0, NULL, NULL, NULL, PETSC_FALSE},
                                       {"omega", 1.0, NULL, NULL, NULL, PETSC_FALSE},
                                       {"ams_theta", 0.25, NULL, NULL, NULL, PETSC_FALSE},
                                       {"amg_theta", 0.25, NULL, NULL, NULL, PETSC_FALSE},
                                       {"ams_cycle_type", 14.0, NULL, Together, NULL, PETSC_FALSE},
                                       {"cycle_type", 13.0, NULL, HYPRE_ADSSetCycleType, NULL, PETSC_FALSE},
                                       {"print_level", 0.0, NULL, HYPRE_ADSSetPrintLevel, NULL, PETSC_FALSE},
                                       {"max_iter", 1.0, NULL, HYPRE_ADSSetMaxIter, NULL, PETSC_FALSE},
                                       {"tol", 0.0, NULL, NULL, HYPRE_ADSSetTol, PETSC_FALSE},
                                       {NULL, 0.0, NULL, NULL, NULL, PETSC_FALSE}};
static const Option *const Lists[]  = {BoomerAMG, AMS, ADS};
static const char *const   Amg[][2] = {{NULL, NULL}, {"amg_alpha_options", "amg_beta_options"}, {"ams_options", "amg_options"}};

PetscErrorCode HopsHypreOptionsDefault(PC_HopsHypre *h)
{
  static const PetscInt amg[5] = {10, 1, 6, 6, 4}; /* coarsening, aggressive levels, smoother, interpolation, entries of a row */

  PetscFunctionBegin;
  for (PetscInt t = 0; t < 3; ++t) {
    for (PetscInt k = 0; Lists[t][k].name; ++k) h->options[t].v[k] = Lists[t][k].value;
    for (PetscInt k = 0; k < 10; ++k) h->options[t].amg[k / 5][k % 5] = amg[k % 5];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is there such an option in any list? name without "pc_hypre_"; case does not count, as in PETSc */
static PetscErrorCode Known(const char name[], PetscBool *known)
{
  PetscFunctionBegin;
  PetscCall(PetscStrcasecmp(name, "type", known));
  for (PetscInt t = 0; t < 3; ++t) {
    const size_t n = strlen(HopsHypreTypes[t]);

    if (strncasecmp(name, HopsHypreTypes[t], n) || name[n] != '_') continue;
    for (PetscInt k = 0; Lists[t][k].name && !*known; ++k) PetscCall(PetscStrcasecmp(name + n + 1, Lists[t][k].name, known));
    for (PetscInt k = 0; Amg[t][0] && k < 2 && !*known; ++k) PetscCall(PetscStrcasecmp(name + n + 1, Amg[t][k], known));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options of PETSc's PCHYPRE that are not here must not be lost */
static PetscErrorCode RefuseOthers(PC pc)
{
  char        start[256], name[128], *all, *s;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscSNPrintf(start, sizeof(start), "-%spc_hypre_", prefix ? prefix : ""));
  PetscCall(PetscOptionsGetAll(((PetscObject)pc)->options, &all));
  for (s = all; s; s = s[0] ? s + 1 : NULL) {
    PetscBool known;
    size_t    n = 0;

    PetscCall(PetscStrstr(s, start, &s));
    if (!s) break;
    s += strlen(start);
    while (s[n] && s[n] != ' ' && n + 1 < sizeof(name)) ++n;
    PetscCall(PetscStrncpy(name, s, n + 1));
    PetscCall(Known(name, &known));
    PetscCheck(known, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "The option %s%s is not among those that hops passes on to hypre where scalars are complex (docs/guide/complex.md): "
               "remove it, or use another inner solver (-lor_pc_type gamg)",
               start, name);
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadOption(PetscOptionItems *PetscOptionsObject, const Option *o, const char type[], HopsHypreOptions *h,
                                 PetscInt k)
{
  char      name[128];
  PetscInt  n = 0, at = (PetscInt)h->v[k];
  PetscBool found, on = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "-pc_hypre_%s_%s", type, o->name));
  while (o->list && o->list[n]) ++n;
  if (o->list) {
    PetscCall(PetscOptionsEList(name, "as PCHYPRE", "PCLOR", o->list, n, o->list[at], &at, &found));
    h->v[k] = at;
  } else if (o->integer == NoCF) {
    PetscCall(PetscOptionsBool(name, "as PCHYPRE", "PCLOR", PETSC_FALSE, &on, &found));
    if (found) h->v[k] = on ? 1.0 : 0.0;
  } else if (o->integer) {
    PetscCall(PetscOptionsInt(name, "as PCHYPRE", "PCLOR", at, &at, &found));
    h->v[k] = at;
  } else PetscCall(PetscOptionsReal(name, "as PCHYPRE", "PCLOR", h->v[k], &h->v[k], &found));
  if (found) h->set[k] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreSetFromOptions(PC pc, HopsOptionItems PetscOptionsObject)
{
  PC_HopsHypre     *h = (PC_HopsHypre *)pc->data;
  HopsHypreOptions *o;
  PetscInt          type = h->type;
  PetscBool         found;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "hypre on real and imaginary parts");
  PetscCall(PetscOptionsEList("-pc_hypre_type", "the solver", "PCLOR", HopsHypreTypes, 3, HopsHypreTypes[type], &type, &found));
  PetscCheck(!h->solver || h->type == (HopsHypreType)type, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER,
             "-pc_hypre_type cannot change from %s to %s after PCSetUp(): call PCReset() first", HopsHypreTypes[h->type],
             HopsHypreTypes[type]);
  h->type = (HopsHypreType)type;
  o       = &h->options[type];
  for (PetscInt k = 0; Lists[type][k].name; ++k)
    PetscCall(ReadOption(PetscOptionsObject, &Lists[type][k], HopsHypreTypes[type], o, k));
  for (PetscInt k = 0; Amg[type][0] && k < 2; ++k) {
    char     name[128];
    PetscInt n = 5;

    PetscCall(PetscSNPrintf(name, sizeof(name), "-pc_hypre_%s_%s", HopsHypreTypes[type], Amg[type][k]));
    PetscCall(PetscOptionsIntArray(name, "as PCHYPRE", "PCLOR", o->amg[k], &n, NULL));
  }
  PetscOptionsHeadEnd();
  PetscCall(RefuseOthers(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreOptionsApply(PC pc, PC_HopsHypre *h)
{
  const HopsHypreOptions *o = &h->options[h->type];
  const PetscReal        *v = o->v;
  const PetscInt         *a = o->amg[0], *b = o->amg[1];
  HYPRE_Solver            s = h->solver;
  PetscInt                bs;

  PetscFunctionBegin;
  for (PetscInt k = 0; Lists[h->type][k].name; ++k) {
    const Option *q = &Lists[h->type][k];

    if (q->ifset && !o->set[k]) continue;
    if (q->integer) PetscCallExternal((*q->integer), s, (HYPRE_Int)v[k]);
    else if (q->real) PetscCallExternal((*q->real), s, v[k]);
  }
  if (h->type == HOPS_HYPRE_BOOMERAMG) {
    PetscCall(MatGetBlockSize(pc->pmat, &bs));
    if (bs > 1) PetscCallExternal(HYPRE_BoomerAMGSetNumFunctions, s, (HYPRE_Int)bs);
  } else if (h->type == HOPS_HYPRE_AMS) {
    PetscCallExternal(HYPRE_AMSSetSmoothingOptions, s, (HYPRE_Int)v[RELAX_TYPE], (HYPRE_Int)v[RELAX_TIMES], v[RELAX_WEIGHT],
                      v[OMEGA]);
    PetscCallExternal(HYPRE_AMSSetAlphaAMGOptions, s, a[0], a[1], a[2], v[THETA_0], a[3], a[4]);
    PetscCallExternal(HYPRE_AMSSetBetaAMGOptions, s, b[0], b[1], b[2], v[THETA_1], b[3], b[4]);
  } else {
    PetscCallExternal(HYPRE_ADSSetSmoothingOptions, s, (HYPRE_Int)v[RELAX_TYPE], (HYPRE_Int)v[RELAX_TIMES], v[RELAX_WEIGHT],
                      v[OMEGA]);
    PetscCallExternal(HYPRE_ADSSetAMSOptions, s, (HYPRE_Int)v[AMS_CYCLE], a[0], a[1], a[2], v[THETA_0], a[3], a[4]);
    PetscCallExternal(HYPRE_ADSSetAMGOptions, s, b[0], b[1], b[2], v[THETA_1], b[3], b[4]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreOptionsView(PC_HopsHypre *h, PetscViewer viewer)
{
  const HopsHypreOptions *o = &h->options[h->type];

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPushTab(viewer));
  for (PetscInt k = 0; Lists[h->type][k].name; ++k) {
    const Option *q = &Lists[h->type][k];

    if (q->ifset && !o->set[k]) continue;
    if (q->list) PetscCall(PetscViewerASCIIPrintf(viewer, "%s: %s\n", q->name, q->list[(PetscInt)o->v[k]]));
    else PetscCall(PetscViewerASCIIPrintf(viewer, "%s: %g\n", q->name, (double)o->v[k]));
  }
  for (PetscInt k = 0; Amg[h->type][0] && k < 2; ++k) {
    const PetscInt *a = o->amg[k];

    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "%s: %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
                                     "\n",
                                     Amg[h->type][k], a[0], a[1], a[2], a[3], a[4]));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
