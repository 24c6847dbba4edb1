/* Maps between two families on the lattices of the cells, derivatives and means, on the unknowns that cells
   list. */
#include <hops/private/hopslatticemap.h>
#include <hops/private/hopsdevicematimpl.h>

/* The cells of a space among those of another one on the same mesh: both order them their own way. On a rank
   where they are not the same *cell is NULL, and why[] says so */
static PetscErrorCode HopsCompanionFindCells(HopsSpace from, HopsSpace to, PetscInt *cell[], char why[])
{
  PetscBool same =
    from->ncells == to->ncells && from->ncaller == to->ncaller && from->cstart == to->cstart ? PETSC_TRUE : PETSC_FALSE;
  PetscInt *where;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(from->ncaller, &where));
  PetscCall(PetscMalloc1(to->ncells, cell));
  for (PetscInt c = 0; c < from->ncaller; ++c) where[c] = -1;
  for (PetscInt c = 0; c < from->ncells; ++c) where[from->cell[c] - from->cstart] = c;
  for (PetscInt c = 0; c < to->ncells && same; ++c) {
    (*cell)[c] = where[to->cell[c] - to->cstart];
    if ((*cell)[c] < 0) same = PETSC_FALSE;
  }
  PetscCall(PetscFree(where));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(*cell));
  PetscCall(HopsRefuse(why, "The spaces are on different meshes, or on different distributions of one: make one from the other by "
                            "HopsSpaceCreateCompanion()"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same where not all ranks ask: its error is this rank's alone */
PetscErrorCode HopsCompanionCells(HopsSpace from, HopsSpace to, PetscInt *cell[])
{
  char why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  PetscCall(HopsCompanionFindCells(from, to, cell, why));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "%s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static unsigned Mask(HopsSpace sp, PetscInt c)
{
  return sp->hanging ? sp->hang[c] : 0;
}

/* Collective: what one rank finds wrong is the error of all */
PetscErrorCode HopsLatticeMapCreate(HopsSpace from, HopsSpace to, HopsIncidence inc, PetscBool mean, HopsLatticeMap *m)
{
  char why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  *m = (HopsLatticeMap){.from = from, .to = to, .inc = inc, .mean = mean};
  PetscCall(HopsSpaceBringMesh(from));
  PetscCall(HopsSpaceBringMesh(to));
  PetscCall(HopsCompanionFindCells(from, to, &m->cell, why));
  for (PetscInt c = 0; c < to->ncells && m->cell; ++c)
    if (Mask(from, m->cell[c]) != Mask(to, c))
      PetscCall(HopsRefuse(why,
                           "Cell %" PetscInt_FMT " has the mask 0x%x in one space and 0x%x in the other: make both by "
                           "HopsSpaceCreateAdaptiveFromArrays(), with the same masks",
                           to->cell[c], Mask(from, m->cell[c]), Mask(to, c)));
  if (why[0]) PetscCall(PetscFree(m->cell));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)to), PETSC_ERR_ARG_INCOMP, why));
  PetscCall(PetscMalloc4(PetscMax(from->ne, 6), &m->col, PetscMax(from->ne, 6), &m->value, from->ne, &m->sum, to->ne, &m->on));
  PetscCall(PetscArrayzero(m->on, to->ne));
  PetscCall(PetscArrayzero(m->sum, from->ne));
  if (!to->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHangingCreate(from->family, from->dim, from->order, &m->hang[0]));
  PetscCall(HopsHangingCreate(to->family, to->dim, to->order, &m->hang[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLatticeMapDestroy(HopsLatticeMap *m)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(m->cell));
  PetscCall(PetscFree4(m->col, m->value, m->sum, m->on));
  PetscCall(PetscFree(m->start));
  PetscCall(PetscFree(m->jcol));
  PetscCall(PetscFree(m->w));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(HopsHangingDestroy(&m->hang[k]));
  PetscCall(HopsIncidenceDestroy(&m->inc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLatticeMapSetCell(HopsLatticeMap *m, PetscInt c)
{
  PetscFunctionBegin;
  m->c     = c;
  m->rto   = m->to->restr + c * m->to->ne;
  m->rfrom = m->from->restr + m->cell[c] * m->from->ne;
  if (!m->to->hanging || m->mask == Mask(m->to, c)) PetscFunctionReturn(PETSC_SUCCESS); /* cells are sorted by masks */
  m->mask = Mask(m->to, c);
  PetscCall(PetscFree(m->start));
  PetscCall(PetscFree(m->jcol));
  PetscCall(PetscFree(m->w));
  (void)HopsHangingNodes(&m->hang[1], m->mask, m->on);
  PetscCall(HopsHangingRows(&m->hang[0], m->mask, 0, &m->start, &m->jcol, &m->w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the boundary of a cell's own entry some may be a part of a parent's: what it is by J */
void HopsLatticeMapOwnRow(HopsLatticeMap *m, PetscInt i)
{
  m->n = 0;
  for (PetscInt pass = 0; pass < 2; ++pass)
    for (PetscInt k = 0; k < m->inc.n[i]; ++k) {
      const PetscInt v = m->inc.col[6 * i + k];

      for (int j = m->start[v]; j < m->start[v + 1]; ++j) {
        const int e = m->jcol[j], s = m->rfrom[e];

        if (!pass) m->sum[e] += m->inc.sgn[6 * i + k] * m->w[j];
        else if (PetscAbsReal(m->sum[e]) > 1e-14) {
          m->col[m->n]     = HopsUnsigned(s);
          m->value[m->n++] = m->sum[e] * (m->mean ? 1.0 : HopsSign(m->rto[i])) * HopsSign(s);
        }
        if (pass) m->sum[e] = 0.0;
      }
    }
}
