/* Point functions of PETSc's example snes/tutorials/ex71 as text for a device */
#define main ExampleMain
#include <snes/tutorials/ex71.c>
#undef main
#include "pointsource.h"

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('f', f1_u), F('f', f0_p), F('b', f0_bd_u), F('g', g1_pu), F('g', g2_up), F('g', g3_uu)};

  return TestMain(argc, argv, PETSC_STATIC_ARRAY_LENGTH(f), f);
}

/*TEST

  build:
    requires: real examples

  testset:
    args: -source ${PETSC_EXAMPLES}/snes/tutorials/ex71.c
    output_file: output/pointsource_ex71.out
    test:
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -nvrtc -hops_pointwise_cache none

TEST*/
