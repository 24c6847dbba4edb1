/* Terms on boundary faces in H1: y += B^T D B x on a list of faces, any order. A team works on several
   faces at a time. Back is a back end's class: see lanes.h. */
#pragma once
#include "lanescontract.h"
#include <hops/private/hopsimpl.h>

struct HopsFaceArgs {
  int        fd, P, Q, nT, n, nb; /* nb: faces of a team */
  const int *restr;
  double    *qdata, *B, *BB;
};

struct HopsFaceApply {
  static constexpr int lanes = 128;
  HopsFaceArgs         k;
  bool                 diagonal; /* B holds the squares of the basis, and the point values are the data themselves */
  const double        *x, *xg;
  double              *y, *yg;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    const int fd = k.fd, P = k.P, Q = k.Q, nf = HopsLanesPower(P, fd), nq = HopsLanesPower(Q, fd), first = team.index() * k.nb,
              nb = k.nb < k.n - first ? k.nb : k.n - first, nm = nf > nq ? nf : nq;
    const double              *B = diagonal ? k.BB : k.B;
    double                    *e = scratch, *f = e + k.nb * nm, *v = f + k.nb * nm; /* [face][node or point] */
    const int                 *r = k.restr + (size_t)first * nf;
    const HopsLanesContraction up(Q, P, Q), down(P, Q, P);

    if (!diagonal) {
      for (int i = team.lane(); i < nb * nf; i += team.size()) e[i] = r[i] < k.nT ? x[r[i]] : xg[r[i] - k.nT];
      team.Sync();
      if (fd == 2) {
        Contract(team, up, B, P, 1, nb * P, 0, e, f, false);
        Contract(team, up, B, P, 1, nb, 1, f, v, false);
      } else Contract(team, up, B, P, 1, nb, 0, e, v, false);
    }
    for (int i = team.lane(); i < nb * nq; i += team.size()) v[i] = (diagonal ? 1 : v[i]) * k.qdata[(size_t)first * nq + i];
    team.Sync();
    if (fd == 2) {
      Contract(team, down, B, 1, P, nb * Q, 0, v, f, false);
      Contract(team, down, B, 1, P, nb, 1, f, e, false);
    } else Contract(team, down, B, 1, P, nb, 0, v, e, false);
    for (int i = team.lane(); i < nb * nf; i += team.size()) Team::Add(r[i] < k.nT ? y + r[i] : yg + (r[i] - k.nT), e[i]);
  }
};

template <class Back> struct HopsLanesFaces {
  struct _HopsOperator head;
  HopsFaceArgs         args;
  size_t               bytes; /* of scratch */

  static PetscErrorCode Launch(HopsOperator A, bool diagonal, const double x[], const double xg[], double y[], double yg[])
  {
    const HopsLanesFaces *k = (const HopsLanesFaces *)A;

    PetscFunctionBegin;
    if (k->args.n)
      PetscCall(Back::Teams("HopsFaces", (k->args.n + k->args.nb - 1) / k->args.nb, k->bytes,
                            HopsFaceApply{k->args, diagonal, x, xg, y, yg}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Apply(HopsOperator A, HopsPart, const void *x, const void *xg, void *y, void *yg)
  {
    return Launch(A, false, (const double *)x, (const double *)xg, (double *)y, (double *)yg);
  }

  static PetscErrorCode Diagonal(HopsOperator A, PetscReal d[], PetscReal dg[])
  {
    return Launch(A, true, NULL, NULL, d, dg);
  }

  static PetscErrorCode Destroy(HopsOperator *A)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    HopsLanesFaces      *k      = (HopsLanesFaces *)*A;

    PetscFunctionBegin;
    *A = NULL;
    if (!k) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->Free)((void **)&k->args.restr));
    PetscCall((*memory->Free)((void **)&k->args.qdata));
    PetscCall((*memory->Free)((void **)&k->args.B));
    PetscCall(PetscFree(k));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Create(HopsSpace space, const HopsBasis *basis, PetscInt n, const int restr[], const PetscReal qdata[],
                               HopsOperator *A)
  {
    /* SetUp, SetUpCells, Apply, Diagonal, CreateSingle, Destroy: C++17 has no designated initialisers */
    static const HopsOperatorOps ops    = {NULL, NULL, Apply, Diagonal, NULL, Destroy};
    const HopsMemoryOps         *memory = Back::Ops()->memory;
    const size_t                 PQ     = (size_t)basis->P * basis->Q;
    HopsLanesFaces              *k;
    HopsFaceArgs                *a;
    double                      *BB;
    size_t                       nf, nq, nm;

    PetscFunctionBegin;
    PetscCall(PetscNew(&k));
    k->head.ops = &ops;
    *A          = &k->head;
    a           = &k->args;
    a->fd       = (int)space->dim - 1;
    a->P        = (int)basis->P;
    a->Q        = (int)basis->Q;
    a->nT       = (int)space->nT;
    a->n        = (int)n;
    nf          = HopsLanesPower(a->P, a->fd);
    nq          = HopsLanesPower(a->Q, a->fd);
    nm          = PetscMax(nf, nq);
    a->nb       = (int)PetscMax(1, HopsFaceApply::lanes / nm);
    k->bytes    = 3 * a->nb * nm * sizeof(double);
    PetscCall((*memory->Malloc)(n * nf * sizeof(int), (void **)&a->restr));
    PetscCall((*memory->Copy)(NULL, (void *)a->restr, restr, n * nf * sizeof(int), HOPS_COPY_IN));
    PetscCall((*memory->Malloc)(n * nq * sizeof(double), (void **)&a->qdata));
    PetscCall((*memory->Copy)(NULL, a->qdata, qdata, n * nq * sizeof(double), HOPS_COPY_IN));
    PetscCall((*memory->Malloc)(2 * PQ * sizeof(double), (void **)&a->B));
    a->BB = a->B + PQ;
    PetscCall(PetscMalloc1(PQ, &BB));
    for (size_t i = 0; i < PQ; i++) BB[i] = basis->B[i] * basis->B[i];
    PetscCall((*memory->Copy)(NULL, a->B, basis->B, PQ * sizeof(double), HOPS_COPY_IN));
    PetscCall((*memory->Copy)(NULL, a->BB, BB, PQ * sizeof(double), HOPS_COPY_IN));
    PetscCall(PetscFree(BB));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
