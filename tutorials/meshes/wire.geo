// A copper wire ("Cell Sets" 1) that makes half a turn around the axis of a cylinder of air (2): one cross-section, extruded and turned.
// The whole boundary is "Face Sets" 1. Hexahedra of order 3.
R = 1.0; c = 0.4; r = 0.2; s = 0.1; H = 4.0; layers = 9;
lr = 1; la = 2; // cells across the wire's rim, and from there to the outer wall
Point(1) = {0, 0, 0};
Point(2) = {c, 0, 0};
For k In {0:3}
  a = (2 * k + 1) * Pi / 4;
  Point(10 + k) = {c + s * Cos(a), s * Sin(a), 0};
  Point(20 + k) = {c + r * Cos(a), r * Sin(a), 0};
  Point(30 + k) = {R * Cos(a), R * Sin(a), 0};
EndFor
For k In {0:3}
  n = (k + 1) % 4;
  Line(10 + k) = {10 + k, 10 + n};
  Circle(20 + k) = {20 + k, 2, 20 + n};
  Circle(30 + k) = {30 + k, 1, 30 + n};
  Line(40 + k) = {10 + k, 20 + k};
  Line(50 + k) = {20 + k, 30 + k};
EndFor
Curve Loop(1) = {10, 11, 12, 13};
Plane Surface(1) = {1};
For k In {0:3}
  n = (k + 1) % 4;
  Curve Loop(2 + k) = {40 + k, 20 + k, -(40 + n), -(10 + k)};
  Plane Surface(2 + k) = {2 + k};
  Curve Loop(6 + k) = {50 + k, 30 + k, -(50 + n), -(20 + k)};
  Plane Surface(6 + k) = {6 + k};
EndFor
Transfinite Curve{10:13, 20:23, 30:33} = 3;
Transfinite Curve{40:43} = lr + 1;
Transfinite Curve{50:53} = la + 1 Using Progression 1.4;
Transfinite Surface{1:9};
Recombine Surface{1:9};
walls() = {1:9};
For part In {0:2}
  base() = {1:9};
  If (part)
    base() = {next()};
  EndIf
  next() = {};
  For k In {0:8}
    out() = Extrude{{0, 0, H / 3}, {0, 0, 1}, {0, 0, 0}, Pi / 3}{ Surface{base(k)}; Layers{layers / 3}; Recombine; };
    next() += out(0);
    If (k < 5)
      wire() += out(1);
    Else
      air() += out(1);
      walls() += out(3);
    EndIf
  EndFor
EndFor
walls() += next();
Physical Volume(1)  = {wire()};
Physical Volume(2)  = {air()};
Physical Surface(1) = {walls()};

Mesh.ElementOrder   = 3;
Mesh.MshFileVersion = 2.2;
