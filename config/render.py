#!/usr/bin/env python3
"""config/render.py FILE.vtu FILE.png: a picture of a function that HopsSpaceViewVTU() wrote, with the edges of its curved
cells. Needs python3-vtk9; draws without a screen, under xvfb-run where that is installed.
"""
import argparse, os, shutil, sys

QUADRILATERAL, HEXAHEDRON = 70, 72  # VTK's Lagrange cells
WIDTH, HEIGHT = 1400, 1000
RAMPS = {  # colours at equal steps: for values of both signs, and for others
    "diverging": ["#2b3f8c", "#4a74b8", "#8ab3d8", "#cfe0ea", "#f5f1ea", "#f6d2b5", "#e99b76", "#cc574b", "#8f1d33"],
    "sequential": ["#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"]}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vtu")
    parser.add_argument("png")
    parser.add_argument("--title", default="", help="text below the picture (default: the number of cells and their order)")
    parser.add_argument("--whole", action="store_true", help="show all of a solid; else a quarter of its cells is left out in front")
    parser.add_argument("--azimuth", type=float, default=-65.0, help="from where a solid is seen, in degrees from the x axis")
    parser.add_argument("--elevation", type=float, default=28.0, help="the same, in degrees above the xy plane")
    parser.add_argument("--size", type=size, default=(WIDTH, HEIGHT), metavar="WxH",
                        help="pixels of the picture (default: %dx%d)" % (WIDTH, HEIGHT))
    return parser.parse_args()


def size(text):
    return tuple(int(n) for n in text.split("x"))


# ---- Cells and their boundary: nodes in lexicographic order, x fastest

def lattice(dim, p):
    """VTK's number of the nodes of a Lagrange cell of order p, x fastest."""
    import vtk
    cell = (vtk.vtkLagrangeQuadrilateral if dim == 2 else vtk.vtkLagrangeHexahedron)
    if dim == 2:
        return [cell.PointIndexFromIJK(i, j, (p, p)) for j in range(p + 1) for i in range(p + 1)]
    return [cell.PointIndexFromIJK(i, j, k, (p, p, p)) for k in range(p + 1) for j in range(p + 1) for i in range(p + 1)]


def read(filename):
    """Points, values, name of the values, dimension, order, nodes of the cells."""
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(filename)
    reader.Update()
    grid = reader.GetOutput()
    if not grid.GetNumberOfCells():
        sys.exit("render.py: %s has no cells" % filename)
    types = set(vtk_to_numpy(grid.GetCellTypesArray()))
    if len(types) > 1 or not types <= {QUADRILATERAL, HEXAHEDRON}:
        sys.exit("render.py: %s has cells that are not Lagrange quadrilaterals or hexahedra" % filename)
    dim = 2 if QUADRILATERAL in types else 3
    nodes = vtk_to_numpy(grid.GetCells().GetConnectivityArray()).reshape(grid.GetNumberOfCells(), -1)
    order = int(round(nodes.shape[1] ** (1.0 / dim))) - 1
    values = grid.GetPointData().GetArray(0)
    return vtk_to_numpy(grid.GetPoints().GetData()), vtk_to_numpy(values), values.GetName(), dim, order, nodes[:, lattice(dim, order)]


def boundary(points, nodes, p):
    """Nodes [face][(p+1)^2] of the faces that belong to one hexahedron; ranks do not share points, so places are compared."""
    import numpy as np
    n = p + 1
    cube = nodes.reshape(-1, n, n, n)
    faces = np.concatenate([f.reshape(-1, n * n) for f in (cube[:, 0].transpose(0, 2, 1), cube[:, p], cube[:, :, 0],
                                                          cube[:, :, p].transpose(0, 2, 1), cube[:, :, :, 0].transpose(0, 2, 1), cube[:, :, :, p])])
    place = np.round(points / (1e-7 * np.ptp(points, axis=0).max())).astype(np.int64)
    same = np.unique(place, axis=0, return_inverse=True)[1].reshape(-1)
    key = np.sort(same[faces[:, [0, p, p * n, n * n - 1]]], axis=1)
    number, count = np.unique(key, axis=0, return_inverse=True, return_counts=True)[1:]
    return faces[count[number.reshape(-1)] == 1]


def cut(points, nodes, azimuth):
    """The cells with their centres outside the quarter around that direction."""
    import numpy as np
    centre = points[nodes].mean(axis=1) - 0.5 * (points.min(axis=0) + points.max(axis=0))
    sides = [centre @ [np.cos(t), np.sin(t), 0.0] for t in np.radians([azimuth - 45.0, azimuth + 45.0])]
    return nodes[(sides[0] < 0) | (sides[1] < 0)]


def lagrange(p, m):
    """[m+1][p+1] Lagrange polynomials of the equispaced nodes of order p at m+1 equispaced points."""
    import numpy as np
    nodes, x = np.arange(p + 1) / p, np.arange(m + 1) / m
    return np.array([[np.prod([(t - s) / (nodes[j] - s) for i, s in enumerate(nodes) if i != j]) for j in range(p + 1)] for t in x])


# ---- From faces to VTK

def polydata(points, cells, values=None, lines=False):
    import numpy as np
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    data, array, place = vtk.vtkPolyData(), vtk.vtkCellArray(), vtk.vtkPoints()
    sized = np.column_stack([np.full(len(cells), cells.shape[1]), cells]).astype(np.int64)
    array.SetCells(len(cells), numpy_to_vtkIdTypeArray(sized.ravel(), deep=True))
    place.SetData(numpy_to_vtk(np.ascontiguousarray(points, dtype=float), deep=True))
    data.SetPoints(place)
    (data.SetLines if lines else data.SetPolys)(array)
    if values is not None:
        data.GetPointData().SetScalars(numpy_to_vtk(np.ascontiguousarray(values, dtype=float), deep=True))
    return data


def surface(points, values, faces, p, m):
    """Each face as m x m flat quadrilaterals, and its four curved edges."""
    import numpy as np
    B, n, k = lagrange(p, m), p + 1, m + 1
    x = np.einsum("ai,bj,fijd->fabd", B, B, points[faces].reshape(-1, n, n, 3))
    u = np.einsum("ai,bj,fij->fab", B, B, values[faces].reshape(-1, n, n))
    i, j = np.meshgrid(np.arange(m), np.arange(m), indexing="ij")
    corner = (i * k + j).ravel()
    quads = np.column_stack([corner, corner + 1, corner + k + 1, corner + k])
    quads = (quads + (np.arange(len(faces)) * k * k)[:, None, None]).reshape(-1, 4)
    grid = np.arange(len(faces) * k * k).reshape(-1, k, k)
    edges = np.concatenate([grid[:, 0], grid[:, m], grid[:, :, 0], grid[:, :, m]])
    flat = x.reshape(-1, 3)
    return polydata(flat, quads, u.ravel()), polydata(flat, edges, lines=True)


def colours(values):
    import vtk
    low, high = float(values.min()), float(values.max())
    ramp = "diverging" if low < 0 < high and min(-low, high) > 0.2 * max(-low, high) else "sequential"
    if ramp == "diverging":
        low, high = -max(-low, high), max(-low, high)
    if not high > low:
        low, high = low - 0.5, low + 0.5
    table = vtk.vtkColorTransferFunction()
    table.SetColorSpaceToLab()
    for i, colour in enumerate(RAMPS[ramp]):
        r, g, b = (int(colour[c:c + 2], 16) / 255.0 for c in (1, 3, 5))
        table.AddRGBPoint(low + (high - low) * i / (len(RAMPS[ramp]) - 1), r, g, b)
    return table


# ---- The picture

def text_style(style, size, bold=False):
    style.SetFontFamilyToArial()
    style.SetFontSize(size)
    style.SetColor(0.15, 0.15, 0.18)
    style.SetBold(bold)
    style.SetItalic(False)
    style.SetShadow(False)


def actors(faces, edges, table, solid):
    import vtk
    normals = vtk.vtkPolyDataNormals()
    normals.SetInputData(faces)
    normals.SplittingOff()
    normals.ConsistencyOff()
    skin = vtk.vtkPolyDataMapper()
    skin.SetInputConnection(normals.GetOutputPort())
    skin.SetLookupTable(table)
    skin.UseLookupTableScalarRangeOn()
    skin.InterpolateScalarsBeforeMappingOn()
    skin.SetResolveCoincidentTopologyToPolygonOffset()
    skin.SetRelativeCoincidentTopologyPolygonOffsetParameters(2, 2)
    body = vtk.vtkActor()
    body.SetMapper(skin)
    body.GetProperty().SetInterpolationToPhong()
    body.GetProperty().SetAmbient(0.42 if solid else 1.0)
    body.GetProperty().SetDiffuse(0.66 if solid else 0.0)
    body.GetProperty().SetSpecular(0.12 if solid else 0.0)
    body.GetProperty().SetSpecularPower(25)
    line = vtk.vtkPolyDataMapper()
    line.SetInputData(edges)
    line.ScalarVisibilityOff()
    wire = vtk.vtkActor()
    wire.SetMapper(line)
    wire.GetProperty().SetColor(0.1, 0.1, 0.14)
    wire.GetProperty().SetOpacity(0.55)
    wire.GetProperty().SetLineWidth(1.6)
    wire.GetProperty().LightingOff()
    return body, wire


def labels(table, name, title):
    import vtk
    bar = vtk.vtkScalarBarActor()
    bar.SetLookupTable(table)
    bar.SetTitle(name + "\n ")
    bar.SetNumberOfLabels(5)
    bar.SetLabelFormat("%.3g")
    bar.UnconstrainedFontSizeOn()
    bar.SetMaximumNumberOfColors(256)
    bar.SetPosition(0.875, 0.2)
    bar.SetWidth(0.09)
    bar.SetHeight(0.6)
    bar.SetBarRatio(0.28)
    text_style(bar.GetTitleTextProperty(), 30, bold=True)
    text_style(bar.GetLabelTextProperty(), 24)
    caption = vtk.vtkTextActor()
    caption.SetInput(title)
    text_style(caption.GetTextProperty(), 26)
    caption.SetPosition(36, 30)
    return bar, caption


def camera(renderer, dim, azimuth, elevation):
    import math
    cam = renderer.GetActiveCamera()
    if dim == 2:
        cam.ParallelProjectionOn()
    else:
        a, e = math.radians(azimuth), math.radians(elevation)
        cam.SetFocalPoint(0, 0, 0)
        cam.SetPosition(math.cos(a) * math.cos(e), math.sin(a) * math.cos(e), math.sin(e))
        cam.SetViewUp(0, 0, 1)
    renderer.ResetCamera()
    cam.Zoom(1.2 if dim == 2 else 1.4)
    cam.SetWindowCenter(0.06, 0.0)  # room for the colour bar
    renderer.ResetCameraClippingRange()


def write(window, filename, pixels=(WIDTH, HEIGHT)):
    """Draw at twice the size and scale down: smooth edges, whatever the driver can do."""
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.SetScale(2)
    grab.SetInputBufferTypeToRGB()
    grab.ReadFrontBufferOff()
    small = vtk.vtkImageResize()
    small.SetInputConnection(grab.GetOutputPort())
    small.SetOutputDimensions(*pixels, 1)
    small.Update()
    colour = vtk_to_numpy(small.GetOutput().GetPointData().GetScalars()).astype(float)
    if colour.std(axis=0).max() < 5:
        sys.exit("render.py: the picture is empty; is there a working OpenGL (libgl1-mesa-dri)?")
    png = vtk.vtkPNGWriter()
    png.SetInputConnection(small.GetOutputPort())
    png.SetFileName(filename)
    png.Write()
    if png.GetErrorCode() or not os.path.exists(filename):
        sys.exit("render.py: cannot write " + filename)


def main():
    args = arguments()
    if "HOPS_RENDER" not in os.environ and shutil.which("xvfb-run"):
        env = dict(os.environ, HOPS_RENDER="1", LIBGL_ALWAYS_SOFTWARE="1")
        screen = ["xvfb-run", "-a", "-s", "-screen 0 1600x1200x24"]
        os.execvpe(screen[0], screen + [sys.executable] + sys.argv, env)
    import vtk
    points, values, name, dim, p, nodes = read(args.vtu)
    kept = nodes if dim == 2 or args.whole else cut(points, nodes, args.azimuth + 15.0)
    faces = boundary(points, kept, p) if dim == 3 else kept
    skin, edges = surface(points, values, faces, p, max(2 * p, 8))
    table = colours(values)
    renderer = vtk.vtkRenderer()
    renderer.SetBackground(1.0, 1.0, 1.0)
    for actor in actors(skin, edges, table, dim == 3):
        renderer.AddActor(actor)
    title = args.title or "%d %s of order %d" % (len(nodes), "quadrilaterals" if dim == 2 else "hexahedra", p)
    for actor in labels(table, name, title):
        renderer.AddViewProp(actor)
    if dim == 3:
        vtk.vtkLightKit().AddLightsToRenderer(renderer)
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(*args.size)
    window.AddRenderer(renderer)
    camera(renderer, dim, args.azimuth, args.elevation)
    window.Render()
    write(window, args.png, args.size)


if __name__ == "__main__":
    main()
