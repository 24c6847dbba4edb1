/* adaptive_p4est.c in 3D */
#include <p4est_to_p8est.h>
#include "adaptive_p4est.c"

/*TEST

  test:
    requires: hypre real libp4est
    suffix: fichera
    nsize: {{1 4}}
    args: -problem layer -order 2 -start 2 -unknowns 15000
    filter: awk '/^Since/ {print} /^ / {print $1, $2, ($3 < 30), $4, $6}'
    output_file: output/adaptive_fichera.out

TEST*/
