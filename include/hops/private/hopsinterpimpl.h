/* What a map between nested spaces is made of, for the back ends. */
#pragma once
#include <hops/private/hopsbackendimpl.h>
#include <hops/private/hopsmapkind.h>

/*
  The cells of a coarse space and of a fine one, as hopsnestedimpl.h has them. One space gives the sources,
  one the targets: on each coarse cell its nodes, and those of the macro cell that its children form. restr[]
  where the back end works, the rest in the process's memory.
*/
struct _HopsInterpData {
  PetscBool prolong; /* the coarse space gives the sources */
  /* of several maps one, of some cells, and of a coarse cell maybe of some children: numbers in frestr[] that
     are no owned unknown are no targets, and others maybe another map's */
  PetscBool             partial;
  PetscInt              dim, ncoarse, nfine;
  PetscInt              nhalf, pc, pf;   /* children per direction; orders of both spaces */
  const int            *crestr, *frestr; /* element restrictions */
  const PetscInt       *parent;          /* [nfine] */
  const unsigned char  *half, *axis;     /* [nfine], [nfine][dim] */
  const unsigned short *hang;            /* [ncoarse] masks of coarse cells, of sources that list their parents' nodes; or NULL */
  const PetscReal      *A;               /* [M][N]: values at M targets of the functions of N sources, per direction */
};

/* Where node ijk of a child lies in the macro cell, whose nodes have the coarse cell's directions */
HOPS_HOST_DEVICE PetscInt HopsMacroNode(PetscInt dim, PetscInt nhalf, PetscInt order, PetscInt half, const unsigned char axis[],
                                        const PetscInt ijk[])
{
  const PetscInt M = nhalf * order + 1;
  PetscInt       k = 0;

  for (PetscInt d = dim - 1; d >= 0; --d) {
    const PetscInt a = axis[d], i = ijk[a & 3];

    k = k * M + ((half >> d) & 1) * order + (a & 4 ? order - i : i);
  }
  return k;
}

/* Nodes per direction of the coarse cell, and of a macro cell */
HOPS_HOST_DEVICE PetscInt HopsInterpCoarseNodes(const HopsInterpData *d)
{
  return d->pc + 1;
}

HOPS_HOST_DEVICE PetscInt HopsInterpMacroNodes(const HopsInterpData *d)
{
  return d->nhalf * d->pf + 1;
}
