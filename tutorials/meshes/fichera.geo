// The Fichera corner: the cube (-1,1)^3 without its octant (0,1)^3, in n^3 cubes an octant.
// Boundaries (PETSc label "Face Sets"): 1 outer faces, 2 the three re-entrant faces.
SetFactory("OpenCASCADE");
n = 2;
eps = 1e-3;
For i In {0:1}
  For j In {0:1}
    For k In {0:1}
      If (i + j + k < 3)
        Box(newv) = {i - 1, j - 1, k - 1, 1, 1, 1};
      EndIf
    EndFor
  EndFor
EndFor
Coherence;

reentrant()  = Surface In BoundingBox {-eps, -eps, -eps, eps, 1 + eps, 1 + eps};
reentrant() += Surface In BoundingBox {-eps, -eps, -eps, 1 + eps, eps, 1 + eps};
reentrant() += Surface In BoundingBox {-eps, -eps, -eps, 1 + eps, 1 + eps, eps};
outer() = CombinedBoundary{ Volume{:}; };
outer() -= reentrant();
Physical Surface(1) = outer();
Physical Surface(2) = reentrant();
Physical Volume(1)  = Volume{:};

Transfinite Curve{:} = n + 1;
Transfinite Surface{:};
Transfinite Volume{:};
Mesh.RecombineAll   = 1;
Mesh.MshFileVersion = 2.2;
