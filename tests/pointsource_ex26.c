/* Point functions of PETSc's example snes/tutorials/ex26 as text for a device */
#define main ExampleMain
#include <snes/tutorials/ex26.c>
#undef main
#include "pointsource.h"

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('e', trig_u), F('e', quad_u), F('f', f0_trig_u), F('f', f0_quad_u),
                                       F('f', f1_u),   F('g', g0_uu),  F('g', g3_uu)};

  return TestMain(argc, argv, PETSC_STATIC_ARRAY_LENGTH(f), f);
}

/*TEST

  build:
    requires: real examples

  testset:
    args: -source ${PETSC_EXAMPLES}/snes/tutorials/ex26.c
    output_file: output/pointsource_ex26.out
    test:
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -nvrtc -hops_pointwise_cache none

TEST*/
