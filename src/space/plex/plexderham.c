/* H(curl), H(div) and L2 spaces on a DMPlex: where the unknowns of a cell sit, and with which sign the cell
   sees them. */
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopspleximpl.h>

const char *const HopsFamilies[] = {"H1", "H(curl)", "H(div)", "L2", "HopsFamily", "HOPS_", NULL};

PetscErrorCode HopsSpaceCheckH1(HopsSpace sp, const char what[])
{
  PetscFunctionBegin;
  PetscCheck(sp->family == HOPS_H1, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
             "%s: for H1 spaces only (HopsSpaceCreateH1()), and this one is %s", what, HopsFamilies[sp->family]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Frame of a mesh point as the cell sees it: its own first corner O on the cell's lattice of order p, and its
  own directions, axis a[k] of the cell with sign s[k]. An edge goes from its first to its last vertex, a face
  from vertex 0 to 1 and to 3.
*/
typedef struct {
  PetscInt d, O[3], a[3], s[3];
} HopsFrame;

static void HopsFrameCreate(const HopsPlexClosure *cl, PetscInt p, PetscInt i, PetscInt o, HopsFrame *f)
{
  const PetscInt *corner[3] = {NULL, NULL, NULL}; /* the first corner, and its neighbours along the directions */

  f->d = i ? cl->depth[i] : cl->dim;
  if (!i) {
    for (PetscInt k = 0; k < 3; ++k) {
      f->O[k] = 0;
      f->a[k] = k;
      f->s[k] = 1;
    }
    return;
  }
  if (f->d == 0) corner[0] = cl->corner[i][0];
  else if (f->d == 1) {
    corner[0] = cl->corner[i][o < 0 ? 1 : 0];
    corner[1] = cl->corner[i][o < 0 ? 0 : 1];
  } else {
    const PetscInt *V[4];

    for (PetscInt k = 0; k < 4; ++k) V[HopsQuadVertex(o, k)] = cl->corner[i][k];
    corner[0] = V[0];
    corner[1] = V[1];
    corner[2] = V[3];
  }
  for (PetscInt d = 0; d < 3; ++d) f->O[d] = d < cl->dim ? p * corner[0][d] : 0;
  for (PetscInt k = 0; k < f->d; ++k)
    for (PetscInt d = 0; d < cl->dim; ++d) {
      if (corner[k + 1][d] == corner[0][d]) continue;
      f->a[k] = d;
      f->s[k] = corner[k + 1][d] - corner[0][d];
    }
}

/*
  The E-vector entry of the point's own unknown t, as -1-entry where the cell sees it with the opposite sign.
  Its own unknowns are the lattice entities inside it, component by component as in a cell, lexicographic in
  its frame.
*/
static PetscInt HopsFrameEntry(const HopsFrame *f, const HopsLayout *l, HopsFamily family, PetscInt dim, PetscInt p, PetscInt t)
{
  const PetscInt k = HopsFamilyForm(family, dim), d = f->d, np = HopsPower(p, k) * HopsPower(p - 1, d - k);
  const PetscInt m     = t / np; /* the direction in which it extends, or, if it extends in all but one, that one */
  PetscInt       at[3] = {f->O[0], f->O[1], f->O[2]}, c = 0, sign = 1, e;

  t %= np;
  for (PetscInt j = 0; j < d; ++j) {
    const PetscBool open = (k == d || (k == 1 && d == 2 && dim == 3 && j == m) || (d == dim && l->open[m][j]) || (k == 1 && d == 1))
                             ? PETSC_TRUE
                             : PETSC_FALSE;
    const PetscInt  n    = open ? p : p - 1;

    at[f->a[j]] += f->s[j] * (t % n + (open ? 0 : 1)) - (open && f->s[j] < 0 ? 1 : 0);
    t /= n;
  }
  if (d == dim) c = m;
  else if (family == HOPS_HCURL) {
    c    = f->a[m];
    sign = f->s[m];
  } else if (dim == 3) { /* normal: first direction x second direction */
    c    = 3 - f->a[0] - f->a[1];
    sign = f->s[0] * f->s[1] * ((f->a[1] - f->a[0] + 3) % 3 == 1 ? 1 : -1);
  } else { /* normal: to the right of the edge */
    c    = 1 - f->a[0];
    sign = f->s[0] * (f->a[0] == 1 ? 1 : -1);
  }
  e = HopsLayoutEntry(l, c, at);
  return sign > 0 ? e : -1 - e;
}

/* The E-vector entries of the unknowns of the closure's entry i seen with orientation o */
void HopsPlexEntryRow(const HopsPlexClosure *ref, const HopsLayout *layout, HopsFamily family, PetscInt order, PetscInt i,
                      PetscInt o, PetscInt dof, PetscInt row[])
{
  HopsFrame frame;

  HopsFrameCreate(ref, order, i, o, &frame);
  for (PetscInt t = 0; t < dof; ++t)
    row[t] =
      family == HOPS_H1 ? HopsPlexClosureNode(ref, order, i, o, t) : HopsFrameEntry(&frame, layout, family, ref->dim, order, t);
}

/* A space on the mesh, with hops' own numbering. Essential points are those in the closures of the label's
   values, or, where they are given, points[nv] */
PetscErrorCode HopsSpaceCreatePlex_Private(DM dm, HopsPlexCells cells, HopsFamily family, PetscInt order, DMLabel label,
                                           PetscInt nv, const PetscInt values[], const PetscInt points[], HopsSpace *space)
{
  HopsSpace   sp;
  HopsLayout  layout;
  DM          coarse;
  PetscInt    dim;
  const char *was = HopsMake("the space");

  PetscFunctionBegin;
  PetscCall(HopsInitialize());
  if (label) {
    HopsValidHeader(label, DMLABEL_CLASSID, 3);
    HopsValidArray(nv, values, 5);
  }
  PetscCall(HopsCheckPlex(dm, &dm, &dim));
  PetscCall(PetscLogEventBegin(HopsEvent.space, dm, 0, 0, 0));
  PetscCall(HopsSpaceCreate_Private(PetscObjectComm((PetscObject)dm), dim, order, &sp));
  PetscCall(HopsSpaceSetBackendFromDM(sp, dm));
  HopsLayoutCreate(family, dim, order, &layout);
  sp->family = family;
  sp->ne     = layout.ne;
  sp->nv     = label ? nv : 0;
  sp->label  = label;
  if (label) PetscCall(PetscObjectReference((PetscObject)label));
  if (!points) {
    PetscCall(PetscMalloc1(sp->nv + 1, &sp->values)); /* never NULL: the space has companions */
    PetscCall(PetscArraycpy(sp->values, values, sp->nv));
  }
  PetscCall(DMClone(dm, &sp->dm));
  PetscCall(DMGetCoarseDM(dm, &coarse)); /* a clone has lost it */
  PetscCall(DMSetCoarseDM(sp->dm, coarse));
  PetscCall(HopsSpaceSetCells(sp, dm, cells));
  PetscCall(HopsSpaceCheckCounts(sp));
  if (points) {
    sp->nfixed = nv;
    PetscCall(PetscMalloc1(nv + 1, &sp->fixed)); /* never NULL: the numbering is hops' own */
    PetscCall(PetscArraycpy(sp->fixed, points, nv));
  } else PetscCall(HopsPlexEssentialPoints(dm, label, nv, values, &sp->nfixed, &sp->fixed));
  PetscCall(HopsSpaceFixTree(sp));
  PetscCall(HopsPlexNumber(sp, &layout));
  PetscCall(HopsPlexGetGeometry(dm, sp));
  PetscCall(HopsSpaceCheckCounts(sp));
  PetscCall(PetscLogEventEnd(HopsEvent.space, dm, 0, 0, 0));
  (void)HopsMake(was);
  *space = sp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceCreateHCurl - Creates an H(curl) space (Nedelec elements) of any order on a `DMPLEX` mesh.

  Collective

  Input Parameters:
+ dm     - the mesh, of quadrilaterals or hexahedra, interpolated; it is cloned, not changed
. order  - the order, 1 for the lowest
. label  - label of the boundary where the tangential component is essential, or `NULL` for none
. nv     - number of label values
- values - [nv] label values of that boundary

  Output Parameter:
. space - the space; essential unknowns are absent from its vectors

  Level: beginner

.seealso: `HopsSpace`, `HopsFamily`, `HopsSpaceCreateHDiv()`, `HopsSpaceCreateH1()`,
`HopsSpaceCreateCompanion()`, `MatPASetCurlCurl()`
@*/
PetscErrorCode HopsSpaceCreateHCurl(DM dm, PetscInt order, DMLabel label, PetscInt nv, const PetscInt values[], HopsSpace *space)
{
  PetscFunctionBegin;
  HopsValidHeader(dm, DM_CLASSID, 1);
  HopsValidPointer(space, 6);
  PetscCall(HopsSpaceCreatePlex_Private(dm, NULL, HOPS_HCURL, order, label, nv, values, NULL, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceCreateHDiv - Creates an H(div) space (Raviart-Thomas elements) of any order on a `DMPLEX` mesh.

  Collective

  Input Parameters:
+ dm     - the mesh, of quadrilaterals or hexahedra, interpolated; it is cloned, not changed
. order  - the order, 1 for the lowest
. label  - label of the boundary where the normal component is essential, or `NULL` for none
. nv     - number of label values
- values - [nv] label values of that boundary

  Output Parameter:
. space - the space; essential unknowns are absent from its vectors

  Level: beginner

.seealso: `HopsSpace`, `HopsFamily`, `HopsSpaceCreateHCurl()`, `HopsSpaceCreateL2()`,
`HopsSpaceCreateCompanion()`, `MatPASetDivDiv()`
@*/
PetscErrorCode HopsSpaceCreateHDiv(DM dm, PetscInt order, DMLabel label, PetscInt nv, const PetscInt values[], HopsSpace *space)
{
  PetscFunctionBegin;
  HopsValidHeader(dm, DM_CLASSID, 1);
  HopsValidPointer(space, 6);
  PetscCall(HopsSpaceCreatePlex_Private(dm, NULL, HOPS_HDIV, order, label, nv, values, NULL, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceCreateL2 - Creates a discontinuous space of any order on a `DMPLEX` mesh, the range of the
  divergence of H(div).

  Collective

  Input Parameters:
+ dm    - the mesh, of quadrilaterals or hexahedra, interpolated; it is cloned, not changed
- order - the order: polynomials of degree order - 1 in each direction

  Output Parameter:
. space - the space

  Level: beginner

.seealso: `HopsSpace`, `HopsFamily`, `HopsSpaceCreateHDiv()`, `HopsSpaceCreateCompanion()`
@*/
PetscErrorCode HopsSpaceCreateL2(DM dm, PetscInt order, HopsSpace *space)
{
  PetscFunctionBegin;
  HopsValidHeader(dm, DM_CLASSID, 1);
  HopsValidPointer(space, 3);
  PetscCall(HopsSpaceCreatePlex_Private(dm, NULL, HOPS_L2, order, NULL, 0, NULL, NULL, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceGetFamily - Gets the family of a space.

  Not Collective

  Input Parameter:
. space - the space

  Output Parameter:
. family - the family

  Level: beginner

.seealso: `HopsSpace`, `HopsFamily`
@*/
PetscErrorCode HopsSpaceGetFamily(HopsSpace space, HopsFamily *family)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(family, 2);
  *family = space->family;
  PetscFunctionReturn(PETSC_SUCCESS);
}
