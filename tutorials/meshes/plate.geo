// A square plate with one elliptic and two circular holes: curved, unstructured quadrilaterals of third order.
// Boundaries (PETSc label "Face Sets"): 1 outer edges, 2 ellipse, 3 circles.
SetFactory("OpenCASCADE");
Rectangle(1) = {-1, -1, 0, 2, 2};
Disk(2) = {-0.25, 0.3, 0, 0.42, 0.22};
Rotate {{0, 0, 1}, {-0.25, 0.3, 0}, Pi/6} { Surface{2}; }
Disk(3) = {0.5, -0.4, 0, 0.28};
Disk(4) = {-0.5, -0.55, 0, 0.16};
BooleanDifference{ Surface{1}; Delete; }{ Surface{2:4}; Delete; }

Physical Curve(1) = {8:11};
Physical Curve(2) = {5};
Physical Curve(3) = {6, 7};
Physical Surface(1) = {1};

Mesh.Algorithm             = 6;
Mesh.RecombineAll          = 1;
Mesh.SubdivisionAlgorithm  = 1; // every cell a quadrilateral
Mesh.ElementOrder          = 3;
Mesh.MeshSizeMin           = 0.3;
Mesh.MeshSizeMax           = 0.5;
Mesh.MeshSizeFromCurvature = 8;
Mesh.MshFileVersion        = 2.2;
