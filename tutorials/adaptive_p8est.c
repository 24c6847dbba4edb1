/* adaptive_p4est.c in 3D */
#include <p4est_to_p8est.h>
#include "adaptive_p4est.c"

/*TEST

  testset:
    requires: hypre real libp4est
    nsize: {{1 4}}
    filter: awk '/^Since/ {print} /^ / {print $1, $2, ($3 < 30), $4, $6}'

    test:
      suffix: fichera
      args: -problem layer -order 2 -start 2 -unknowns 15000
      output_file: output/adaptive_fichera.out

    test:
      suffix: mesh
      args: -problem layer -mesh ${HOPS_SOURCE}/tutorials/meshes/solid.msh -start 0 -order 2 -unknowns 12000

TEST*/
