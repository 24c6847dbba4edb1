/* Point functions of PETSc's example snes/tutorials/ex62 as text for a device */
#define main ExampleMain
#include <snes/tutorials/ex62.c>
#undef main
#include "pointsource.h"

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('f', f1_u),           F('f', f0_p),   F('g', g1_pu),       F('g', g2_up),
                                       F('g', g3_uu),          F('g', g0_pp),  F('e', quadratic_u), F('e', quadratic_p),
                                       F('f', f0_quadratic_u), F('e', trig_u), F('e', trig_p),      F('f', f0_trig_u),
                                       F('e', zero),           F('e', one)};

  return TestMain(argc, argv, PETSC_STATIC_ARRAY_LENGTH(f), f);
}

/*TEST

  build:
    requires: real examples

  testset:
    args: -source ${PETSC_EXAMPLES}/snes/tutorials/ex62.c
    output_file: output/pointsource_ex62.out
    test:
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -nvrtc -hops_pointwise_cache none

TEST*/
