/* Kershaw's mesh as the CEED bake-off problems have it, for the benchmarks. */
#pragma once
#include <petscsys.h>

/* a line through (0,0) and (1,1) with a bend in the middle: the cells of one half are `epsilon` times as high
   as they would be */
static PetscReal Bend(PetscReal epsilon, PetscReal x)
{
  return x <= 0.5 ? (2.0 - epsilon) * x : 1.0 + epsilon * (x - 1.0);
}

/* from a to b with two continuous derivatives */
static PetscReal Blend(PetscReal a, PetscReal b, PetscReal s)
{
  s = PetscMax(0.0, PetscMin(1.0, s));
  return a + (b - a) * s * s * s * (10.0 + s * (6.0 * s - 15.0));
}

/* A point of the unit cube: six layers in x, between which the bend goes from top to bottom and back */
static void Kershaw(PetscReal epsilon, PetscReal x[])
{
  const PetscInt  layer = (PetscInt)PetscMin(5.0, 6.0 * x[0]);
  const PetscReal s     = 6.0 * x[0] - layer;

  for (PetscInt d = 1; d < 3; d++) {
    const PetscReal low = 1.0 - Bend(epsilon, 1.0 - x[d]), high = Bend(epsilon, x[d]);

    if (layer == 0) x[d] = low;
    else if (layer == 1 || layer == 4) x[d] = Blend(low, high, s);
    else if (layer == 2) x[d] = Blend(high, low, 0.5 * s);
    else if (layer == 3) x[d] = Blend(high, low, 0.5 * (1.0 + s));
    else x[d] = high;
  }
}
