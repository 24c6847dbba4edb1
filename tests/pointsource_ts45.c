/* Point functions of PETSc's example ts/tutorials/ex45 as text for a device */
#define main ExampleMain
#include <ts/tutorials/ex45.c>
#undef main
#include "pointsource.h"

int main(int argc, char **argv)
{
  static const HopsPointSubject f[] = {F('e', mms_quad_lin),     F('e', mms_quad_lin_t),   F('f', f0_quad_lin_exp),
                                       F('f', f0_quad_lin),      F('e', mms_quad_trig),    F('e', mms_quad_trig_t),
                                       F('f', f0_quad_trig_exp), F('f', f0_quad_trig),     F('e', mms_trig_lin),
                                       F('e', mms_trig_lin_t),   F('f', f0_trig_lin),      F('e', mms_trig_trig),
                                       F('e', mms_trig_trig_t),  F('f', f0_trig_trig_exp), F('f', f0_trig_trig),
                                       F('f', f1_temp_exp),      F('f', f1_temp),          F('g', g3_temp),
                                       F('g', g0_temp)};

  return TestMain(argc, argv, PETSC_STATIC_ARRAY_LENGTH(f), f);
}

/*TEST

  build:
    requires: real examples

  testset:
    args: -source ${PETSC_EXAMPLES}/ts/tutorials/ex45.c
    output_file: output/pointsource_ts45.out
    test:
    test:
      suffix: nvrtc
      requires: nvrtc
      args: -nvrtc -hops_pointwise_cache none

TEST*/
