#!/usr/bin/env python3
"""config/fieldlines.py NAME FILE.png: field lines of B and the wire that causes it, from the files NAME_B.vtu and NAME_beta.vtu that
tutorials/magnetic wrote (-vtu NAME). Needs python3-vtk9; draws without a screen, under xvfb-run where that is installed.
"""
import argparse, os, shutil, sys
import render


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("png")
    parser.add_argument("--title", default="", help="text below the picture")
    parser.add_argument("--seeds", action="append", metavar="X,Y,Z,X,Y,Z,N", help="N field lines start between two points (may be repeated)")
    parser.add_argument("--length", type=float, default=4.0, help="longest field line, in each of its directions")
    parser.add_argument("--azimuth", type=float, default=-50.0, help="from where it is seen, in degrees around the y axis")
    parser.add_argument("--elevation", type=float, default=22.0, help="the same, in degrees above the xz plane")
    return parser.parse_args()


def lines(grid, seeds, length, size):
    """Field lines as tubes, with the strength of the field."""
    import vtk
    points = vtk.vtkPoints()
    for text in seeds:
        v = [float(t) for t in text.split(",")]
        n = int(v[6])
        for i in range(n):
            t = i / (n - 1.0) if n > 1 else 0.5
            points.InsertNextPoint(*[v[d] + t * (v[d + 3] - v[d]) for d in range(3)])
    start = vtk.vtkPolyData()
    start.SetPoints(points)
    tracer = vtk.vtkStreamTracer()
    tracer.SetInputData(grid)
    tracer.SetSourceData(start)
    tracer.SetIntegratorTypeToRungeKutta45()
    tracer.SetIntegrationDirectionToBoth()
    tracer.SetMaximumPropagation(length)
    tracer.SetInitialIntegrationStep(0.1)
    tracer.SetMaximumIntegrationStep(0.5)
    tracer.SetComputeVorticity(False)
    tracer.SetInterpolatorTypeToCellLocator()
    tracer.SetMaximumNumberOfSteps(5000)
    norm = vtk.vtkArrayCalculator()
    norm.SetInputConnection(tracer.GetOutputPort())
    norm.AddVectorArrayName("B")
    norm.SetFunction("mag(B)")
    norm.SetResultArrayName("|B|")
    norm.Update()
    out = norm.GetOutput()
    if not out.GetNumberOfLines():
        sys.exit("fieldlines.py: no field line was found; do the --seeds lie in the mesh?")
    out.GetPointData().SetActiveScalars("|B|")
    tube = vtk.vtkTubeFilter()
    tube.SetInputData(out)
    tube.SetRadius(0.004 * size)
    tube.SetNumberOfSides(10)
    tube.CappingOn()
    tube.Update()
    return tube.GetOutput(), out


def boxes(points, nodes, p, field):
    """The cells cut at their nodes into trilinear ones, in which places are found more surely."""
    import numpy as np
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    cube = nodes.reshape(-1, p + 1, p + 1, p + 1)
    corner = [cube[:, k:p + k, j:p + j, i:p + i].reshape(-1) for k, j, i in
              ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0))]
    cells = np.stack([np.full(len(corner[0]), 8)] + corner, axis=1).astype(np.int64)
    array = vtk.vtkCellArray()
    array.SetCells(len(cells), numpy_to_vtkIdTypeArray(cells.ravel(), deep=1))
    grid = vtk.vtkUnstructuredGrid()
    places = vtk.vtkPoints()
    places.SetData(numpy_to_vtk(points.astype(float), deep=1))
    grid.SetPoints(places)
    grid.SetCells(vtk.VTK_HEXAHEDRON, array)
    values = numpy_to_vtk(field.astype(float), deep=1)
    values.SetName("B")
    grid.GetPointData().SetVectors(values)
    return grid


def outline(points):
    """The edges of the box around the mesh."""
    import vtk
    low, high = points.min(axis=0), points.max(axis=0)
    box = vtk.vtkCubeSource()
    box.SetBounds(low[0], high[0], low[1], high[1], low[2], high[2])
    edges = vtk.vtkExtractEdges()
    edges.SetInputConnection(box.GetOutputPort())
    edges.Update()
    return edges.GetOutput()


def actor(data, colour=None, table=None, width=None):
    import vtk
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputData(data)
    if table:
        mapper.SetLookupTable(table)
        mapper.UseLookupTableScalarRangeOn()
    else:
        mapper.ScalarVisibilityOff()
    a = vtk.vtkActor()
    a.SetMapper(mapper)
    if colour:
        a.GetProperty().SetColor(*colour)
    if width:
        a.GetProperty().SetLineWidth(width)
        a.GetProperty().LightingOff()
    else:
        a.GetProperty().SetAmbient(0.3)
        a.GetProperty().SetDiffuse(0.75)
        a.GetProperty().SetSpecular(0.2)
        a.GetProperty().SetSpecularPower(30)
    return a


def main():
    args = arguments()
    if "HOPS_RENDER" not in os.environ and shutil.which("xvfb-run"):
        env = dict(os.environ, HOPS_RENDER="1", LIBGL_ALWAYS_SOFTWARE="1")
        screen = ["xvfb-run", "-a", "-s", "-screen 0 1600x1200x24"]
        os.execvpe(screen[0], screen + [sys.executable] + sys.argv, env)
    import math
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
    points, beta, _, dim, p, nodes = render.read(args.name + "_beta.vtu")
    if dim != 3:
        sys.exit("fieldlines.py: the mesh is not of hexahedra")
    wire = nodes[beta[nodes].min(axis=1) > 0.5 * beta.max()]
    faces = render.boundary(points, wire, p)
    skin, edges = render.surface(points, beta, faces, p, 4)
    places, field, _, _, order, cells = render.read(args.name + "_B.vtu")
    grid = boxes(places, cells, order, field)
    size = float((points.max(axis=0) - points.min(axis=0)).max())
    tubes, traced = lines(grid, args.seeds or ["-0.3,0.15,0,0.3,0.15,0,7"], args.length, size)
    strength = vtk_to_numpy(traced.GetPointData().GetScalars())
    table = render.colours(strength)
    renderer = vtk.vtkRenderer()
    renderer.SetBackground(1.0, 1.0, 1.0)
    renderer.AddActor(actor(skin, colour=(0.78, 0.46, 0.24)))
    renderer.AddActor(actor(edges, colour=(0.35, 0.18, 0.08), width=1.2))
    renderer.AddActor(actor(tubes, table=table))
    renderer.AddActor(actor(outline(points), colour=(0.45, 0.45, 0.5), width=1.6))
    for label in render.labels(table, "|B|", args.title):
        renderer.AddViewProp(label)
    vtk.vtkLightKit().AddLightsToRenderer(renderer)
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(render.WIDTH, render.HEIGHT)
    window.AddRenderer(renderer)
    a, e = math.radians(args.azimuth), math.radians(args.elevation)
    cam = renderer.GetActiveCamera()
    cam.SetFocalPoint(0, 0, 0)
    cam.SetPosition(math.cos(e) * math.sin(-a), math.sin(e), math.cos(e) * math.cos(a))
    cam.SetViewUp(0, 1, 0)
    renderer.ResetCamera()
    cam.Zoom(1.1)
    cam.SetWindowCenter(0.06, 0.0)
    renderer.ResetCameraClippingRange()
    window.Render()
    render.write(window, args.png)


if __name__ == "__main__":
    main()
