/* Point functions of PETSc's example snes/tutorials/ex69 as text for a device */
#define main ExampleMain
#include <snes/tutorials/ex69.c>
#undef main
#include "pointsource.h"

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('e', zero),
                                       F('e', one),
                                       F('f', f0_u),
                                       F('f', stokes_momentum_kx),
                                       F('f', stokes_momentum_cx),
                                       F('f', stokes_mass),
                                       F('f', f1_zero),
                                       F('f', pressure),
                                       F('g', stokes_mass_J),
                                       F('g', stokes_momentum_pres_J),
                                       F('g', stokes_momentum_vel_J_kx),
                                       F('g', stokes_momentum_vel_J_cx),
                                       F('g', stokes_identity_J_kx),
                                       F('g', stokes_identity_J_cx)};

  return TestMain(argc, argv, PETSC_STATIC_ARRAY_LENGTH(f), f);
}

/*TEST

  build:
    requires: real examples

  testset:
    args: -source ${PETSC_EXAMPLES}/snes/tutorials/ex69.c
    output_file: output/pointsource_ex69.out
    test:
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -nvrtc -hops_pointwise_cache none

TEST*/
