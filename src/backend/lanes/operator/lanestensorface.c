/* Full tensors on faces of cells, of back ends that launch kernels for teams of lanes (lanestensorface.h):
   their data. */
#include "lanestensor.h"

typedef struct _HopsLanesTensorFaces *HopsLanesTensorFaces;
struct _HopsLanesTensorFaces {
  struct _HopsTensorOperator    head;
  const HopsLanesTensorKernels *kernels;
  HopsLanesTensorFaceArgs       args[2];
  HopsTensorData                data; /* q where the back end works, [batch][entry][lane][point] */
  int                          *cell, *face;
  void                         *program[2][2];
  double                       *work;
  int                           teams;
};

/* From [face][entry][point] to [batch][entry][lane][point] */
static PetscErrorCode FacesUpload(HopsLanesTensorFaces f, PetscInt n, const PetscReal q[])
{
  const HopsBackendOps *be = f->kernels->backend;
  const PetscInt        W = f->args[0].W, nq = f->args[0].nq, ne = f->data.nentries;
  const size_t          size = (size_t)((n + W - 1) / W) * W * ne * nq;
  PetscReal            *to;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(size, &to));
  for (PetscInt i = 0; i < n; i++)
    for (PetscInt e = 0; e < ne; e++)
      PetscCall(PetscArraycpy(to + ((size_t)(i / W * ne + e) * W + i % W) * nq, q + ((size_t)i * ne + e) * nq, nq));
  PetscCall((*be->memory->Malloc)(size * sizeof(PetscReal), (void **)&f->data.q));
  PetscCall((*be->memory->Copy)(NULL, (void *)f->data.q, to, size * sizeof(PetscReal), HOPS_COPY_IN));
  PetscCall(PetscFree(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesUploadInts(const HopsBackendOps *be, PetscInt n, const PetscInt in[], int **out)
{
  int *h;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &h));
  for (PetscInt i = 0; i < n; i++) h[i] = (int)in[i];
  PetscCall((*be->memory->Malloc)(n * sizeof(int), (void **)out));
  PetscCall((*be->memory->Copy)(NULL, *out, h, n * sizeof(int), HOPS_COPY_IN));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesApply(HopsTensorOperator A, HopsPart part, PetscBool transpose)
{
  HopsLanesTensorFaces           f = (HopsLanesTensorFaces)A;
  const HopsLanesTensorFaceArgs *a = &f->args[transpose ? 1 : 0];

  PetscFunctionBegin;
  if (a->n && f->data.npairs) PetscCall((*f->kernels->FacesApply)(a, f->teams));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesDiagonal(HopsTensorOperator A)
{
  HopsLanesTensorFaces            f = (HopsLanesTensorFaces)A;
  const HopsLanesTensorFaceArgs  *a = &f->args[0];
  const HopsLanesTensorSide      *s = &a->side[1];
  HopsLanesTensorFaceDiagonalArgs d;

  PetscFunctionBegin;
  if (!a->n || f->data.test != f->data.trial) PetscFunctionReturn(PETSC_SUCCESS);
  d.dim      = a->dim;
  d.Q        = a->Q;
  d.nq       = a->nq;
  d.W        = a->W;
  d.S        = a->S;
  d.n        = a->n;
  d.cell     = a->cell;
  d.face     = a->face;
  d.tables   = a->tables;
  d.q        = f->data.q;
  d.nentries = (int)f->data.nentries;
  d.work     = a->work;
  d.nwork    = 5 * d.W * d.S; /* fewer than what the action takes */
  d.nc       = s->nc;
  d.l        = s->l;
  d.restr    = s->restr;
  d.table    = s->table;
  for (PetscInt j = 0; j < f->data.npairs; j++) {
    const HopsTensorPair p = f->data.pair[j];

    d.kind  = p.kind;
    d.c     = p.test;
    d.entry = p.entry;
    if (p.test != p.trial) continue;
    PetscCall((*f->kernels->FacesDiagonal)(&d, f->teams));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesDestroy(HopsTensorOperator *faces)
{
  HopsLanesTensorFaces  f = (HopsLanesTensorFaces)*faces;
  const HopsBackendOps *be;

  PetscFunctionBegin;
  *faces = NULL;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  be = f->kernels->backend;
  for (int i = 0; i < 4; i++) PetscCall((*be->memory->Free)(&f->program[i / 2][i % 2]));
  PetscCall((*be->memory->Free)((void **)&f->cell));
  PetscCall((*be->memory->Free)((void **)&f->face));
  PetscCall((*be->memory->Free)((void **)&f->work));
  PetscCall((*be->memory->Free)((void **)&f->data.q));
  PetscCall(PetscFree(f->data.pair));
  PetscCall(PetscFree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsTensorOps HopsLanesTensorFacesOps = {.Apply = FacesApply, .Diagonal = FacesDiagonal, .Destroy = FacesDestroy};

/* Scratch of a team with W faces, and the sides' part in it, for the form (t = 0) and its transpose */
static void FacesScratch(const HopsTensorData *data, const HopsLanesTensorSide *test, const HopsLanesTensorSide *trial, int t,
                         HopsLanesTensorFaceArgs *a)
{
  const int item = a->W * a->S, row = a->dim + 1, most = PetscMax(test->nc, trial->nc);

  a->side[0] = t ? *test : *trial;
  a->side[1] = t ? *trial : *test;
  a->ncout   = a->side[1].nc;
  for (int s = 0; s < 2; s++) {
    a->side[s].R        = a->side[s].nc * item;
    a->side[s].off      = s ? row * a->side[0].R : 0;
    a->side[s].value    = true;
    a->side[s].gradient = false;
  }
  a->U     = row * (a->side[0].R + a->side[1].R);
  a->UN    = a->U + most * item;
  a->T     = a->UN + most * item;
  a->nwork = a->T + most * item;
  for (PetscInt j = 0; j < data->npairs; j++) {
    if (data->pair[j].kind & (t ? 2 : 1)) a->side[0].gradient = true;
    if (data->pair[j].kind & (t ? 1 : 2)) a->side[1].gradient = true;
  }
}

PetscErrorCode HopsLanesTensorFacesCreate(HopsTensorOperator A, PetscInt n, const PetscInt cells[], const PetscInt faces[],
                                          const HopsTensorData *data, HopsTensorOperator *out)
{
  HopsLanesTensor            whole = (HopsLanesTensor)A;
  const HopsLanesTensorArgs *w     = &whole->args[0];
  const HopsBackendOps      *be    = whole->kernels->backend;
  const HopsLanesTensorSide *test = &w->side[1][data->test], *trial = &w->side[0][data->trial];
  const int                  nq = (int)HopsPower(w->Q, w->dim - 1), M = PetscMax(w->Q, PetscMax(test->table.P, trial->table.P)),
            S     = w->dim == 3 ? M * (M | 1) : M | 1,
            slots = (w->dim + 1) * (test->nc + trial->nc) + 3 * PetscMax(test->nc, trial->nc);
  HopsLanesTensorFaces f;
  HopsTensorPair      *pair;
  PetscBool            own;
  int                  W = PetscMax(1, whole->kernels->facelanes / nq);

  PetscFunctionBegin;
  PetscCall(PetscNew(&f));
  f->head.ops = &HopsLanesTensorFacesOps;
  f->kernels  = whole->kernels;
  *out        = &f->head;
  while (W > 1 && (size_t)W * S * slots * sizeof(double) > 48 * 1024) W--;
  PetscCall(PetscMalloc1(data->npairs, &pair));
  PetscCall(PetscArraycpy(pair, data->pair, data->npairs));
  f->data      = *data;
  f->data.pair = pair;
  f->data.q    = NULL;
  for (int t = 0; t < 2; t++) {
    HopsLanesTensorFaceArgs *a = &f->args[t];

    a->dim    = w->dim;
    a->Q      = w->Q;
    a->nq     = nq;
    a->W      = W;
    a->S      = S;
    a->n      = n;
    a->tables = whole->tables;
    FacesScratch(data, test, trial, t, a);
  }
  PetscCall(FacesUpload(f, n, data->q));
  PetscCall(FacesUploadInts(be, n, cells, &f->cell));
  PetscCall(FacesUploadInts(be, n, faces, &f->face));
  PetscCall((*f->kernels->GetSizes)(f->args[0].nwork * sizeof(double), &f->teams, &own));
  f->teams = (int)PetscMin(f->teams, (n + W - 1) / W);
  if (!own) PetscCall((*be->memory->Malloc)((size_t)f->args[0].nwork * f->teams * sizeof(double), (void **)&f->work));
  for (int t = 0; t < 2; t++) {
    HopsLanesTensorFaceArgs *a = &f->args[t];
    HopsTensorData           d = f->data;

    d.test = d.trial = 0;
    PetscCall(
      HopsLanesTensorProgram(be, 1, &d, t ? PETSC_TRUE : PETSC_FALSE, w->dim, W * S, &a->side[0], 1, &a->side[1], f->program[t]));
    a->out  = (const HopsLanesTensorOut *)f->program[t][0];
    a->op   = (const HopsLanesTensorOp *)f->program[t][1];
    a->cell = f->cell;
    a->face = f->face;
    a->work = f->work;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
