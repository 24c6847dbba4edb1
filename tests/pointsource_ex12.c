/* Point functions of PETSc's example snes/tutorials/ex12 as text for a device */
#define main ExampleMain
#include <snes/tutorials/ex12.c>
#undef main
#include "pointsource.h"

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('e', zero),
                                       F('e', ecks),
                                       F('e', quadratic_u_2d),
                                       F('e', ball_u_2d),
                                       F('e', cross_u_2d),
                                       F('e', xtrig_u_2d),
                                       F('e', xytrig_u_2d),
                                       F('e', nu_2d),
                                       F('e', quadratic_u_3d),
                                       F('e', ball_u_3d),
                                       F('e', cross_u_3d),
                                       F('f', quadratic_u_field_2d),
                                       F('f', f0_u),
                                       F('f', f0_ball_u),
                                       F('f', f0_cross_u_2d),
                                       F('f', f0_checkerboard_0_u),
                                       F('f', f1_u),
                                       F('f', f0_xtrig_u),
                                       F('f', f0_xytrig_u),
                                       F('f', f0_analytic_u),
                                       F('f', f1_analytic_u),
                                       F('f', f1_field_u),
                                       F('f', f0_analytic_nonlinear_u),
                                       F('f', f1_analytic_nonlinear_u),
                                       F('f', quadratic_u_field_3d),
                                       F('f', f0_cross_u_3d),
                                       F('b', f0_bd_u),
                                       F('b', bd_integral_2d),
                                       F('g', g3_uu),
                                       F('g', g3_analytic_uu),
                                       F('g', g3_field_uu),
                                       F('g', g3_analytic_nonlinear_uu)};

  return TestMain(argc, argv, PETSC_STATIC_ARRAY_LENGTH(f), f);
}

/*TEST

  build:
    requires: real examples

  testset:
    args: -source ${PETSC_EXAMPLES}/snes/tutorials/ex12.c
    output_file: output/pointsource_ex12.out
    test:
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -nvrtc -hops_pointwise_cache none

TEST*/
