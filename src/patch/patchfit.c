/* The separable model of a star of cells. */
#include <hops/private/hopspatchimpl.h>

PetscErrorCode HopsPatchCellsLogs(const HopsPatchCells *pc, PetscReal **logs)
{
  const PetscInt  dim  = pc->space->dim;
  const PetscBool diff = HopsFormDerivative(pc->form) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(4 * pc->n, logs));
  for (PetscInt c = 0; c < pc->n; ++c) {
    for (PetscInt t = 0; t < 3; ++t) (*logs)[4 * c + t] = diff && t < dim ? PetscLogReal(pc->data[c].d[t]) : 0.0;
    (*logs)[4 * c + 3] = diff ? 0.0 : PetscLogReal(pc->data[c].m);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the fit reads of a cell of the star, its directions being the star's axes */
typedef struct {
  PetscInt             pos, axis[3]; /* of its directions */
  const HopsPatchCell *d;
  const PetscReal     *l; /* logarithms */
  PetscReal            w; /* product of the fitted weights m */
} Member;

static PetscInt Members(const HopsPatchCells *pc, const PetscReal logs[], const HopsPatchStar *s, Member member[8])
{
  PetscInt n = 0;

  for (PetscInt pos = 0; pos < 8; ++pos) {
    const PetscInt first = (s->seen[pos] >> 3) & 3, second = (s->seen[pos] >> 5) & 3;

    if (!HopsPatchStarHas(s, (int)pos)) continue;
    member[n++] = (Member){pos, {first, second, 3 - first - second}, pc->data + s->cell[pos], logs + 4 * s->cell[pos], 1.0};
  }
  return n;
}

/* The Robin term on a cell's face of direction t at the vertex */
static PetscReal Robin(const Member *k, const HopsPatchStar *s, PetscInt t)
{
  return k->d->robin[2 * t + ((s->seen[k->pos] >> t) & 1)];
}

/* Weights from main effects, by logarithms: effect[a][b] of side 1 against side 0 of axis b on term a */
static void Weights(PetscInt dim, PetscBool diff, const HopsPatchStar *s, PetscInt n, const Member member[], HopsPatchFit *f)
{
  PetscReal mean[3] = {0.0}, effect[3][3] = {{0.0}}, meffect[3] = {0.0};

  for (PetscInt k = 0; k < n; ++k)
    for (PetscInt b = 0; b < dim; ++b) {
      const PetscReal sign = s->side[b] == 1 ? 0.0 : ((member[k].pos >> b) & 1 ? 2.0 : -2.0) / n;

      for (PetscInt t = 0; t < dim; ++t) effect[member[k].axis[t]][b] += sign * member[k].l[t];
      mean[member[k].axis[b]] += member[k].l[b] / n;
      meffect[b] += sign * member[k].l[3];
    }
  for (PetscInt b = 0; b < dim; ++b) {
    PetscReal me = meffect[b];

    if (diff) {
      for (PetscInt t = 0; t < dim; ++t)
        if (t != b) me += effect[t][b] / (dim - 1);
    }
    for (PetscInt i = 0; i < 2; ++i) {
      const PetscReal h = s->side[b] == 2 ? i - 0.5 : 0.0;

      f->m[b][i] = PetscExpReal(h * me);
      f->a[b][i] = diff ? PetscExpReal(mean[b] + h * effect[b][b]) : 0.0;
    }
    f->robin[b] = 0.0;
  }
}

/*
  The separable model of a star: weights a and m of the cells along each axis with
    d_x ~ a_x m_y m_z,  d_y ~ m_x a_y m_z,  d_z ~ m_x m_y a_z,  reaction ~ sigma m_x m_y m_z.
  The logarithms are fitted by least squares, in closed form: main effects of a full factorial design. Where
  the cells are axis-parallel boxes and the coefficients a product, the fit is exact.
*/
void HopsPatchStarFit(const HopsPatchCells *pc, const PetscReal logs[], const HopsPatchStar *s, HopsPatchFit *f)
{
  const PetscInt  dim  = pc->space->dim;
  const PetscBool diff = HopsFormDerivative(pc->form) ? PETSC_TRUE : PETSC_FALSE;
  Member          member[8];
  const PetscInt  n = Members(pc, logs, s, member);

  Weights(dim, diff, s, n, member, f);
  f->sigma = 0.0;
  for (PetscInt k = 0; k < n; ++k) {
    Member *c = member + k;

    for (PetscInt b = 0; b < dim; ++b) c->w *= f->m[b][(c->pos >> b) & 1];
    f->sigma = PetscMax(f->sigma, c->d->m / c->w);
    for (PetscInt t = 0; t < dim; ++t)
      if (s->side[c->axis[t]] == 1)
        f->robin[c->axis[t]] = PetscMax(f->robin[c->axis[t]], Robin(c, s, t) / (c->w / f->m[c->axis[t]][0]));
  }
  f->bound[0] = PETSC_MAX_REAL;
  f->bound[1] = 0.0;
  for (PetscInt k = 0; k < n; ++k) {
    const Member *c  = member + k;
    PetscReal     lo = PETSC_MAX_REAL, hi = 0.0;

    for (PetscInt t = 0; t < dim && diff; ++t) {
      const PetscInt  b = c->axis[t], i = (c->pos >> b) & 1;
      const PetscReal others = c->w / f->m[b][i], r = c->d->d[t] / (others * f->a[b][i]);

      lo = PetscMin(lo, r);
      hi = PetscMax(hi, r);
      if (s->side[b] == 1 && f->robin[b] > 0.0) lo = PetscMin(lo, Robin(c, s, t) / (others * f->robin[b]));
    }
    if (diff) {
      f->bound[0] = PetscMin(f->bound[0], lo * c->d->lo);
      f->bound[1] = PetscMax(f->bound[1], hi * c->d->hi);
    }
    if (f->sigma > 0.0) {
      f->bound[0] = PetscMin(f->bound[0], c->d->m > 0.0 ? c->d->m / (c->w * f->sigma) * c->d->mlo : 0.0);
      f->bound[1] = PetscMax(f->bound[1], c->d->m / (c->w * f->sigma) * c->d->mhi);
    }
  }
}
