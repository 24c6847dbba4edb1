/* Point functions of PETSc's example snes/tutorials/ex17 as text for a device */
#define main ExampleMain
#include <snes/tutorials/ex17.c>
#undef main
#include "pointsource.h"

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('e', zero),
                                       F('e', ge_shift),
                                       F('e', quadratic_2d_u),
                                       F('e', quadratic_3d_u),
                                       F('f', f0_vlap_quadratic_u),
                                       F('f', f0_elas_quadratic_u),
                                       F('f', f0_mass_quadratic_u),
                                       F('e', trig_2d_u),
                                       F('e', trig_3d_u),
                                       F('f', f0_vlap_trig_u),
                                       F('f', f0_elas_trig_u),
                                       F('b', f0_elas_axial_disp_bd_u),
                                       F('e', uniform_strain_u),
                                       F('f', f0_mass_u),
                                       F('f', f1_vlap_u),
                                       F('f', f1_elas_u),
                                       F('g', g0_mass_uu),
                                       F('g', g3_vlap_uu),
                                       F('g', g3_elas_uu)};

  return TestMain(argc, argv, PETSC_STATIC_ARRAY_LENGTH(f), f);
}

/*TEST

  build:
    requires: real examples

  testset:
    args: -source ${PETSC_EXAMPLES}/snes/tutorials/ex17.c
    output_file: output/pointsource_ex17.out
    test:
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -nvrtc -hops_pointwise_cache none

TEST*/
