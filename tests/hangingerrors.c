static char help[] =
  "What is refused of meshes with hanging nodes: masks that contradict the mesh, and what does not know them.\n\n";

#include "backend_toy.h"
#include "hangingmesh.h"
#include "hopsexpect.h"

static HangMesh m;
static PetscInt hung = -1; /* 2 dim times a cell, and a facet of it that hangs */

typedef enum {
  FAULT_NONE,
  FAULT_HALF,    /* a cell claims the other half */
  FAULT_FACET,   /* a hanging facet is not in the mask */
  FAULT_EDGE,    /* a hanging edge is not */
  FAULT_EXTRA,   /* a facet that does not hang is in the mask */
  FAULT_BITS,    /* bits without meaning */
  FAULT_MOVED,   /* a hanging node is 1e-8 of the cell away */
  FAULT_COARSE,  /* the coarse cell is missing */
  FAULT_SIBLING, /* one of the fine cells is missing */
  FAULT_SIGN,    /* an unknown of the parent has the opposite sign */
  FAULT_NULL     /* no masks */
} Fault;

/* of the first layer: in 3D the cell across an edge stays coarse, so that it hangs and the facets there do
   not */
static PetscBool Some(PetscInt dim, const PetscReal x[], PetscReal h)
{
  return x[0] + x[1] < (dim == 2 ? 1.5 : 2.5) && (dim == 2 || x[2] < 1.0) ? PETSC_TRUE : PETSC_FALSE;
}

/* a cell with one hanging facet, or, in 3D, with edges alone */
static PetscInt Find(const HangArrays *a, PetscBool edge)
{
  for (PetscInt c = 0; c < a->nc; ++c) {
    const unsigned facets = a->masks[c] >> m.dim & ((1u << m.dim) - 1);

    if (edge ? !facets && a->masks[c] : facets && !(facets & (facets - 1))) return c;
  }
  return -1;
}

static PetscErrorCode Create(PetscInt p, Fault fault, HopsFamily family, PetscInt gorder, HopsSpace *sp)
{
  HangArrays      a;
  unsigned short *masks;
  PetscReal      *coords;
  PetscInt        c, nc, f = 0;
  PetscErrorCode  ierr;

  PetscFunctionBeginUser;
  PetscCall(HangFamilyCreate(&m, family, p, NULL, NULL, -1, &a));
  c     = Find(&a, fault == FAULT_EDGE ? PETSC_TRUE : PETSC_FALSE);
  masks = a.masks;
  nc    = a.nc;
  if (c >= 0) {
    while (!(masks[c] >> (m.dim + f) & 1) && f < m.dim) ++f;
    if (f < m.dim) hung = 2 * m.dim * c + 2 * f + (masks[c] >> f & 1);
    if (fault == FAULT_HALF) masks[c] ^= 1u << (f ? 0 : 1); /* along the facet */
    if (fault == FAULT_FACET || fault == FAULT_EDGE) masks[c] = 0;
    if (fault == FAULT_EXTRA) masks[c] |= 1u << (m.dim + (f ? 0 : 1));
    if (fault == FAULT_BITS) masks[c] |= 0x4000;
    if (fault == FAULT_MOVED) {
      const PetscInt st = PetscPowInt(p + 1, f ? 0 : 1), at = masks[c] >> f & 1 ? p * PetscPowInt(p + 1, f) : 0;

      a.coords[(c * a.np + at + st) * m.dim + f] += 1e-8;
    }
    if (fault == FAULT_SIGN) { /* one across the facet, of H(div), or along it */
      HangLayout l;
      PetscInt   i, k = family == HOPS_HDIV ? f : (f ? 0 : 1);

      HangLayoutCreate(family, m.dim, p, &l);
      for (i = 0; i < l.off[k + 1] - l.off[k]; ++i) {
        const PetscInt at[3] = {i % l.n[k][0], i / l.n[k][0] % l.n[k][1], i / (l.n[k][0] * l.n[k][1])};

        if (at[f] == (masks[c] >> f & 1 ? p : 0)) break;
      }
      a.nodes[c * a.ne + l.off[k] + i] = -1 - a.nodes[c * a.ne + l.off[k] + i];
    }
    if (fault == FAULT_SIBLING) { /* the last cell takes its place */
      --nc;
      PetscCall(PetscArraycpy(a.nodes + c * a.ne, a.nodes + nc * a.ne, a.ne));
      PetscCall(PetscArraycpy(a.coords + c * a.np * m.dim, a.coords + nc * a.np * m.dim, a.np * m.dim));
      masks[c] = masks[nc];
    }
  }
  for (PetscInt k = 0; k < a.nc && fault == FAULT_COARSE; ++k)
    if (m.cell[a.first + k].level == 0) {
      --nc;
      PetscCall(PetscArraycpy(a.nodes + k * a.ne, a.nodes + nc * a.ne, a.ne));
      PetscCall(PetscArraycpy(a.coords + k * a.np * m.dim, a.coords + nc * a.np * m.dim, a.np * m.dim));
      masks[k] = masks[nc];
      break;
    }
  PetscCall(PetscCalloc1(nc * PetscPowInt(gorder + 1, m.dim) * m.dim, &coords)); /* zeros where there are not as many */
  if (gorder == p) PetscCall(PetscArraycpy(coords, a.coords, nc * a.np * m.dim));
  ierr = HopsSpaceCreateAdaptiveFromArrays(PETSC_COMM_WORLD, family, m.dim, p, nc, a.owned, a.nodes,
                                           fault == FAULT_NULL ? NULL : masks, gorder, coords, 0, NULL, sp);
  PetscCall(PetscFree(coords));
  PetscCall(HangArraysDestroy(&a));
  PetscFunctionReturn(ierr);
}

/* consumers that do not know hanging nodes */
static PetscErrorCode Consumers(HopsSpace sp)
{
  HopsCoefficient one;
  PetscScalar     v = 1.0;
  HopsSpace       other, curl;
  HangMesh        save = m;
  PetscInt        M[3] = {1, 1, 1};
  Mat             A, D;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &v, &one));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, one));
  PetscCall(MatPASetMass(A, one));
  EXPECT("companions", HopsSpaceCreateCompanion(sp, HOPS_HCURL, PETSC_FALSE, &other), "from arrays|HopsSpaceSetCompanion()");
  PetscCall(HangCreate(2, M, PETSC_FALSE, 0, &m));
  PetscCall(HangList(&m, PETSC_FALSE));
  PetscCall(Create(2, FAULT_NONE, HOPS_HCURL, 2, &curl));
  EXPECT("companions of another mesh", HopsSpaceSetCompanion(sp, curl), "ompanions");
  PetscCall(HopsSpaceDestroy(&curl));
  PetscCall(Create(2, FAULT_NONE, HOPS_H1, 2, &curl));
  EXPECT("maps between meshes that nobody told of", MatCreateHopsInterp(curl, sp, &D),
         save.dim == 2 ? "HopsSpaceSetCoarse()" : "dimension");
  PetscCall(HopsSpaceDestroy(&curl));
  PetscCall(HangDestroy(&m));
  m = save;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetType(pc, i ? PCHOPSMG : PCPATCHFD));
    PetscCall(PetscOptionsSetValue(NULL, "-pc_patchfd_dense_max", "1"));
    PetscCall(PCSetFromOptions(pc));
    EXPECT(i ? "multigrid" : "patches", PCSetUp(pc),
           i ? "HopsSpaceSetCoarse()|-pc_hopsmg_coarsen|-pc_type lor" : "hanging nodes|-pc_patchfd_dense_max|jacobi");
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  dim = 2, M[3] = {2, 2, 2};
  HopsSpace sp;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(HangCreate(dim, M, PETSC_FALSE, 1, &m));
  PetscCall(HangAdapt(&m, 0, 1, 0.0, Some));
  PetscCall(HangList(&m, PETSC_FALSE));
  EXPECT("bits without meaning", Create(2, FAULT_BITS, HOPS_H1, 2, &sp), "mask|have a meaning");
  EXPECT("no masks", Create(2, FAULT_NULL, HOPS_H1, 2, &sp), "masks is NULL|mask 0");
  EXPECT("the other half", Create(2, FAULT_HALF, HOPS_H1, 2, &sp), "Hanging node|half");
  EXPECT("a facet is not flagged", Create(2, FAULT_FACET, HOPS_H1, 2, &sp), "mask 0x|half of a parent's");
  if (dim == 3) EXPECT("an edge is not flagged", Create(2, FAULT_EDGE, HOPS_H1, 2, &sp), "mask 0x|half of a parent's");
  EXPECT("a facet too many", Create(2, FAULT_EXTRA, HOPS_H1, 2, &sp), "node of no cell|check the masks");
  EXPECT("a node that is moved", Create(3, FAULT_MOVED, HOPS_H1, 3, &sp), "Hanging node|coordinates|-hops_repair_geometry");
  PetscCall(PetscOptionsSetValue(NULL, "-hops_repair_geometry", NULL));
  PetscCall(Create(3, FAULT_MOVED, HOPS_H1, 3, &sp));
  PetscCall(HopsSpaceDestroy(&sp));
  EXPECT("the other half, no gap", Create(2, FAULT_HALF, HOPS_H1, 2, &sp), "Hanging node|half");
  PetscCall(PetscOptionsClearValue(NULL, "-hops_repair_geometry"));
  EXPECT("no coarse cell", Create(2, FAULT_COARSE, HOPS_H1, 2, &sp), "node of no cell|coarser cell");
  EXPECT("a fine cell is missing", Create(2, FAULT_SIBLING, HOPS_H1, 2, &sp), "coarser cell|all cells are there");
  for (PetscInt k = 0; k < 2; ++k) {
    const HopsFamily family = k ? HOPS_HDIV : HOPS_HCURL;

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", HopsFamilies[family]));
    EXPECT("the other half", Create(2, FAULT_HALF, family, 2, &sp), "lists unknown|half");
    EXPECT("a facet is not flagged", Create(2, FAULT_FACET, family, 2, &sp), "lists unknown|mask 0x");
    if (dim == 3 && !k) EXPECT("an edge is not flagged", Create(2, FAULT_EDGE, family, 2, &sp), "lists unknown|mask 0x");
    EXPECT("a facet too many", Create(2, FAULT_EXTRA, family, 2, &sp), "node of no cell|check the masks");
    EXPECT("an opposite sign", Create(2, FAULT_SIGN, family, 2, &sp), "opposite direction|sign");
    EXPECT("no coarse cell", Create(2, FAULT_COARSE, family, 2, &sp), "node of no cell|coarser cell");
    EXPECT("a fine cell is missing", Create(2, FAULT_SIBLING, family, 2, &sp), "coarser cell|all cells are there");
  }
  PetscCall(ToyRegister());
  PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", "toy"));
  EXPECT("another back end", Create(2, FAULT_NONE, HOPS_H1, 2, &sp), "-hops_backend host");
  PetscCall(PetscOptionsClearValue(NULL, "-hops_backend"));
  EXPECT("maps of a higher order", Create(2, FAULT_NONE, HOPS_H1, 3, &sp), "order of the element maps");
  PetscCall(Create(2, FAULT_NONE, HOPS_H1, 2, &sp));
  PetscCall(Consumers(sp));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HangDestroy(&m));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 2d
    args: -dim 2 -malloc_dump 0

  test:
    suffix: 3d
    args: -dim 3 -malloc_dump 0

TEST*/
