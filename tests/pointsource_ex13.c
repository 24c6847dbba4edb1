/* Point functions of PETSc's example snes/tutorials/ex13 as text for a device */
#define main ExampleMain
#include <snes/tutorials/ex13.c>
#undef main
#include "pointsource.h"

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('e', zero),        F('e', trig_inhomogeneous_u),    F('e', trig_homogeneous_u),
                                       F('f', obj_error_u), F('f', f0_trig_inhomogeneous_u), F('f', f0_trig_homogeneous_u),
                                       F('f', f0_unity_u),  F('f', f0_identityaux_u),        F('f', f1_u),
                                       F('g', g3_uu)};

  return TestMain(argc, argv, PETSC_STATIC_ARRAY_LENGTH(f), f);
}

/*TEST

  build:
    requires: real examples

  testset:
    args: -source ${PETSC_EXAMPLES}/snes/tutorials/ex13.c
    output_file: output/pointsource_ex13.out
    test:
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -nvrtc -hops_pointwise_cache none

TEST*/
