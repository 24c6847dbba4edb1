#!/usr/bin/env python3
"""docs/tables.py [--check | --record NAMES SOURCE]: writes the tables of docs/**.md from docs/data.

A page has a line <!-- table: NAME --> and a line <!-- end -->; what stands between them is replaced. NAME is a function below, or else a file
docs/data/records/NAME.csv, which is printed as it is. Below each table stand the command, the machine, the date and the commit of its data: from
docs/data/sources.csv, or for a record from its column `source`, "command; machine; date; commit". A commit "-" is for data that no program of the tree makes: publications, and what was tried and is not kept.
--check writes nothing and exits 1 where a page is stale, a record or table is in no page, or a page of theory, performance or developer is too
wide (132 columns) or of the first two too long (250 lines).
--record writes the Markdown tables of its input, which programs of bench/ print, as the records NAMES (with commas between), made as SOURCE says:
bench/drop-tolerance | docs/tables.py --record host-drop "bench/drop-tolerance; host, PETSc 3.18.5; $(date +%F); $(git rev-parse --short HEAD)"
"""
import csv, glob, math, os, re, sys, textwrap
from collections import defaultdict

docs = os.path.dirname(os.path.abspath(__file__))
data = os.path.join(docs, "data")
tables = {}


def lines(name):
    with open(os.path.join(data, name), encoding="utf-8", newline="") as f:
        return list(csv.reader(line for line in f if not line.startswith("#")))


def read(name):
    rows = lines(name)
    return [dict(zip(rows[0], r)) for r in rows[1:]]


def table(name, *files):
    """the function gets the rows of each file and returns the columns' titles and the cells"""

    def register(f):
        tables[name] = lambda: (*f(*map(read, files)), [tuple(sources[n][k] for k in ("command", "machine", "date", "commit")) for n in files])
        return f

    return register


sources = {r["file"]: r for r in read("sources.csv")}


def record(name):
    head, *rows = lines("records/%s.csv" % name)
    at = head.index("source")
    return head[:at], [r[:at] for r in rows], [tuple((source.split("; ") + [""])[:4]) for source in dict.fromkeys(r[at] for r in rows)]


def made(entries):
    """command, machine, date and commit of the data, commands of one machine and date together"""
    commands = defaultdict(list)
    for command, machine, date, commit in entries:
        if command not in commands[machine, date, commit]:
            commands[machine, date, commit].append(command)
    text = []
    for (machine, date, commit), c in commands.items():
        if commit == "-":  # nothing of the tree: a publication, or experiments whose code is not kept
            text.append("%s, %s." % (", ".join(c), ", ".join(s for s in (machine, date) if s != "-")))
        else:
            text.append("`%s`, %s, %s, commit %s." % ("`, `".join(c), machine, date if date != "not recorded" else "date not recorded", commit or "not recorded"))
    return textwrap.wrap("Data: " + " ".join(text), 130, break_long_words=False, break_on_hyphens=False)


def render(name):
    head, rows, entries = tables[name]() if name in tables else record(name)
    out = ["| %s |" % " | ".join(map(str, head)), "|%s" % ("---|" * len(head))]
    return out + ["| %s |" % " | ".join(c or "–" for c in map(str, r)) for r in rows] + [""] + made(entries)


def num(x, digits=2):
    """as many digits, at least those before the point"""
    x = float(x)
    return "%.*f" % (max(0, digits - 1 - math.floor(math.log10(abs(x)))), x) if x else "0"


def rate(row, part, unit=1e6, digits=3):
    """unknowns per second"""
    s = float(row[part] or 0)
    return num(float(row["unknowns"]) / s / unit, digits) if s > 1e-9 else ""


def pick(rows, **where):
    return [r for r in rows if all(r[k] == str(v) for k, v in where.items())]


def first(rows, **where):
    found = pick(rows, **where)
    return found[0] if found else None


def values(rows, key):
    return sorted({int(r[key]) for r in rows})


def largest(rows):
    return max(rows, key=lambda r: int(r["unknowns"])) if rows else None


def million(row):
    return num(1e-6 * float(row["unknowns"]), 3)


# On the host


@table("host-kernels", "kernels.csv")
def _(rows):
    out = []
    for p in values(rows, "order"):
        less, more, curved = (first(rows, dim=3, order=p, extra_points=e, curved=c) for e, c in ((1, 0), (2, 0), (2, 1)))
        out.append([p] + [rate(r, part) for r, part in ((less, "apply"), (more, "apply"), (curved, "apply"), (more, "lor_refill"), (curved, "lor_refill"), (more, "lor_symbolic"), (more, "op_setup"), (more, "diagonal"))])
    return ["p", "apply, Q = p + 1", "Q = p + 2", "Q = p + 2, curved", "LOR values", "curved", "LOR pattern", "operator set-up", "diagonal"], out


@table("host-solve", "solve.csv", "large.csv")
def _(solve, large):
    rows = [largest(pick(solve, dim=d, order=p)) for d in (3, 2) for p in values(solve, "order")] + sorted(large, key=lambda r: -int(r["dim"]))
    keys = ("op_setup", 1, 2), ("lor_symbolic", 1, 2), ("lor_numeric", 1, 2), ("amg_setup", 1, 2), ("apply", 1e3, 3), ("vcycle", 1e3, 3)
    out = [[r["dim"] + "D", r["order"], r["unknowns"]] + [num(scale * float(r[k]), n) for k, scale, n in keys] + [num(r["bytes_per_unknown"], 3)] for r in rows]
    return ["", "p", "unknowns", "operator set-up s", "LOR pattern s", "LOR values s", "AMG set-up s", "apply ms", "V-cycle ms", "bytes an unknown"], out


@table("host-assembled", "assembled.csv")
def _(rows):
    out = []
    for r in rows:
        out.append([r["order"], r["unknowns"], "assembled" if r["assembled"] == "1" else "matrix-free", num(r["nonzeros_per_row"], 3), r["iterations"], num(1e3 * float(r["apply"]), 3), num(r["bytes_per_unknown"], 3)]
                   + [num(r[k], 2) for k in ("op_setup", "amg_setup", "cg")] + [num(r["total"], 3)])
    return ["p", "unknowns", "", "entries a row", "iterations", "apply ms", "bytes an unknown", "assembly or set-up s", "AMG s", "CG s", "all s"], out


def dropping(name, shown):
    head, rows, source = record(name)
    rows = [dict(zip(head, r)) for r in rows]
    out = []
    for case in dict.fromkeys((r["mesh"], r["p"], r["unknowns"]) for r in rows):
        at = {r["tolerance"]: r for r in rows if (r["mesh"], r["p"], r["unknowns"]) == case}
        out.append(list(case[:2]) + [", ".join(at[t][k] for t in shown if t in at) for k in ("nonzeros per row", "iterations", "V-cycle ms", "set-up and CG s")])
    return ["mesh", "p", "entries a row", "iterations", "V-cycle ms", "set-up and CG s"], out, source


tables["host-drop"] = lambda: dropping("host-drop", ("0", "0.5", "0.8", "1"))
tables["gpu-drop"] = lambda: dropping("gpu-drop", ("0", "0.5", "1"))

# PETSc's examples


def orders(name):
    """lowest, middle and highest order of each code"""
    head, rows, source = record(name)
    out = []
    for code in dict.fromkeys(r[0] for r in rows):
        found = [r for r in rows if r[0] == code]
        out += [found[i] for i in sorted({0, len(found) // 2, len(found) - 1})]
    return head, out, source


tables["codes-times"] = lambda: orders("codes-times")
tables["codes-fields"] = lambda: orders("codes-fields")

# On a device


@table("gpu-solve", "gpu/solve.csv", "gpu/others.csv")
def _(solve, others):
    out = []
    for r in sorted(solve, key=lambda r: (-int(r["dim"]), int(r["order"]))) + others:
        case = "%sD%s" % (r["dim"], "" if r["curved"] == "0" else ", curved" if float(r["nonzeros_per_row"]) < 10 else ", curved, τ = 0")
        out.append([case, r["order"], r["unknowns"], r["iterations"]] + [num(r["space"], 2)] + [num(r[k], n) for k, n in (("op_setup", 2), ("lor", 2), ("amg_setup", 3))] + [num(1e3 * float(r[k]), 3) for k in ("apply", "vcycle")] + [num(r[k], 2 if k == "cg" else 3) for k in ("cg", "total")])
    return ["case", "p", "unknowns", "iterations", "space", "operator set-up", "LOR matrix", "AMG set-up", "apply ms", "V-cycle ms", "CG", "total"], out


@table("gpu-lor", "gpu/refill.csv", "gpu/curved.csv", "gpu/complete.csv")
def _(*kinds):
    out = []
    for p in values(kinds[0], "order"):
        found = [first(rows, order=p) for rows in kinds]
        out.append([p] + [rate(r, k, 1e9) for r in found for k in ("lor", "lor_refill")])
    return ["p", "straight: first time", "refill", "curved: first time", "refill", "complete: first time", "refill"], out


@table("gpu-smoothers", "gpu/smoothers.csv")
def _(rows):
    shown = ("single", 1, 0), ("single", 2, 0), ("single", 1, 1), ("single", 1, 2), ("single", 1, 3), ("double", 1, 1), ("hypre", 1, 0)
    out = []
    for case in dict.fromkeys((r["mesh"], r["order"], r["unknowns"]) for r in rows):
        found = [first(rows, mesh=case[0], order=case[1], unknowns=case[2], precision=k, sweeps=s, degree=d) for k, s, d in shown]
        out.append([os.path.basename(case[0]), case[1], num(1e-6 * float(case[2]), 3)] + ["%s, %s" % (r["iterations"], num(1e3 * float(r["solve"]), 3)) if r else "" for r in found])
    return ["mesh", "p", "million", "l1-Jacobi", "two sweeps", "Chebyshev 1", "2", "3", "1, double", "hypre's cycle, l1-Jacobi"], out


@table("gpu-operator", "gpu/operator.csv")
def _(rows):
    h1, out = pick(rows, element="h1"), []
    setup = pick(h1, cells="curved")
    for p in values(setup, "order"):
        line = [p]
        for q in (p + 1, p + 2):
            stored, trilinear = first(setup, order=p, points=q), first(h1, cells="multilinear", order=p, points=q)
            line += [num(stored["gdof_per_s"], 3), num(stored["of_copy"], 2), num(trilinear["gdof_per_s"], 3) if trilinear else ""]
            if q == p + 1:
                more = [first(h1, cells=k, order=p, points=q) for k in ("affine", "collocated")]
                line += [num(r["gdof_per_s"], 3) if r else "" for r in more]
        out.append(line + [num(1e3 * float(first(setup, order=p, points=q)["setup_s"]), 2) for q in (p + 1, p + 2)])
    return ["p", "p + 1: stored", "of copy", "trilinear", "affine", "collocated", "p + 2: stored", "of copy", "trilinear", "set-up ms, p + 1", "p + 2"], out


@table("gpu-forms", "gpu/operator.csv")
def _(rows):
    out = []
    for p in values(pick(rows, element="nd"), "order"):
        found = [first(rows, element=e, order=p, points=q) for e in ("nd", "rt") for q in (p + 1, p + 2)]
        out.append([p] + [c for r in found for c in (num(r["gdof_per_s"], 3), num(r["of_copy"], 2))])
    return ["p", "H(curl), Q = p + 1", "of copy", "Q = p + 2", "of copy", "H(div), Q = p + 1", "of copy", "Q = p + 2", "of copy"], out


# Adaptive meshes on a device


def beside(rows, **which):
    """the adaptive mesh and the uniform one of a case"""
    return first(rows, uniform=0, **which), first(rows, uniform=1, **which)


def each(r, k):
    return float(r[k]) / float(r["unknowns"])


@table("adaptive-product", "gpu/amr.csv", "gpu/amrstored.csv", "gpu/amrcurl.csv")
def _(affine, stored, curl):
    out = []
    for p in values(affine, "order"):
        line = [p]
        for rows, fe in ((affine, "h1"), (stored, "h1"), (curl, "nd"), (curl, "rt")):
            r = first(rows, fe=fe, uniform=0, order=p)
            line.append("%.2f" % (float(r["apply"]) / float(r["alone"])) if r else "")
        out.append(line)
    return ["p", "H1, affine", "H1, stored", "H(curl)", "H(div)"], out


@table("adaptive-solve", "gpu/amr.csv")
def _(rows):
    out = []
    for p in values(rows, "order"):
        a, u = beside(rows, order=p)
        out.append([p, a["unknowns"], a["nnzrow"], "%s / %s" % (a["iterations"], u["iterations"])] + [num(1e3 * float(a[k]), 3) for k in ("lor", "amg", "cg", "total")] + ["%.2f" % (each(a, k) / each(u, k)) for k in ("lor", "amg", "vcycle", "total")])
    return ["p", "unknowns", "entries a row", "its / uniform", "LOR ms", "AMG ms", "CG ms", "total ms", "LOR by uniform's", "AMG", "V-cycle", "total"], out


@table("adaptive-lor", "gpu/amrstored.csv")
def _(rows):
    out = []
    for p in values(rows, "order"):
        a, u = beside(rows, order=p)
        out.append([p] + [num(1e3 * float(r["refill"]), 3) for r in (a, u)] + ["%.1f" % (each(a, "refill") / each(u, "refill"))])
    return ["p", "refill ms", "uniform's ms", "by unknown"], out


@table("adaptive-large", "gpu/amrlarge.csv", "gpu/amrlarge-before.csv")
def _(now, before):
    rows = [dict(r, card="H200") for r in now] + [dict(r, card="H100") for r in before]
    keys = ("order", "card", "cells", "hanging", "unknowns", "iterations")
    return ["p", "card", "cells", "with hanging nodes", "unknowns", "iterations", "operator set-up", "LOR matrix", "AMG set-up", "CG", "total"], [[r[k] for k in keys] + [num(r[k], 3) for k in ("op_setup", "lor", "amg", "cg", "total")] for r in rows]


@table("adaptive-curl", "gpu/amrcurl.csv")
def _(rows):
    out = []
    for fe, name in (("nd", "H(curl), AMS"), ("rt", "H(div), ADS")):
        for p in values(pick(rows, fe=fe), "order"):
            a, u = beside(rows, fe=fe, order=p)
            out.append([name, p, a["unknowns"], "%s / %s" % (a["iterations"], u["iterations"])] + [num(1e3 * float(a[k]), 3) for k in ("lor", "amg", "vcycle", "cg")])
    return ["space", "p", "unknowns", "iterations / uniform", "LOR ms", "set-up ms", "cycle ms", "CG ms"], out


# H(curl) and H(div)


@table("maxwell-assembly", "vectorsetup.csv")
def _(rows):
    out = []
    for fe, space, derivative in ("nd", "H(curl)", "gradient"), ("rt", "H(div)", "curl"):
        for p in values(rows, "order"):
            r = largest(pick(rows, fe=fe, order=p))
            out.append([space, p, million(r), num(r["nonzeros_per_row"], 3), rate(r, "lor_refill"), rate(r, derivative), rate(r, "coordinates"), num(r["bytes_per_unknown"], 3)])
    return ["space", "p", "million", "entries a row", "LOR values", "gradient or curl", "vertices", "bytes an unknown"], out


@table("maxwell-applied", "vectorpc.csv")
def _(rows):
    out = []
    for p in values(rows, "order"):
        found = [largest(pick(rows, fe=fe, order=p)) for fe in ("h1", "nd", "rt")]
        out.append([p] + [c for r in found for c in (million(r), rate(r, "vcycle", 1e6))])
    return ["p", "million", "BoomerAMG", "million", "AMS", "million", "ADS"], out


# Patches


def sweeps(rows, dim):
    columns = ("operator", "double"), ("additive", "double"), ("multiplicative", "double"), ("additive element", "double"), ("additive", "single"), ("multiplicative from zero", "single")
    out = []
    for p in values(rows, "order"):
        found = [first(rows, dim=dim, order=p, kernel=k, precision=s) for k, s in columns]
        out.append([p] + ["%s, %.0f%%" % (num(r["munknowns_per_s"], 2), 100 * float(r["of_peak"])) for r in found])
    return ["p", "operator", "additive", "multiplicative", "element, additive", "additive, single", "multiplicative from zero, single"], out


table("patches-host-3d", "patchbench.csv")(lambda rows: sweeps(rows, 3))
table("patches-host-2d", "patchbench.csv")(lambda rows: sweeps(rows, 2))
stages = ("global", "separate", "fused", "linear", "free", "boundary", "modal")
titles = ["global", "separate", "fused", "linear", "conflict-free", "boundary", "this library"]


def boxes(rows, dim):
    out = []
    for precision in "double", "single":
        for p in values(pick(rows, dim=dim), "order"):
            found = {k: first(rows, dim=dim, order=p, precision=precision, kind=k) for k in stages}
            ours = found["modal"]
            out.append([precision, p] + [num(found[k]["gdof_per_s"], 3 if k == "modal" else 2) if found[k] else "" for k in stages] + [num(ours["tflops"], 2), "%.2f" % float(ours["of_peak"]), "%.2f" % float(ours["of_copy"])])
    return ["", "p"] + titles + ["TFLOP/s done", "of peak", "of copy"], out


table("patches-box-3d", "gpupatch.csv")(lambda rows: boxes(rows, 3))
table("patches-box-2d", "gpupatch.csv")(lambda rows: boxes(rows, 2))


@table("patches-profile", "patch-profile.csv")
def _(rows):
    quantities = (("L1, % of its peak", "l1", 1, "%.0f"), ("L2, %", "l2", 1, "%.0f"), ("DRAM, %", "dram", 1, "%.0f"), ("flops, % of the vector units' peak", "of_peak", 1, "%.0f"), ("branch efficiency, %", "branch_efficiency", 1, "%.0f"),
             ("warps resident, %", "warps", 1, "%.0f"), ("wavefronts of shared memory, 10⁶", "shared_wavefronts", 1e-6, "%.0f"), ("bank conflicts a block", "conflicts_per_block", 1, "%.0f"), ("registers", "registers", 1, "%.0f"), ("ms", "us", 1e-3, "%.3f"))
    kinds = [(s, p) for p in ("double", "single") for s in ("fused", "linear", "conflict-free", "this library")]
    out = [[title] + [form % (scale * float(first(rows, stage=s, precision=p)[key])) for s, p in kinds] for title, key, scale, form in quantities]
    return [""] + ["%s%s" % (s, ", " + p if p == "single" else "") for s, p in kinds], out


@table("patches-lists", "gpu/patchbench.csv")
def _(rows):
    columns = [("operator", "double"), ("additive", "double"), ("additive", "single"), ("additive element", "double")] + [("multiplicative" + f, s) for s in ("double", "single") for f in ("", " from zero")]
    out = []
    for p in values(rows, "order"):
        found = [first(rows, order=p, kernel=k, precision=s) for k, s in columns]
        out.append([p] + ["%s, %.0f%%" % (num(1e-3 * float(r["munknowns_per_s"]), 2), 100 * float(r["of_copy"])) for r in found])
    return ["p", "operator", "additive", "additive, single", "element", "multiplicative", "from zero", "multiplicative, single", "from zero"], out


# Uniform boxes

parts = {"smoothing": "smoothing", "residual": "residual", "restriction": "transfers", "prolongation": "transfers", "vectors": "vectors", "rest": "Krylov method, waits"}
shown = ["smoothing", "residual", "transfers", "vectors", "levels below", "Krylov method, waits"]


def components(levels):
    """parts of the finest level, and the sum of the others; a direct solver is a level below unless it is all there is"""
    out = dict.fromkeys(shown, 0.0)
    for level, kinds in levels.items():
        for kind, s in kinds.items():
            out[parts[kind] if level == 0 and kind in parts else "levels below"] += s
    return out


def breakdown(rows):
    """seconds[ksp, dim, precision, order][level][kind]"""
    seconds = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    for r in rows:
        seconds[r["ksp"], r["dim"], r["precision"], int(r["order"])][int(r["level"])][r["kind"]] += float(r["seconds"])
    return seconds


def solved(rows, ksp):
    out = []
    for dim in "3", "2":
        for p in values(rows, "order"):
            double, single = (first(rows, ksp=ksp, dim=dim, order=p, precision=k) for k in ("double", "single"))
            line = [dim + "D", p, double["cells"], num(1e-6 * float(double["unknowns"]), 3)]
            for r in double, single:
                line += [r["iterations"], r["solve_s"], num(r["gdof_per_s"], 3), "%.1e" % float(r["l2_error"])]
            out.append(line + ["%.2f" % (float(double["solve_s"]) / float(single["solve_s"]))])
    return ["", "p", "cells", "million", "double: cycles", "s", "10⁹/s", "L2 error", "mixed: cycles", "s", "10⁹/s", "L2 error", "speed-up"], out


table("boxes-full", "gpu/boxsolve.csv")(lambda rows: solved(rows, "richardson"))
table("boxes-fgmres", "gpu/boxsolve.csv")(lambda rows: solved(rows, "fgmres"))


@table("boxes-parts", "gpu/boxbreakdown.csv")
def _(rows):
    names, seconds, out = ["smoothing", "residual", "restriction", "prolongation", "vectors"], breakdown(rows), []
    for p in 1, 3, 7:
        for precision in "double", "single":
            levels = seconds["richardson", "3", precision, p]
            below = sum(s for level, kinds in levels.items() for kind, s in kinds.items() if level or kind not in parts)
            out.append([p, {"single": "mixed"}.get(precision, precision)] + ["%.1f" % (1e3 * levels[0][k]) for k in names] + ["%.1f" % (1e3 * below)])
    return ["p", "precision", "smoothing", "residual", "restriction", "prolongation", "other vectors", "levels below"], out


@table("boxes-literature", "gpu/boxbreakdown.csv", "gpu/boxstages.csv")
def _(rows, stages):
    speed, seconds, out = {(r["precision"], int(r["order"]), r["kind"]): float(r["gdof_per_s"]) for r in stages if r["dim"] == "3"}, breakdown(rows), []
    for precision in "double", "single":
        for p in sorted(k[3] for k in seconds if k[:3] == ("fgmres", "3", precision)):
            measured, line = seconds["fgmres", "3", precision, p], [precision, p]
            for kind in "fused", "free", "modal":
                if (precision, p, kind) not in speed:  # a stage needs more shared memory than there is
                    line += ["", ""] if kind != "modal" else [""]
                    continue
                ratio = speed[precision, p, "modal"] / speed[precision, p, kind]
                bar = components({level: {k: s * (ratio if k == "smoothing" else 1.0) for k, s in part.items()} for level, part in measured.items()})
                line += ["%.0f" % (100 * bar["smoothing"] / sum(bar.values()))] + (["%.1f" % (sum(bar.values()) / sum(components(measured).values()))] if kind != "modal" else [])
            out.append(line)
    return ["cycle", "p", "fused: smoothing %", "time", "conflict-free: smoothing %", "time", "this library: smoothing %"], out


def cycles(rows, dim):
    cells, out = values(pick(rows, dim=dim), "cells"), []
    for p in values(pick(rows, dim=dim), "order"):
        line = [p]
        for n in cells:
            found = [first(rows, dim=dim, order=p, cells=n, precision=k) for k in ("double", "single")]
            counts = [r["iterations"] + ("" if r["converged"] == "yes" else " (not converged)") for r in found if r]
            line.append(" / ".join(counts if len(set(counts)) > 1 else counts[:1]))
        out.append(line)
    return ["p"] + ["%d cells" % n if n == cells[0] else str(n) for n in cells], out


table("boxes-cycles-3d", "gpu/boxone.csv")(lambda rows: cycles(rows, 3))
table("boxes-cycles-2d", "gpu/boxone.csv")(lambda rows: cycles(rows, 2))


@table("boxes-small", "gpu/boxcoarse.csv")
def _(rows):
    out = []
    for p in values(rows, "order"):
        for n in values(pick(rows, order=p), "cells"):
            out.append([p, n] + [(first(rows, order=p, cells=n, coarse_nodes=c, precision=k) or {"solve_s": ""})["solve_s"] for c in values(rows, "coarse_nodes") for k in ("double", "single")])
    return ["p", "cells"] + ["%d nodes: %s" % (c, k) if k == "double" else "mixed" for c in values(rows, "coarse_nodes") for k in ("double", "mixed")], out


# Pages

marker = re.compile(r"^<!-- table: ([\w-]+) -->\n(?:.*\n)*?<!-- end -->\n", re.M)


def main(check):
    failed, used = [], set()
    for path in sorted(glob.glob(os.path.join(docs, "**", "*.md"), recursive=True)):
        name = os.path.relpath(path, docs)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        used.update(marker.findall(text))
        new = marker.sub(lambda m: "<!-- table: %s -->\n%s\n<!-- end -->\n" % (m[1], "\n".join(render(m[1]))), text)
        if new.count("<!-- table:") != len(marker.findall(new)):
            failed.append("%s: a table without an end" % name)
        if new != text and check:
            failed.append("%s is stale: run docs/tables.py" % name)
        elif new != text:
            with open(path, "w", encoding="utf-8") as f:
                f.write(new)
        if name.split(os.sep)[0] in ("theory", "performance", "developer"):
            failed += ["%s:%d has %d columns" % (name, i, len(line)) for i, line in enumerate(new.splitlines(), 1) if len(line) > 132]
            if not name.startswith("developer") and new.count("\n") > 250:
                failed.append("%s has %d lines" % (name, new.count("\n")))
    every = set(tables) | {os.path.basename(f)[:-4] for f in glob.glob(os.path.join(data, "records", "*.csv"))}
    failed += ["%s is in no page" % t for t in sorted(every - used)]
    print("\n".join(failed) if failed else "docs/tables.py: %d tables%s" % (len(used), " are what the data say" if check else ""))
    return 1 if failed else 0


def keep(names, source):
    """the tables of the standard input, as records"""
    found = re.findall(r"^(\|.*)\n\|[-|: ]+\n((?:\|.*\n?)+)", sys.stdin.read(), re.M)
    if len(found) != len(names) or source.count("; ") not in (2, 3):
        sys.exit("docs/tables.py: %d tables for %d names, or the source is not 'command; machine; date; commit'" % (len(found), len(names)))
    cells = lambda line: [c.strip() for c in line.strip()[1:-1].split("|")]
    for name, (head, rows) in zip(names, found):
        with open(os.path.join(data, "records", name + ".csv"), "w", encoding="utf-8", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([cells(head) + ["source"]] + [cells(r) + [source] for r in rows.splitlines()])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"] and len(sys.argv) == 4:
        keep(sys.argv[2].split(","), sys.argv[3])
    elif sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    else:
        sys.exit(main(sys.argv[1:] == ["--check"]))
