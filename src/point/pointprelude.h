/* What point functions find of PETSc's headers, for a compiler that has none of them. Real scalars alone. */
typedef double        PetscReal;
typedef double        PetscScalar;
typedef int           PetscErrorCode;
typedef int           PetscMPIInt;
typedef int           PetscBLASInt;
typedef short         PetscShort;
typedef long long     PetscInt64;
typedef unsigned char PetscByte;
typedef void         *PetscCtx;
enum {
  PETSC_FALSE,
  PETSC_TRUE
};

#define PETSC_SUCCESS             0
#define PETSC_STATIC_INLINE       static inline
#define PetscFunctionBegin        (void)0
#define PetscFunctionBeginUser    (void)0
#define PetscFunctionReturn(x)    return x
#define PetscFunctionReturnVoid() return
#define PetscCall(...) \
  do { \
    const PetscErrorCode ierr_ = __VA_ARGS__; \
    if (ierr_) return ierr_; \
  } while (0)
#define PETSC_PI                   3.1415926535897932384626433832795029
#define PETSC_PHI                  1.6180339887498948482
#define PETSC_SQRT2                1.414213562373095048801688724209698
#define PETSC_MACHINE_EPSILON      2.2204460492503131e-16
#define PETSC_SQRT_MACHINE_EPSILON 1.490116119384766e-08
#define PETSC_SMALL                1.e-10
#define PETSC_MAX_REAL             1.7976931348623157e+308
#define PETSC_MIN_REAL             (-1.7976931348623157e+308)
#define PETSC_INFINITY             (PETSC_MAX_REAL / 4)
#define PETSC_NINFINITY            (-PETSC_INFINITY)
#define PETSC_MAX_INT              2147483647
#define PETSC_MIN_INT              (-PETSC_MAX_INT - 1)
#define PETSC_USE_REAL_DOUBLE      1
#define PETSC_RESTRICT             __restrict__
#define PETSC_UNUSED
#define PetscMin(a, b)             (((a) < (b)) ? (a) : (b))
#define PetscMax(a, b)             (((a) < (b)) ? (b) : (a))
#define PetscClipInterval(x, a, b) (PetscMax((a), PetscMin((x), (b))))
#define PetscAbs(a)                (((a) >= 0) ? (a) : (-(a)))
#define PetscAbsInt(a)             (((a) < 0) ? (-(a)) : (a))
#define PetscSign(a)               (((a) >= 0) ? ((a) == 0 ? 0 : 1) : -1)
#define PetscSqr(x)                ((x) * (x))
#define PetscRealConstant(c)       c
#define PetscRealPart(x)           (x)
#define PetscImaginaryPart(x)      ((PetscReal)0)
#define PetscConj(x)               (x)
#define PetscAbsReal(x)            fabs(x)
#define PetscAbsScalar(x)          fabs(x)
#define PetscSqrtReal(x)           sqrt(x)
#define PetscSqrtScalar(x)         sqrt(x)
#define PetscCbrtReal(x)           cbrt(x)
#define PetscHypotReal(x, y)       hypot(x, y)
#define PetscAtan2Real(y, x)       atan2(y, x)
#define PetscAtanReal(x)           atan(x)
#define PetscAsinReal(x)           asin(x)
#define PetscAcosReal(x)           acos(x)
#define PetscSinReal(x)            sin(x)
#define PetscCosReal(x)            cos(x)
#define PetscTanReal(x)            tan(x)
#define PetscSinhReal(x)           sinh(x)
#define PetscCoshReal(x)           cosh(x)
#define PetscTanhReal(x)           tanh(x)
#define PetscAsinhReal(x)          asinh(x)
#define PetscAcoshReal(x)          acosh(x)
#define PetscAtanhReal(x)          atanh(x)
#define PetscExpReal(x)            exp(x)
#define PetscExpm1Real(x)          expm1(x)
#define PetscLogReal(x)            log(x)
#define PetscLog10Real(x)          log10(x)
#define PetscLog2Real(x)           log2(x)
#define PetscLog1pReal(x)          log1p(x)
#define PetscPowReal(x, y)         pow(x, y)
#define PetscCeilReal(x)           ceil(x)
#define PetscFloorReal(x)          floor(x)
#define PetscFmodReal(x, y)        fmod(x, y)
#define PetscRoundReal(x)          round(x)
#define PetscCopysignReal(x, y)    copysign(x, y)
#define PetscTGamma(x)             tgamma(x)
#define PetscLGamma(x)             lgamma(x)
#define PetscErfReal(x)            erf(x)
#define PetscSinScalar(x)          sin(x)
#define PetscCosScalar(x)          cos(x)
#define PetscTanScalar(x)          tan(x)
#define PetscAsinScalar(x)         asin(x)
#define PetscAcosScalar(x)         acos(x)
#define PetscAtanScalar(x)         atan(x)
#define PetscSinhScalar(x)         sinh(x)
#define PetscCoshScalar(x)         cosh(x)
#define PetscTanhScalar(x)         tanh(x)
#define PetscExpScalar(x)          exp(x)
#define PetscLogScalar(x)          log(x)
#define PetscPowScalar(x, y)       pow(x, y)
#define PetscPowScalarReal(x, y)   pow(x, y)
#define PetscIsInfReal(x)          (isinf(x))
#define PetscIsNanReal(x)          (isnan(x))
#define PetscIsInfOrNanReal(x)     (isinf(x) || isnan(x))
#define PetscIsInfOrNanScalar(x)   (isinf(x) || isnan(x))
#define PetscDefined(x)            0
#define PETSC_VERSION_EQ(a, b, c)  (10000 * (a) + 100 * (b) + (c) == HOPS_PETSC_VERSION)
#define PETSC_VERSION_GE(a, b, c)  (10000 * (a) + 100 * (b) + (c) <= HOPS_PETSC_VERSION)
#define PETSC_VERSION_GT(a, b, c)  (10000 * (a) + 100 * (b) + (c) < HOPS_PETSC_VERSION)
#define PETSC_VERSION_LE(a, b, c)  (10000 * (a) + 100 * (b) + (c) >= HOPS_PETSC_VERSION)
#define PETSC_VERSION_LT(a, b, c)  (10000 * (a) + 100 * (b) + (c) > HOPS_PETSC_VERSION)

static __device__ inline PetscReal PetscPowRealInt(PetscReal x, PetscInt n)
{
  const PetscReal half = n < 0 ? PetscPowRealInt(1.0 / x, -n) : (n > 1 ? PetscPowRealInt(x * x, n / 2) : 1.0);

  return n > 0 && n % 2 ? half * x : half;
}

static __device__ inline PetscInt PetscPowInt(PetscInt x, PetscInt n)
{
  const PetscInt half = n > 1 ? PetscPowInt(x * x, n / 2) : 1;

  return n % 2 ? half * x : half;
}

#define PetscPowScalarInt(x, n) PetscPowRealInt(x, n)
#define PetscSignReal(x)        ((PetscReal)(((x) > 0) - ((x) < 0)))
