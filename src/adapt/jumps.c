/* Estimates by the jumps of the normal flux between cells, and by the residual inside of them. */
#include <hops/private/hopsadaptimpl.h>

/* What the sides of a rank have, [n][nq] at the points of their frames: the flux out of the cell, the other
   side's, and weight times surface element; and their diameters */
typedef struct {
  PetscInt   nq;
  PetscReal *out, *other;
  PetscReal *area, *diameter;
} Traces;

/* Robin coefficients times the surface element, at Gauss points in the facets' own directions, v[rows][nq];
   row at[2 dim (cell) + face], or -1 */
typedef struct {
  PetscInt  *at;
  PetscReal *v;
} Robin;

static PetscErrorCode RobinCreate(const HopsFlux *fl, Robin *r)
{
  const HopsSpace     sp  = fl->sp;
  const PetscInt      dim = sp->dim, nq = HopsPower(fl->Q, dim - 1);
  PetscInt            n = 0, row = 0;
  HopsBasis           gauss;
  const HopsIntegral *in;
  PetscReal          *a;

  PetscFunctionBegin;
  for (PetscInt i = 0; (in = HopsFormNext(fl->form, HOPS_BOUNDARY, &i));) n += in->facets->n;
  PetscCall(HopsBasisCreate(sp->order + 1, fl->Q, PETSC_FALSE, &gauss));
  PetscCall(PetscMalloc1(2 * dim * sp->ncells, &r->at));
  PetscCall(PetscCalloc1(n * nq, &r->v));
  PetscCall(PetscMalloc1(n * nq, &a));
  for (PetscInt i = 0; i < 2 * dim * sp->ncells; ++i) r->at[i] = -1;
  for (PetscInt i = 0; (in = HopsFormNext(fl->form, HOPS_BOUNDARY, &i));) {
    PetscCall(HopsFaceEvaluate(sp, &gauss, in->facets->n, in->facets->cells, in->facets->faces, in->coefficient, a));
    for (PetscInt f = 0; f < in->facets->n; ++f) {
      PetscInt *at = r->at + 2 * dim * in->facets->cells[f] + in->facets->faces[f];

      if (*at < 0) *at = row++;
      for (PetscInt q = 0; q < nq; ++q) r->v[*at * nq + q] += a[f * nq + q];
    }
  }
  PetscCall(PetscFree(a));
  PetscCall(HopsBasisDestroy(&gauss));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RobinDestroy(Robin *r)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(r->at));
  PetscCall(PetscFree(r->v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where point i of a side is among those of a direction along it, of a rule that has halves or not; i < 0:
   its lower end, i >= Q: its upper one */
static inline PetscInt PointOf(PetscInt Q, PetscBool halves, PetscInt upper, PetscInt i)
{
  const PetscInt first = halves && upper ? Q + 1 : 0;

  return i < 0 ? first : (i >= Q ? first + Q + 1 : first + 1 + i);
}

/* Among the points of the cell, that of a side with i[dim-1] in its own directions */
static PetscInt CellPoint(const HopsFlux *fl, const HopsFacetSide *s, const PetscInt i[])
{
  const PetscBool halves = s->part >= 0 ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt  dim = fl->sp->dim, n = fl->rule[halves].Q, d = s->face / 2;
  PetscInt        at = 0, stride = 1, k = 0;

  for (PetscInt a = 0; a < dim; ++a, stride *= n) {
    if (a == d) at += s->face % 2 ? (n - 1) * stride : 0;
    else {
      at += stride * PointOf(fl->Q, halves, s->part >> k & 1, i[k]);
      ++k;
    }
  }
  return at;
}

static void SideDiameter(const HopsFlux *fl, const HopsFacetSide *s, PetscReal *diameter)
{
  const PetscInt   dim = fl->sp->dim, n = 1 << (dim - 1);
  const PetscReal *corner[4];

  for (PetscInt v = 0; v < n; ++v) {
    const PetscInt i[2] = {v & 1 ? fl->Q : -1, v & 2 ? fl->Q : -1};

    corner[v] = fl->x + CellPoint(fl, s, i) * dim;
  }
  *diameter = HopsDiameter(dim, n, corner);
}

/* The flux out of the cell at the points of a side. On the boundary a Robin term is added, where robin[] is
   not NULL, and the given one is subtracted; essential facets have none */
static PetscErrorCode SideTrace(HopsFlux *fl, const HopsFacetSide *s, HopsPointFunction flux, void *ctx, PetscBool essential,
                                const PetscReal robin[], PetscReal out[], PetscReal area[])
{
  const PetscInt dim = fl->sp->dim, Q = fl->Q, nq = HopsPower(Q, dim - 1), d = s->face / 2;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nq; ++k) {
    const PetscInt own = HopsFrameToOwn(dim, s->frame, Q, k), i[2] = {own % Q, own / Q}, q = CellPoint(fl, s, i);
    PetscReal      n[3], ds = 0.0;
    PetscScalar    g;

    for (PetscInt a = 0; a < dim; ++a) { /* Nanson: n ds = det J J^-T e_d */
      n[a] = (s->face % 2 ? fl->det[q] : -fl->det[q]) * fl->Ji[(q * dim + d) * dim + a];
      ds += n[a] * n[a];
    }
    ds     = PetscSqrtReal(ds);
    out[k] = 0.0;
    for (PetscInt a = 0; a < dim; ++a) out[k] += fl->F[q * dim + a] * n[a] / ds;
    area[k] = ds * fl->weight[i[0]] * (dim == 3 ? fl->weight[i[1]] : 1.0) / (s->part >= 0 ? 1 << (dim - 1) : 1);
    if (!s->boundary) continue;
    if (robin) out[k] += robin[own] / ds * fl->v[q];
    if (essential) out[k] = 0.0;
    else if (flux) {
      PetscCall((*flux)(dim, fl->x + q * dim, 1, &g, ctx));
      out[k] -= PetscRealPart(g);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the facet essential nodes alone? */
static PetscBool IsEssential(HopsSpace sp, const HopsFacetSide *s, const PetscInt node[])
{
  const PetscInt nf = HopsPower(sp->order + 1, sp->dim - 1);

  for (PetscInt i = 0; i < nf; ++i)
    if (sp->restr[s->cell * sp->ne + node[s->face * nf + i]] < sp->nT + sp->nG) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* h^2 / p^2 int (f + div(kappa grad u) - m u)^2 in the cell at hand, by its Gauss points. The divergence is
   that of the polynomial through the reference flux det J^-1 F at all points */
static PetscErrorCode AddResidual(HopsFlux *fl, PetscInt cell, HopsPointFunction f, void *ctx, PetscReal ref[], PetscReal *eta2)
{
  const HopsBasis *rule = &fl->rule[0];
  const PetscInt   dim = fl->sp->dim, n = rule->Q, nq = HopsPower(n, dim);
  const PetscReal *corner[8];
  PetscReal       *div = ref + nq, *part = div + nq, sum = 0.0, h;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(div, nq));
  for (PetscInt d = 0; d < dim; ++d) {
    for (PetscInt q = 0; q < nq; ++q) {
      ref[q] = 0.0;
      for (PetscInt a = 0; a < dim; ++a) ref[q] += fl->det[q] * fl->Ji[(q * dim + d) * dim + a] * fl->F[q * dim + a];
    }
    HopsTensorApplyDirection(dim, d, n, rule->C, ref, part);
    for (PetscInt q = 0; q < nq; ++q) div[q] += part[q];
  }
  for (PetscInt k = 0; k < HopsPower(fl->Q, dim); ++k) {
    const PetscInt i[3] = {k % fl->Q, k / fl->Q % fl->Q, k / (fl->Q * fl->Q)};
    const PetscInt q    = 1 + i[0] + n * (1 + i[1]) + (dim == 3 ? n * n * (1 + i[2]) : 0);
    PetscScalar    r    = 0.0;

    if (f) PetscCall((*f)(dim, fl->x + q * dim, 1, &r, ctx));
    r += div[q] / fl->det[q];
    if (fl->m.nc) r -= fl->m.v[q * fl->m.pstride] * fl->v[q];
    sum += PetscSqr(PetscRealPart(r)) * fl->det[q] * fl->weight[i[0]] * fl->weight[i[1]] * (dim == 3 ? fl->weight[i[2]] : 1.0);
  }
  for (PetscInt v = 0; v < (1 << dim); ++v)
    corner[v] = fl->x + dim * (n - 1) * ((v & 1) + n * (v >> 1 & 1) + (dim == 3 ? n * n * (v >> 2) : 0));
  h = HopsDiameter(dim, 1 << dim, corner);
  *eta2 += PetscSqr(h / (fl->order ? fl->order[cell] : fl->sp->order)) * sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillTraces(HopsSpace sp, HopsFlux *fl, const HopsFacetSides *s, const PetscReal x[], PetscBool residual,
                                 HopsPointFunction f, HopsPointFunction flux, void *ctx, Traces *t, PetscReal eta2[])
{
  const PetscInt dim = sp->dim, nf = HopsPower(sp->order + 1, dim - 1);
  PetscInt      *node;
  PetscReal     *work;
  Robin          robin;

  PetscFunctionBegin;
  PetscCall(RobinCreate(fl, &robin));
  PetscCall(PetscMalloc1(3 * HopsPower(fl->rule[0].Q, dim), &work));
  PetscCall(PetscMalloc1(2 * dim * nf, &node));
  for (PetscInt face = 0; face < 2 * dim; ++face) PetscCall(HopsFaceNodes(dim, sp->order + 1, face, node + face * nf));
  for (PetscInt c = 0; c < sp->ncells; ++c)
    for (PetscInt halves = 0; halves < 2; ++halves) {
      PetscBool filled = PETSC_FALSE;

      if (residual && !halves) {
        PetscCall(HopsFluxCell(fl, c, &fl->rule[0], &fl->geom[0], x));
        PetscCall(AddResidual(fl, c, f, ctx, work, eta2 + c));
        filled = PETSC_TRUE;
      }
      for (PetscInt i = s->start[c]; i < s->start[c + 1]; ++i) {
        const HopsFacetSide *side = s->side + i;
        const PetscInt       row  = robin.at[2 * dim * c + side->face];

        if ((side->part >= 0) != halves) continue;
        if (!filled) PetscCall(HopsFluxCell(fl, c, &fl->rule[halves], &fl->geom[halves], x));
        filled = PETSC_TRUE;
        SideDiameter(fl, side, t->diameter + i);
        PetscCall(SideTrace(fl, side, flux, ctx, side->boundary ? IsEssential(sp, side, node) : PETSC_FALSE,
                            row < 0 ? NULL : robin.v + row * t->nq, t->out + i * t->nq, t->area + i * t->nq));
      }
    }
  PetscCall(RobinDestroy(&robin));
  PetscCall(PetscFree(work));
  PetscCall(PetscFree(node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsEstimateJumps(HopsSpace sp, HopsFlux *fl, const HopsFacetSides *s, const PetscReal x[], PetscBool residual,
                                 HopsPointFunction f, HopsPointFunction flux, void *ctx, PetscReal eta2[])
{
  Traces       t = {.nq = HopsPower(fl->Q, sp->dim - 1)};
  MPI_Datatype unit;

  PetscFunctionBegin;
  PetscCall(HopsCheckIndex("points of facets", (PetscInt64)s->n * t.nq));
  PetscCall(PetscMalloc4(s->n * t.nq, &t.out, s->n * t.nq, &t.other, s->n * t.nq, &t.area, s->n, &t.diameter));
  PetscCall(FillTraces(sp, fl, s, x, residual, f, flux, ctx, &t, eta2));
  PetscCall(PetscArrayzero(t.other, s->n * t.nq));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)t.nq, MPIU_REAL, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFBcastBegin(s->others, unit, t.out, t.other, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(s->others, unit, t.out, t.other, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  for (PetscInt i = 0; i < s->n; ++i) { /* both fluxes leave their cells: the jump is the sum */
    PetscReal sum = 0.0;

    for (PetscInt k = i * t.nq; k < (i + 1) * t.nq; ++k) sum += t.area[k] * PetscSqr(PetscRealPart(t.out[k] + t.other[k]));
    eta2[s->side[i].cell] += t.diameter[i] / (2.0 * (fl->order ? fl->order[s->side[i].cell] : sp->order)) * sum;
  }
  PetscCall(PetscFree4(t.out, t.other, t.area, t.diameter));
  PetscFunctionReturn(PETSC_SUCCESS);
}
