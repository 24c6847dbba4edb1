// A quarter bend of a pipe: structured curved hexahedra of third order.
// Boundaries (PETSc label "Face Sets"): 1 inlet (y = 0), 2 outlet (x = 0), 3 outer wall, 4 inner wall.
R = 1.5;
r = 0.4;
s = 0.7;
Point(1) = {R, 0, 0};
For i In {0:3}
  c = Cos(i * Pi / 2);
  d = Sin(i * Pi / 2);
  Point(10 + i) = {R + r * c, 0, r * d};
  Point(20 + i) = {R + s * c, 0, s * d};
EndFor
outlet() = {};
inner() = {};
outer() = {};
For i In {0:3}
  k = (i + 1) % 4;
  Circle(10 + i) = {10 + i, 1, 10 + k};
  Circle(20 + i) = {20 + i, 1, 20 + k};
  Line(30 + i) = {10 + i, 20 + i};
EndFor
Transfinite Curve{10:13, 20:23} = 3;
Transfinite Curve{30:33} = 2;
For i In {0:3}
  k = (i + 1) % 4;
  Curve Loop(i + 1) = {10 + i, 30 + k, -(20 + i), -(30 + i)};
  Plane Surface(i + 1) = {i + 1};
  Transfinite Surface{i + 1};
  Recombine Surface{i + 1};
EndFor
For i In {1:4}
  e() = Extrude {{0, 0, 1}, {0, 0, 0}, Pi / 2} { Surface{i}; Layers{6}; Recombine; };
  outlet() += e(0);
  inner() += e(2);
  outer() += e(4);
EndFor
Physical Surface(1) = {1:4};
Physical Surface(2) = outlet();
Physical Surface(3) = outer();
Physical Surface(4) = inner();
Physical Volume(1)  = Volume{:};

Mesh.ElementOrder   = 3;
Mesh.MshFileVersion = 2.2;
