/* The fields of a DM: where the unknowns of a closure sit in each of them, and their values at points. */
#include <hops/private/hopsdsimpl.h>
#include <hops/private/hopspleximpl.h>

PetscErrorCode HopsFieldsCheck(DM dm, PetscBool *ok, char why[], size_t len)
{
  PetscInt nf;

  PetscFunctionBegin;
  *ok = PETSC_FALSE;
  PetscCall(DMGetNumFields(dm, &nf));
  PetscCall(PetscStrncpy(why, "The DM has no field: hops needs a continuous Lagrange PetscFE on it", len));
  if (!nf) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt f = 0; f < nf; ++f) {
    PetscObject    disc;
    PetscClassId   id;
    DMLabel        label;
    PetscDualSpace sp;
    PetscBool      is;

    PetscCall(DMGetField(dm, f, &label, &disc));
    PetscCall(PetscObjectGetClassId(disc, &id));
    PetscCall(
      PetscSNPrintf(why, len, "Field %" PetscInt_FMT " of the DM is not a PetscFE: hops needs a continuous Lagrange PetscFE", f));
    if (id != PETSCFE_CLASSID) PetscFunctionReturn(PETSC_SUCCESS);
    if (nf == 1) break;
    PetscCall(PetscSNPrintf(why, len,
                            "Field %" PetscInt_FMT " of the DM lives on a part of the mesh, where several fields in one operator "
                            "must live on all of it: leave out -dm_mat_type pa",
                            f));
    if (label) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscSNPrintf(why, len,
                            "Field %" PetscInt_FMT " of the DM is discontinuous, which hops does not take beside others: leave out "
                            "-dm_mat_type pa (-pc_type lor still serves the continuous fields' splits of "
                            "PCFIELDSPLIT), or take a continuous field of one order less (Taylor-Hood)",
                            f));
    PetscCall(PetscFEGetDualSpace((PetscFE)disc, &sp));
    PetscCall(PetscObjectTypeCompare((PetscObject)sp, PETSCDUALSPACELAGRANGE, &is));
    if (is) PetscCall(PetscDualSpaceLagrangeGetContinuity(sp, &is));
    else { /* a sum of scalar spaces, say */ const PetscInt *ndof;

      PetscCall(PetscDualSpaceGetNumDof(sp, &ndof));
      is = ndof[0] > 0 ? PETSC_TRUE : PETSC_FALSE; /* a continuous one has nodes on vertices */
    }
    if (!is) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *ok = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFieldsCreate(DM dm, HopsFields *out)
{
  HopsFields f;
  PetscInt   dim, nf;
  PetscBool  ok;
  char       why[512];

  PetscFunctionBegin;
  PetscCall(HopsFieldsCheck(dm, &ok, why, sizeof(why)));
  PetscCheck(ok, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP, "%s", why);
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetNumFields(dm, &nf));
  PetscCall(PetscNew(&f));
  PetscCall(PetscCalloc5(nf, &f->nc, nf, &f->P, nf, &f->node, nf + 1, &f->off, nf + 1, &f->offx));
  f->refct = 1;
  f->nf    = nf;
  f->dim   = dim;
  for (PetscInt i = 0; i < nf; ++i) {
    PetscObject disc;
    PetscInt    order;

    PetscCall(DMGetField(dm, i, NULL, &disc));
    PetscCall(HopsPlexGetFENodes((PetscFE)disc, dim, &order, &f->nc[i], &f->node[i]));
    f->P[i]        = order + 1;
    f->off[i + 1]  = f->off[i] + f->nc[i];
    f->offx[i + 1] = f->offx[i] + f->nc[i] * dim;
    f->nclosure += f->nc[i] * HopsPower(f->P[i], dim);
  }
  *out = f;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFieldsDestroy(HopsFields *out)
{
  HopsFields f = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!f || --f->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < f->nf; ++i) PetscCall(PetscFree(f->node[i]));
  PetscCall(PetscFree5(f->nc, f->P, f->node, f->off, f->offx));
  PetscCall(PetscFree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFieldPointsCreate(HopsFields fields, const HopsBasis *basis, HopsFieldPoints *at)
{
  PetscInt m = basis->Q;

  PetscFunctionBegin;
  at->fields = fields;
  at->single = PETSC_FALSE;
  at->nq     = HopsPower(basis->Q, fields->dim);
  PetscCall(PetscMalloc1(fields->nf, &at->basis));
  for (PetscInt f = 0; f < fields->nf; ++f) {
    m = PetscMax(m, fields->P[f]);
    PetscCall(HopsBasisCreateAtPoints(fields->P[f], basis->Q, basis->points, &at->basis[f]));
  }
  PetscCall(PetscMalloc1(5 * HopsPower(m, fields->dim), &at->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFieldPointsDestroy(HopsFieldPoints *at)
{
  PetscFunctionBegin;
  for (PetscInt f = 0; at->basis && f < at->fields->nf; ++f) PetscCall(HopsBasisDestroy(&at->basis[f]));
  PetscCall(PetscFree(at->basis));
  PetscCall(PetscFree(at->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* closure[n] of a cell of a device's vector, of which the rest stays there */
static PetscErrorCode HopsFieldsFetch(DM dm, Vec v, PetscInt cell, PetscInt *n, PetscScalar closure[])
{
  const HopsBackendOps *be;
  const PetscScalar    *a;
  PetscSection          s;
  PetscInt              m, *idx = NULL, *there;
  PetscScalar          *values;
  PetscMemType          type;

  PetscFunctionBegin;
  PetscCall(DMGetLocalSection(dm, &s));
  PetscCall(DMPlexGetClosureIndices(dm, s, s, cell, PETSC_FALSE, &m, &idx, NULL, NULL));
  if (m == *n) {
    for (PetscInt i = 0; i < m; ++i)
      if (idx[i] < 0) idx[i] = -1 - idx[i];
    PetscCall(VecGetArrayReadAndMemType(v, &a, &type));
    PetscCall(HopsBackendOfMemory(type, &be));
    PetscCheck(be, PETSC_COMM_SELF, PETSC_ERR_SUP, "A vector lies in memory of a kind that no back end has");
    PetscCall((*be->memory->PoolMalloc)(m * sizeof(PetscInt), (void **)&there));
    PetscCall((*be->memory->PoolMalloc)(m * sizeof(PetscScalar), (void **)&values));
    PetscCall((*be->memory->Copy)(NULL, there, idx, m * sizeof(PetscInt), HOPS_COPY_IN));
    PetscCall((*be->vector->Pack)(NULL, PETSC_DOUBLE, m, there, a, values));
    PetscCall((*be->memory->Copy)(NULL, closure, values, m * sizeof(PetscScalar), HOPS_COPY_OUT));
    PetscCall((*be->memory->PoolFree)((void **)&there));
    PetscCall((*be->memory->PoolFree)((void **)&values));
    PetscCall(VecRestoreArrayReadAndMemType(v, &a));
  }
  PetscCall(DMPlexRestoreClosureIndices(dm, s, s, cell, PETSC_FALSE, &m, &idx, NULL, NULL));
  *n = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFieldsGetClosure(HopsFields F, DM dm, Vec v, PetscInt cell, PetscBool single, PetscScalar closure[])
{
  PetscScalar *all = NULL;
  PetscInt     n   = F->nclosure;

  PetscFunctionBegin;
  if (single) PetscCall(HopsFieldsFetch(dm, v, cell, &n, closure));
  else PetscCall(DMPlexVecGetClosure(dm, NULL, v, cell, &n, &all));
  PetscCheck(n == F->nclosure, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Cell %" PetscInt_FMT " has %" PetscInt_FMT " unknowns in its closure, not %" PetscInt_FMT, cell, n, F->nclosure);
  if (single) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArraycpy(closure, all, n));
  PetscCall(DMPlexVecRestoreClosure(dm, NULL, v, cell, &n, &all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFieldPointsEvaluate(const HopsFieldPoints *at, DM dm, Vec v, PetscInt cell, const PetscReal Ji[],
                                       PetscScalar u[], PetscScalar ux[])
{
  HopsFields     F   = at->fields;
  const PetscInt dim = F->dim, nq = at->nq, nu = F->off[F->nf];
  PetscScalar   *closure, *e0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(F->nclosure, &closure));
  PetscCall(HopsFieldsGetClosure(F, dm, v, cell, at->single, closure));
  e0 = closure;
  for (PetscInt f = 0; f < F->nf; ++f) {
    const HopsBasis *basis = &at->basis[f];
    const PetscInt   nc = F->nc[f], np = HopsPower(basis->P, dim), nm = PetscMax(np, nq);
    PetscReal       *e = at->work, *t = e + nm, *scratch = t + nm;
    const PetscReal *M[3];

    for (PetscInt cp = 0; cp < nc * HOPS_PARTS; ++cp) {
      const PetscInt c = cp / HOPS_PARTS, part = cp % HOPS_PARTS, k = F->off[f] + c;

      for (PetscInt i = 0; i < np; ++i) e[F->node[f][i]] = HopsScalarPart(e0[i * nc + c], part);
      for (PetscInt d = 0; d < dim; ++d) M[d] = basis->B;
      PetscCall(HopsTensorApply(dim, basis->Q, basis->P, M, e, t, scratch));
      for (PetscInt q = 0; q < nq; ++q) HopsScalarSetPart(&u[q * nu + k], part, t[q]);
      for (PetscInt d = 0; ux && d < dim; ++d) { /* reference gradients first */
        if (basis->Q >= basis->P) HopsTensorApplyDirection(dim, d, basis->Q, basis->C, t, scratch);
        else { /* the values at the points do not determine the polynomial */ M[d] = basis->D;
          PetscCall(HopsTensorApply(dim, basis->Q, basis->P, M, e, scratch, scratch + nm));
          M[d] = basis->B;
        }
        for (PetscInt q = 0; q < nq; ++q) HopsScalarSetPart(&ux[(q * nu + k) * dim + d], part, scratch[q]);
      }
    }
    e0 += nc * np;
  }
  PetscCall(PetscFree(closure));
  for (PetscInt q = 0; ux && q < nq; ++q)
    for (PetscInt k = 0; k < nu; ++k) {
      PetscScalar *g = ux + (q * nu + k) * dim, r[3] = {0., 0., 0.};

      for (PetscInt d = 0; d < dim; ++d)
        for (PetscInt a = 0; a < dim; ++a) r[d] += g[a] * Ji[q * dim * dim + a * dim + d];
      for (PetscInt d = 0; d < dim; ++d) g[d] = r[d];
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
