/* Point functions of PETSc's example snes/tutorials/ex77 as text for a device */
#define main ExampleMain
#include <snes/tutorials/ex77.c>
#undef main
#include "pointsource.h"

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('e', zero_scalar), F('e', zero_vector), F('e', coordinates), F('f', f1_u_3d),
                                       F('f', f0_p_3d),     F('b', f0_bd_u_3d),  F('g', g3_uu_3d),    F('g', g1_pu_3d),
                                       F('g', g2_up_3d),    F('j', g1_bd_uu_3d)};

  return TestMain(argc, argv, PETSC_STATIC_ARRAY_LENGTH(f), f);
}

/*TEST

  build:
    requires: real examples

  testset:
    args: -source ${PETSC_EXAMPLES}/snes/tutorials/ex77.c
    output_file: output/pointsource_ex77.out
    test:
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -nvrtc -hops_pointwise_cache none

TEST*/
