// A ball with a cylindrical hole through its centre: tetrahedra cut into curved hexahedra of second order, so vertices
// of valence other than eight and skewed cells abound.
// Boundaries (PETSc label "Face Sets"): 1 sphere, 2 wall of the hole.
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 1};
Cylinder(2) = {0, 0, -2, 0, 0, 4, 0.4};
BooleanDifference{ Volume{1}; Delete; }{ Volume{2}; Delete; }

all()  = Boundary{ Volume{1}; };
hole() = Surface In BoundingBox {-0.5, -0.5, -1.5, 0.5, 0.5, 1.5};
all() -= hole();
Physical Surface(1) = all();
Physical Surface(2) = hole();
Physical Volume(1)  = {1};

Mesh.Algorithm            = 6;
Mesh.SubdivisionAlgorithm = 2; // every cell a hexahedron
Mesh.ElementOrder         = 2;
Mesh.MeshSizeMin          = 0.8;
Mesh.MeshSizeMax          = 0.8;
Mesh.MinimumCirclePoints  = 5;
Mesh.MshFileVersion       = 2.2;
