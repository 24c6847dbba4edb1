/* Point functions of PETSc's example snes/tutorials/ex56 as text for a device */
#define main ExampleMain
#include <snes/tutorials/ex56.c>
#undef main
#include "pointsource.h"

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('b', f0_bd_u_3d), F('b', f1_bd_u),        F('f', f1_u_3d_alpha),
                                       F('f', f1_u_3d),    F('g', g3_uu_3d_alpha), F('g', g3_uu_3d),
                                       F('f', f0_u),       F('f', f0_u_x4),        F('e', zero)};

  return TestMain(argc, argv, PETSC_STATIC_ARRAY_LENGTH(f), f);
}

/*TEST

  build:
    requires: real examples

  testset:
    args: -source ${PETSC_EXAMPLES}/snes/tutorials/ex56.c
    output_file: output/pointsource_ex56.out
    test:
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -nvrtc -hops_pointwise_cache none

TEST*/
