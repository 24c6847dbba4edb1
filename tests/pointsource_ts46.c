/* Point functions of PETSc's example ts/tutorials/ex46 as text for a device */
#define main ExampleMain
#include <ts/tutorials/ex46.c>
#undef main
#include "pointsource.h"

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('e', mms1_u_2d), F('e', mms1_p_2d), F('e', mms2_u_2d), F('e', mms2_p_2d),
                                       F('f', f0_mms1_u), F('f', f0_mms2_u), F('f', f1_u),      F('f', f0_p),
                                       F('f', f1_p),      F('g', g0_uu),     F('g', g1_uu),     F('g', g1_pu),
                                       F('g', g2_up),     F('g', g3_uu)};

  return TestMain(argc, argv, PETSC_STATIC_ARRAY_LENGTH(f), f);
}

/*TEST

  build:
    requires: real examples

  testset:
    args: -source ${PETSC_EXAMPLES}/ts/tutorials/ex46.c
    output_file: output/pointsource_ts46.out
    test:
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -nvrtc -hops_pointwise_cache none

TEST*/
