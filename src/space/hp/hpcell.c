/* What functions of a space with cells of several orders are in a cell. */
#include <hops/private/hopshpimpl.h>

#define ORDERS 65

PetscErrorCode HopsHPCellCreate(HopsHPSpace hp, PetscInt q, HopsHPCell *k)
{
  const PetscInt most = hp->mesh->order + 1;

  PetscFunctionBegin;
  *k    = (HopsHPCell){.hp = hp, .q = q, .dim = hp->mesh->dim, .cell = -1};
  k->nq = HopsPower(q + 1, k->dim);
  PetscCall(HopsHangingCreate(HOPS_H1, k->dim, q, &k->hang));
  PetscCall(PetscMalloc4(k->nq, &k->on, HopsPower(most, k->dim), &k->entry, HopsPower(most, k->dim), &k->col, k->nq, &k->own));
  PetscCall(PetscMalloc3(HopsPower(most, k->dim), &k->s, HopsPower(most, k->dim), &k->t, 2 * HopsPower(most, k->dim), &k->work));
  PetscCall(PetscCalloc1(ORDERS * ORDERS, &k->between));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHPCellDestroy(HopsHPCell *k)
{
  PetscFunctionBegin;
  PetscCall(HopsHangingDestroy(&k->hang));
  PetscCall(PetscFree4(k->on, k->entry, k->col, k->own));
  PetscCall(PetscFree3(k->s, k->t, k->work));
  for (PetscInt i = 0; i < ORDERS * ORDERS; ++i) PetscCall(PetscFree(k->between[i]));
  PetscCall(PetscFree(k->between));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nodes at the ends are the same, to the last bit: what goes from boundary to boundary reads nothing else */
static PetscErrorCode Between(HopsHPCell *k, PetscInt a, PetscInt b, const PetscReal **matrix)
{
  PetscReal **M = k->between + a * ORDERS + b, *x, *w;
  HopsBasis   basis;

  PetscFunctionBegin;
  if (!*M) {
    PetscCall(PetscMalloc1((a + 1) * (b + 1), M));
    PetscCall(PetscMalloc2(b + 1, &x, b + 1, &w));
    PetscCall(HopsGLL(b + 1, x, w));
    PetscCall(HopsBasisCreateAtPoints(a + 1, b + 1, x, &basis));
    PetscCall(PetscArraycpy(*M, basis.B, (a + 1) * (b + 1)));
    for (PetscInt i = 0; i <= a; ++i) {
      (*M)[i]               = i == 0 ? 1.0 : 0.0;
      (*M)[b * (a + 1) + i] = i == a ? 1.0 : 0.0;
    }
    PetscCall(HopsBasisDestroy(&basis));
    PetscCall(PetscFree2(x, w));
  }
  *matrix = *M;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt HopsEntityDirections(PetscInt dim, PetscInt e, PetscInt p, PetscInt stride[3], PetscInt *start)
{
  PetscInt m = 0;

  *start = 0;
  for (PetscInt d = 0, st = 1; d < dim; ++d, st *= p + 1) {
    const PetscInt digit = HopsEntityDigit(e, d);

    if (digit == 2) stride[m++] = st;
    else if (digit == 1) *start += p * st;
  }
  return m;
}

/* Entry i of the n^m inside of an entity, whose lattice has n + 2 nodes a direction */
static inline PetscInt Inside(PetscInt m, PetscInt n, const PetscInt stride[], PetscInt i)
{
  PetscInt at = 0;

  for (PetscInt d = 0; d < m; ++d, i /= n) at += (1 + i % n) * stride[d];
  return at;
}

PetscErrorCode HopsHPCellSet(HopsHPCell *k, PetscInt c)
{
  const HopsHPSpace hp   = k->hp;
  const HopsSpace   mesh = hp->mesh;
  const PetscInt    dim = k->dim, ne = HopsPower(3, dim), p = mesh->order;
  PetscInt          stride[3], start;

  PetscFunctionBegin;
  k->cell     = c;
  k->first[0] = 0;
  if (mesh->hanging) (void)HopsHangingNodes(&k->hang, mesh->hang[c], k->on);
  for (PetscInt e = 0; e < ne; ++e) {
    PetscInt m = HopsEntityDirections(dim, e, p, stride, &start), a, n;

    for (PetscInt d = 0; d < m && p > 1; ++d) start += stride[d];
    a           = m == dim ? hp->order[c] : (m ? hp->least[mesh->restr[c * mesh->ne + start]] : 1);
    k->order[e] = p > 1 ? a : 1;
    a           = k->order[e];
    /* the nodes of the entity's own lattice */
    m = HopsEntityDirections(dim, e, a, stride, &start);
    n = HopsPower(a - 1, m);
    for (PetscInt i = k->first[e]; i < k->first[e] + n; ++i) {
      const PetscInt node = start + Inside(m, a - 1, stride, i - k->first[e]);

      k->entry[i] = mesh->restr[c * mesh->ne + HopsSpaceLowerNode(mesh, a, c, node)];
      k->col[i]   = hp->number ? hp->number[k->entry[i]] : -1;
    }
    k->first[e + 1] = k->first[e] + n;
    /* and whether it is a parent's: so are those of order q inside of it */
    k->hangs[e] = PETSC_FALSE;
    if (!mesh->hanging || (m && k->q < 2)) continue;
    m = HopsEntityDirections(dim, e, k->q, stride, &start);
    for (PetscInt d = 0; d < m; ++d) start += stride[d];
    k->hangs[e] = k->on[start];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of u inside of an entity, of what it is on the entity's boundary and of the unknowns inside */
static PetscErrorCode Extend(HopsHPCell *k, PetscInt e, const PetscReal in[], const PetscReal from[], PetscReal u[])
{
  const PetscInt   q = k->q, a = k->order[e];
  PetscInt         stride[3], start, m = HopsEntityDirections(k->dim, e, q, stride, &start);
  const PetscInt   n = HopsPower(q + 1, m), inside = HopsPower(q - 1, m);
  PetscInt         lattice[3] = {1, a + 1, (a + 1) * (a + 1)}, to[3] = {1, q + 1, (q + 1) * (q + 1)};
  const PetscInt   na[3] = {a + 1, a + 1, a + 1}, nq[3] = {q + 1, q + 1, q + 1};
  const PetscReal *down, *up, *M[3];
  PetscBool        some = PETSC_FALSE;

  PetscFunctionBegin;
  in += k->first[e];
  if (a == q) {
    for (PetscInt i = 0; i < inside; ++i) u[start + Inside(m, q - 1, stride, i)] = in[i];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt at = start;

    for (PetscInt d = 0, j = i; d < m; ++d, j /= q + 1) at += j % (q + 1) * stride[d];
    k->t[i] = from[at];
  }
  for (PetscInt i = 0; i < inside; ++i) k->t[Inside(m, q - 1, to, i)] = 0.0;
  for (PetscInt i = 0; i < n && !some; ++i) some = k->t[i] != 0.0 ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt i = 0; i < HopsPower(a - 1, m) && !some; ++i) some = in[i] != 0.0 ? PETSC_TRUE : PETSC_FALSE;
  if (some) { /* of a unit vector most are not */
    PetscCall(Between(k, q, a, &down));
    PetscCall(Between(k, a, q, &up));
    for (PetscInt d = 0; d < m; ++d) M[d] = down;
    HopsTensorApplyRect(m, na, nq, M, k->t, k->s, k->work);
    for (PetscInt i = 0; i < HopsPower(a - 1, m); ++i) k->s[Inside(m, a - 1, lattice, i)] = in[i];
    for (PetscInt d = 0; d < m; ++d) M[d] = up;
    HopsTensorApplyRect(m, nq, na, M, k->s, k->t, k->work);
  }
  for (PetscInt i = 0; i < inside; ++i) u[start + Inside(m, q - 1, stride, i)] = some ? k->t[Inside(m, q - 1, to, i)] : 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  From small entities to large ones. Those that are parents' come first: their boundaries are listed, too. J
  makes the cell's own values of them, on which the others go on. A polynomial of the order of an entity is
  one of the order of what it bounds, since the former is the least of all cells on it: so values at the nodes
  of another order are exact.
*/
PetscErrorCode HopsHPCellList(HopsHPCell *k, const PetscReal in[], PetscReal u[])
{
  const PetscInt dim = k->dim, ne = HopsPower(3, dim);
  const unsigned mask = k->hp->mesh->hanging ? k->hp->mesh->hang[k->cell] : 0;
  PetscInt       stride[3], start;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(u, k->nq));
  for (PetscInt e = 0; e < ne; ++e)
    if (!HopsEntityDirections(dim, e, k->q, stride, &start)) u[start] = in[k->first[e]];
  for (PetscInt m = 1; m < dim && k->q > 1 && mask; ++m)
    for (PetscInt e = 0; e < ne; ++e)
      if (k->hangs[e] && HopsEntityDirections(dim, e, k->q, stride, &start) == m) PetscCall(Extend(k, e, in, u, u));
  PetscCall(PetscArraycpy(k->own, u, k->nq));
  if (mask) HopsHangingApply(&k->hang, mask, PETSC_FALSE, k->own);
  for (PetscInt m = 1; m <= dim && k->q > 1; ++m)
    for (PetscInt e = 0; e < ne; ++e) {
      if (k->hangs[e] || HopsEntityDirections(dim, e, k->q, stride, &start) != m) continue;
      PetscCall(Extend(k, e, in, k->own, k->own));
      for (PetscInt i = 0; i < HopsPower(k->q - 1, m); ++i) {
        const PetscInt at = start + Inside(m, k->q - 1, stride, i);

        u[at] = k->own[at];
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
