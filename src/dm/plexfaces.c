/*
  Boundary residuals f0 and f1 of the natural conditions of a PetscDS where a device is, by the kernels that
  evaluate those of cells. A condition's value is a term. Where one of them cannot be done there, all of them
  are PETSc's.

  At first both are evaluated and compared, until each term had values. PETSc (3.18 to 3.25) pairs the points
  of a face as the face has them with basis functions as its cell has them: where a cell sees a face mirrored
  the functions get the position of another point. The solution of a code is to be that of the stock code, so
  the kernels do the same if that is what agrees. Neither does where cells are no parallelepipeds: there PETSc
  takes the geometry of one point for all points of a face.
*/
#include <hops/private/hopsdmimpl.h>
#include <hops/private/hopspleximpl.h>

/* A value of a natural condition, with what it has for a field */
typedef struct {
  PetscWeakForm wf;
  PetscFormKey  key;
  PetscInt64    stratum; /* points that the label had, hashed */
  PetscBool     own;     /* other auxiliary fields than the cells' */
} HopsFluxTerm;

struct _HopsPlexFaces {
  PetscInt       nterms;
  HopsFluxTerm  *term;
  PetscBool      hasrule;
  HopsBasis      rule;
  HopsPointFaces points; /* NULL: the terms are PETSc's */
  PetscInt       nfn;    /* functions that were compared */
  HopsVoidFn    *fn;
  PetscInt       nchecks;
  PetscBool      checked, *seen; /* [nterms] had values */
};
#define HOPS_FACES_CHECKS 4     /* then terms without values are PETSc's */
#define HOPS_FACES_TOL    1e-11 /* of the largest value */

static PetscErrorCode HopsPlexFacesReset(HopsPlexFaces pf)
{
  PetscFunctionBegin;
  PetscCall(HopsPointFacesDestroy(&pf->points));
  if (pf->hasrule) PetscCall(HopsBasisDestroy(&pf->rule));
  pf->hasrule = PETSC_FALSE;
  PetscCall(PetscFree(pf->fn));
  PetscCall(PetscFree(pf->seen));
  pf->nfn     = 0;
  pf->nchecks = 0;
  pf->checked = PETSC_FALSE;
  PetscCall(PetscFree(pf->term));
  pf->nterms = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexFacesDestroy(HopsPlexFaces *out)
{
  PetscFunctionBegin;
  if (!*out) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexFacesReset(*out));
  PetscCall(PetscFree(*out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsStratumHash(DMLabel label, PetscInt value, PetscInt64 *hash)
{
  IS              is;
  const PetscInt *p;
  PetscInt        n;

  PetscFunctionBegin;
  *hash = 0;
  PetscCall(DMLabelGetStratumIS(label, value, &is));
  if (!is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &p));
  *hash = HopsHashBits(n * sizeof(PetscInt), p, n);
  PetscCall(ISRestoreIndices(is, &p));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The natural conditions as they are now, with functions or without */
static PetscErrorCode HopsPlexFacesTerms(DM dm, PetscInt *n, HopsFluxTerm **term)
{
  PetscDS    ds;
  PetscInt   nb;
  HopsRegion r;
  Vec        mesh, aux;

  PetscFunctionBegin;
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSGetNumBoundary(ds, &nb));
  PetscCall(HopsRegionGet(dm, 0, PETSC_FALSE, &r));
  PetscCall(DMGetAuxiliaryVec(dm, r.label, r.value, 0, &mesh));
  *n = 0;
  for (PetscInt pass = 0; pass < 2; ++pass) {
    if (pass) PetscCall(PetscCalloc1(*n, term)); /* its bytes are compared */
    *n = 0;
    for (PetscInt b = 0; b < nb; ++b) {
      HopsFluxTerm            t = {NULL, {NULL, 0, 0, 0}, 0, PETSC_FALSE};
      DMBoundaryConditionType type;
      const PetscInt         *values;
      PetscInt                nv;

      PetscCall(
        PetscDSGetBoundary(ds, b, &t.wf, &type, NULL, &t.key.label, &nv, &values, &t.key.field, NULL, NULL, NULL, NULL, NULL));
      if (type & DM_BC_ESSENTIAL) continue;
      for (PetscInt v = 0; v < nv; ++v, ++*n) {
        if (!pass) continue;
        (*term)[*n].wf        = t.wf;
        (*term)[*n].key.label = t.key.label;
        (*term)[*n].key.value = values[v];
        (*term)[*n].key.field = t.key.field;
        PetscCall(HopsStratumHash(t.key.label, values[v], &(*term)[*n].stratum));
        PetscCall(DMGetAuxiliaryVec(dm, t.key.label, values[v], 0, &aux));
        (*term)[*n].own = aux != mesh ? PETSC_TRUE : PETSC_FALSE;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One tensor-product rule of all terms' fields; else why says so */
static PetscErrorCode HopsPlexFacesRule(DM dm, HopsPlexFaces pf, const char **why)
{
  PetscInt dim;

  PetscFunctionBegin;
  PetscCall(DMGetDimension(dm, &dim));
  for (PetscInt i = 0; i < pf->nterms && !*why; ++i) {
    PetscObject     disc;
    PetscQuadrature quad;
    HopsBasis       rule;
    PetscBool       found;

    PetscCall(DMGetField(dm, pf->term[i].key.field, NULL, &disc));
    PetscCall(PetscFEGetFaceQuadrature((PetscFE)disc, &quad));
    PetscCall(HopsBasisCreateQuadrature(2, dim - 1, quad, &found, &rule));
    if (!found) *why = "the face quadrature is no tensor product of one symmetric rule";
    else if (!pf->hasrule) {
      pf->rule    = rule;
      pf->hasrule = PETSC_TRUE;
    } else {
      if (!HopsBasisSameRule(&rule, &pf->rule)) *why = "the face quadratures of the fields differ";
      PetscCall(HopsBasisDestroy(&rule));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The faces of all terms, in the space's numbers of cells */
static PetscErrorCode HopsPlexFacesFind(DM dm, HopsPlex *plex, HopsPlexFaces pf, const char **why)
{
  HopsSpace sp = plex->space;
  PetscInt *n, **cells, **faces, *where;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sp->ncaller, &where));
  for (PetscInt c = 0; c < sp->ncells; ++c) where[sp->cell[c] - sp->cstart] = c;
  PetscCall(PetscCalloc3(pf->nterms, &n, pf->nterms, &cells, pf->nterms, &faces));
  for (PetscInt i = 0; i < pf->nterms; ++i) {
    const HopsFluxTerm *t = &pf->term[i];
    PetscInt            inner;

    PetscCall(HopsPlexGetLabelFaces(dm, sp, t->key.label, t->key.value, &n[i], &cells[i], &faces[i], &inner));
    for (PetscInt f = 0; f < n[i]; ++f) cells[i][f] = where[cells[i][f] - sp->cstart];
    if (inner) *why = "a label of theirs marks faces inside of the domain";
    if (t->own) *why = "a condition has auxiliary fields of its own";
  }
  if (!*why) PetscCall(HopsPointFacesCreate(plex->points, pf->nterms, n, cells, faces, &pf->points));
  for (PetscInt i = 0; i < pf->nterms; ++i) {
    PetscCall(PetscFree(cells[i]));
    PetscCall(PetscFree(faces[i]));
  }
  PetscCall(PetscFree3(n, cells, faces));
  PetscCall(PetscFree(where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexFacesSetUp(DM dm, HopsPlex *plex, HopsPlexFaces pf)
{
  HopsFluxTerm *term = NULL;
  PetscInt      n    = 0;
  PetscBool     same = PETSC_FALSE;
  const char   *why  = NULL;

  PetscFunctionBegin;
  PetscCall(HopsPlexFacesTerms(dm, &n, &term));
  if (pf->term && n == pf->nterms) PetscCall(PetscMemcmp(term, pf->term, n * sizeof(*term), &same));
  if (same) {
    PetscCall(PetscFree(term));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsPlexFacesReset(pf));
  pf->nterms = n;
  pf->term   = term;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(n, &pf->seen));
  PetscCall(HopsPlexFacesRule(dm, pf, &why));
  if (!why) PetscCall(HopsPlexFacesFind(dm, plex, pf, &why));
  if (why) PetscCall(PetscInfo(dm, "boundary residuals are PETSc's, on the host: %s\n", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- PETSc's points ---------------------------------------- */

/* The vertices in the closure of a point, in its order; free them */
static PetscErrorCode HopsPlexVertices(DM dm, PetscInt p, PetscInt *n, PetscInt v[8])
{
  PetscInt vStart, vEnd, size, *closure = NULL;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(DMPlexGetTransitiveClosure(dm, p, PETSC_TRUE, &size, &closure));
  for (PetscInt i = 0; i < 2 * size; i += 2)
    if (closure[i] >= vStart && closure[i] < vEnd && *n < 8) v[(*n)++] = closure[i];
  PetscCall(DMPlexRestoreTransitiveClosure(dm, p, PETSC_TRUE, &size, &closure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which end of each direction a vertex of the reference cell is at: bit d of direction d */
static PetscErrorCode HopsPlexEnds(DM ref, PetscInt vertex, PetscInt dim, int *ends)
{
  PetscSection       s;
  Vec                x;
  const PetscScalar *a;
  PetscInt           off;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinateSection(ref, &s));
  PetscCall(DMGetCoordinatesLocal(ref, &x));
  PetscCall(PetscSectionGetOffset(s, vertex, &off));
  PetscCall(VecGetArrayRead(x, &a));
  *ends = 0;
  for (PetscInt d = 0; d < dim; ++d)
    if (PetscRealPart(a[off + d]) > 0.0) *ends |= 1 << d;
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same without the direction of a face */
static int HopsFaceEnds(int ends, PetscInt face)
{
  const int low = (1 << (face / 2)) - 1;

  return (ends & low) | ((ends >> 1) & ~low);
}

/* The face of the reference cell's cone, and its vertices */
static PetscErrorCode HopsPlexReferenceFace(DM ref, PetscInt dim, PetscInt face, PetscInt *k, PetscInt v[8])
{
  const PetscInt *cone;
  PetscInt        size, n, at = 0;

  PetscFunctionBegin;
  PetscCall(DMPlexGetConeSize(ref, 0, &size));
  PetscCall(DMPlexGetCone(ref, 0, &cone));
  for (*k = 0; *k < size; ++*k) {
    PetscCall(HopsPlexVertices(ref, cone[*k], &n, v));
    at = 0;
    for (PetscInt j = 0; j < n; ++j) {
      int ends;

      PetscCall(HopsPlexEnds(ref, v[j], dim, &ends));
      if (((ends >> (face / 2)) & 1) == face % 2) ++at;
    }
    if (at == n) break;
  }
  PetscCheck(*k < size, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The reference cell has no face %" PetscInt_FMT, face);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The code (see pointkernel.cuh) of a face of a cell: corner j of the face as the reference cell has it is
   another one as the mesh has it */
static PetscErrorCode HopsPlexMirror(DM dm, DM ref, PetscInt dim, PetscInt cell, PetscInt face, int *code)
{
  const PetscInt *cone;
  PetscInt        all[8], refall[8], own[8], refown[8], n, m, k = 0;
  int             to[4] = {0, 0, 0, 0};

  PetscFunctionBegin;
  PetscCall(HopsPlexReferenceFace(ref, dim, face, &k, refown));
  PetscCall(HopsPlexVertices(ref, 0, &n, refall));
  PetscCall(DMPlexGetCone(dm, cell, &cone));
  PetscCall(HopsPlexVertices(dm, cell, &n, all));
  PetscCall(HopsPlexVertices(dm, cone[k], &m, own));
  for (PetscInt j = 0; j < m; ++j) {
    PetscInt i = 0;
    int      from, ends;

    while (i < n && all[i] != own[j]) ++i;
    PetscCheck(i < n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A face has other vertices than its cell");
    PetscCall(HopsPlexEnds(ref, refown[j], dim, &from));
    PetscCall(HopsPlexEnds(ref, refall[i], dim, &ends));
    to[HopsFaceEnds(from, face)] = HopsFaceEnds(ends, face);
  }
  *code = to[0] | (dim == 3 && (to[1] ^ to[0]) == 2 ? 4 : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The faces as PETSc's residual sees them */
static PetscErrorCode HopsPlexFacesMirror(DM dm, HopsPlex *plex, HopsPlexFaces pf)
{
  const HopsPointFaces at = pf->points;
  PetscObject          disc;
  PetscDualSpace       dual;
  DM                   ref;
  int                 *mirror;

  PetscFunctionBegin;
  PetscCall(DMGetField(dm, 0, NULL, &disc));
  PetscCall(PetscFEGetDualSpace((PetscFE)disc, &dual));
  PetscCall(PetscDualSpaceGetDM(dual, &ref));
  PetscCall(PetscMalloc1(at->n, &mirror));
  for (PetscInt i = 0; i < at->n; ++i)
    PetscCall(HopsPlexMirror(dm, ref, plex->fields->dim, plex->space->cell[at->hostcell[i]], at->hostface[i], &mirror[i]));
  PetscCall(HopsPointFacesMirror(at, mirror));
  PetscCall(PetscFree(mirror));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- the residual ----------------------------------------- */

/* The calls of all terms; those of other functions than before are to be compared */
static PetscErrorCode HopsPlexFacesJob(HopsPlexFaces pf, HopsPointJob *job)
{
  PetscBool same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(job, sizeof(*job)));
  job->faces = PETSC_TRUE;
  for (; job->nregions < pf->nterms; ++job->nregions) {
    const HopsFluxTerm *t = &pf->term[job->nregions];
    PetscInt            n[2];
    HopsBdPointFun     *f[2];

    PetscCall(PetscWeakFormGetBdResidual(t->wf, t->key.label, t->key.value, t->key.field, t->key.part, &n[0], &f[0], &n[1], &f[1]));
    for (PetscInt k = 0; k < 2; ++k)
      PetscCall(HopsPointJobAdd(job, job->nregions, 2 * t->key.field + k, PETSC_FALSE, n[k], (HopsVoidFn *)f[k]));
  }
  if (pf->fn && pf->nfn == job->ncalls) {
    same = PETSC_TRUE;
    for (PetscInt i = 0; i < job->ncalls; ++i)
      if (pf->fn[i] != job->call[i].f) same = PETSC_FALSE;
  }
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < pf->nterms; ++i) { /* what has no function need not be seen */
    PetscInt c = 0;

    while (c < job->ncalls && job->call[c].region != i) ++c;
    pf->seen[i] = c == job->ncalls ? PETSC_TRUE : PETSC_FALSE;
  }
  PetscCall(PetscFree(pf->fn));
  PetscCall(PetscMalloc1(job->ncalls, &pf->fn));
  for (PetscInt i = 0; i < job->ncalls; ++i) pf->fn[i] = job->call[i].f;
  pf->nfn     = job->ncalls;
  pf->checked = PETSC_FALSE;
  pf->nchecks = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* F += PETSc's; which of the terms have values? */
static PetscErrorCode HopsPlexFacesPetsc(DM dm, HopsPlex *plex, PetscReal t, Vec X, Vec Xt, Vec F)
{
  HopsPlexFaces pf = plex->faces;
  Vec           one;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(F, &one));
  for (PetscInt i = 0; i < pf->nterms; ++i) {
    PetscReal norm;

    PetscCall(VecSet(one, 0.0));
    PetscCall(HopsPlexTermResidual(dm, plex, t, pf->term[i].wf, pf->term[i].key, X, Xt, one));
    PetscCall(VecNorm(one, NORM_INFINITY, &norm));
    if (norm != 0.0 || pf->points->first[i] == pf->points->first[i + 1]) pf->seen[i] = PETSC_TRUE;
    PetscCall(VecAXPY(F, 1.0, one));
  }
  PetscCall(VecDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both, and the kernels' with the positions that PETSc takes, if these are what agrees. F += PETSc's */
static PetscErrorCode HopsPlexFacesCheck(DM dm, HopsPlex *plex, PetscReal t, Vec X, Vec Xt, Vec F)
{
  HopsPlexFaces pf    = plex->faces;
  PetscReal     error = 0.0, scale;
  Vec           petsc, ours;
  PetscBool     done = PETSC_TRUE, agree = PETSC_FALSE, all = PETSC_TRUE;
  const char   *why = NULL;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(F, &petsc));
  PetscCall(VecDuplicate(F, &ours));
  PetscCall(VecSet(petsc, 0.0));
  PetscCall(HopsPlexFacesPetsc(dm, plex, t, X, Xt, petsc));
  PetscCall(VecNorm(petsc, NORM_INFINITY, &scale));
  /* both agree where functions do not vary: PETSc's positions first */
  for (PetscInt pass = 0; pass < 2 && done && !agree; ++pass) {
    HopsPointJob job;

    if (pass) PetscCall(HopsPointFacesMirror(pf->points, NULL));
    else if (!pf->points->mirror) PetscCall(HopsPlexFacesMirror(dm, plex, pf));
    PetscCall(VecSet(ours, 0.0));
    PetscCall(HopsPlexFacesJob(pf, &job));
    PetscCall(HopsPointCellsResidual(plex->points, pf->points, &job, &pf->rule, t, X, Xt, ours, NULL, NULL, &done));
    PetscCall(VecAXPY(ours, -1.0, petsc));
    PetscCall(VecNorm(ours, NORM_INFINITY, &error));
    agree = done && error <= HOPS_FACES_TOL * scale ? PETSC_TRUE : PETSC_FALSE;
  }
  for (PetscInt i = 0; i < pf->nterms; ++i)
    if (!pf->seen[i]) all = PETSC_FALSE;
  pf->checked = all;
  if (!done) why = "they cannot be compiled, or a vector is not there";
  else if (!agree) why = "PETSc's differ, as they do where cells are no parallelepipeds";
  else if (!all && ++pf->nchecks == HOPS_FACES_CHECKS) why = "a condition gave no values to compare";
  if (why) PetscCall(HopsPointFacesDestroy(&pf->points));
  if (why)
    PetscCall(PetscInfo(dm, "boundary residuals are PETSc's, on the host: %s (%g of %g)\n", why, (double)error, (double)scale));
  PetscCall(VecAXPY(F, 1.0, petsc));
  PetscCall(VecDestroy(&petsc));
  PetscCall(VecDestroy(&ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexFacesResidual(DM dm, HopsPlex *plex, PetscReal t, Vec X, Vec Xt, Vec F, PetscBool *done)
{
  HopsPlexFaces pf;
  HopsPointJob  job;

  PetscFunctionBegin;
  if (!plex->faces) PetscCall(PetscNew(&plex->faces));
  pf = plex->faces;
  PetscCall(HopsPlexFacesSetUp(dm, plex, pf));
  *done = pf->points ? PETSC_TRUE : PETSC_FALSE;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexFacesJob(pf, &job));
  if (job.ncalls && pf->checked)
    PetscCall(HopsPointCellsResidual(plex->points, pf->points, &job, &pf->rule, t, X, Xt, F, NULL, NULL, done));
  else PetscCall(HopsPointJobDestroy(&job));
  if (pf->nfn && !pf->checked) PetscCall(HopsPlexFacesCheck(dm, plex, t, X, Xt, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}
