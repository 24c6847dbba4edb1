// A bar of wire bent to an arch with edges (PETSc label "Cell Sets" 1) in a box of air (2). It ends on the bottom of the box:
// terminals 1 and 2 of "Face Sets"; the rest of the boundary is 3. Tetrahedra, each divided into four hexahedra; with a round
// wire Gmsh moves new points to its surface, which inverts cells.
SetFactory("OpenCASCADE");
Box(1) = {-1, 0, -0.5, 2, 1, 1};
Box(2) = {-0.6, 0, -0.12, 0.24, 0.36, 0.24};
Box(3) = {0.36, 0, -0.12, 0.24, 0.36, 0.24};
Box(4) = {-0.6, 0.36, -0.12, 1.2, 0.24, 0.24};
wire() = BooleanUnion{ Volume{2}; Delete; }{ Volume{3, 4}; Delete; };
v() = BooleanFragments{ Volume{1}; Delete; }{ Volume{wire()}; Delete; };
e = 0.01;
coil() = Volume In BoundingBox{-0.6 - e, -e, -0.12 - e, 0.6 + e, 0.6 + e, 0.12 + e};
in() = Surface In BoundingBox{-0.6 - e, -e, -0.12 - e, -0.36 + e, e, 0.12 + e};
out() = Surface In BoundingBox{0.36 - e, -e, -0.12 - e, 0.6 + e, e, 0.12 + e};
all() = Volume{:};
air() = all();
air() -= coil();
walls() = Abs(CombinedBoundary{ Volume{all()}; });
walls() -= in();
walls() -= out();
Physical Volume(1)  = coil();
Physical Volume(2)  = air();
Physical Surface(1) = in();
Physical Surface(2) = out();
Physical Surface(3) = walls();

Mesh.CharacteristicLengthMin = 0.45;
Mesh.CharacteristicLengthMax = 0.45;
Mesh.MshFileVersion          = 2.2;
Mesh.SubdivisionAlgorithm    = 2;
