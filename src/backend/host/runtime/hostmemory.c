/*
  The process's own memory.

  Where threads work, large blocks that were freed wait for those that ask for their size. A rank of many gets
  what it frees back from the C library, for its arrays are small enough. Those of a process whose threads
  have all of the mesh are not: the library gives each of them back to the system at once, and the next array
  is touched for the first time again, which takes as long as its kernels do. What waits the system may take
  for itself where it lacks memory.
*/
#include "hostimpl.h"
#if defined(__linux__)
  #include <sys/mman.h>
#endif

/* Before a block, which is aligned for vectors of any width; base: what PetscMalloc() gave */
typedef struct _Block *Block;
struct _Block {
  void  *base;
  size_t size; /* of a block that waits when it is freed, else 0 */
  Block  next; /* that waits */
};

static PetscBool HopsHostPool = PETSC_FALSE;
static Block     HopsHostSpare;

#define POOL_LEAST ((size_t)1 << 20) /* bytes of a block that waits */
#define HUGE_PAGE  ((size_t)1 << 21)

/* What the system is told of the huge pages in a block */
static void Advise(const void *p, size_t n, int advice)
{
#if defined(__linux__)
  const size_t first = ((size_t)p + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE, last = ((size_t)p + n) / HUGE_PAGE * HUGE_PAGE;

  if (last > first) (void)madvise((void *)first, last - first, advice);
#endif
}

/*
  Large arrays in huge pages, where Linux gives them to who asks (its setting `madvise`): touching memory for
  the first time is most of a set-up in bulk, and costs a third of that in small pages. What is there already
  is read no faster.
*/
void HopsHostAdvise(const void *p, size_t n)
{
#if defined(MADV_HUGEPAGE)
  Advise(p, n, MADV_HUGEPAGE);
#endif
}

/* Memory aligned for vectors of any width */
PetscErrorCode HopsHostAlloc(size_t n, PetscBool zero, void **base, double **aligned)
{
  const size_t bytes = n * sizeof(double) + HOPS_HOST_ALIGN;

  PetscFunctionBegin;
  PetscCall(PetscMalloc(bytes, base));
  HopsHostAdvise(*base, bytes);
  if (zero) PetscCall(PetscMemzero(*base, bytes));
  *aligned = (double *)(((size_t)*base + HOPS_HOST_ALIGN - 1) / HOPS_HOST_ALIGN * HOPS_HOST_ALIGN);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n and up to a quarter more: 4, 5, 6 or 7 times a power of two. What is not used is not touched */
static size_t PoolSize(size_t n)
{
  size_t unit = POOL_LEAST / 4;

  while (7 * unit < n) unit *= 2;
  return (n + unit - 1) / unit * unit;
}

static PetscErrorCode HopsMalloc_Host(size_t n, void **p)
{
  const size_t size = HopsHostPool && n >= POOL_LEAST ? PoolSize(n) : 0;
  void        *base;
  Block        b;

  PetscFunctionBegin;
  for (Block *at = &HopsHostSpare; size && *at; at = &(*at)->next) {
    if ((*at)->size != size) continue;
    b   = *at;
    *at = b->next;
    *p  = b + 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc(PetscMax(n, size) + HOPS_HOST_ALIGN + sizeof(*b), &base));
  HopsHostAdvise(base, PetscMax(n, size));
  *p      = (void *)(((size_t)base + sizeof(*b) + HOPS_HOST_ALIGN - 1) / HOPS_HOST_ALIGN * HOPS_HOST_ALIGN);
  b       = (Block)*p - 1;
  b->base = base;
  b->size = size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFree_Host(void **p)
{
  Block b    = *p ? (Block)*p - 1 : NULL;
  void *base = b ? b->base : NULL; /* which PetscFree() sets to NULL */

  PetscFunctionBegin;
  if (b && b->size && HopsHostPool) {
    b->next       = HopsHostSpare;
    HopsHostSpare = b;
#if defined(MADV_FREE)
    Advise(*p, b->size, MADV_FREE);
#endif
  } else PetscCall(PetscFree(base));
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When PETSc ends */
static PetscErrorCode PoolEnd(void)
{
  PetscFunctionBegin;
  HopsHostPool = PETSC_FALSE;
  while (HopsHostSpare) {
    void *base = HopsHostSpare->base;

    HopsHostSpare = HopsHostSpare->next;
    PetscCall(PetscFree(base));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostPoolBegin(void)
{
  PetscFunctionBegin;
  if (HopsHostPool) PetscFunctionReturn(PETSC_SUCCESS);
  HopsHostPool = PETSC_TRUE;
  PetscCall(PetscRegisterFinalize(PoolEnd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCopy_Host(HopsQueue queue, void *dst, const void *src, size_t n, HopsCopyDirection direction)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(dst, src, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing runs beside the process: MPI reads its memory, so that there are no queues */
const HopsMemoryOps HopsMemoryHost = {.Malloc     = HopsMalloc_Host,
                                      .Free       = HopsFree_Host,
                                      .PoolMalloc = HopsMalloc_Host,
                                      .PoolFree   = HopsFree_Host,
                                      .MallocHost = HopsMalloc_Host,
                                      .FreeHost   = HopsFree_Host,
                                      .Copy       = HopsCopy_Host};
