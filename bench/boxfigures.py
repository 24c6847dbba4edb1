#!/usr/bin/env python3
"""bench/boxfigures.py [DATA] [FIGURES]: draws the CSV files of bench/boxbench-gpu (default docs/data/gpu to docs/figures); docs/tables.py makes the tables.

gpu-box-components: the seconds of flexible GMRES with one V-cycle by part, per unknown and as shares; gpu-box-full: the same of full multigrid;
gpu-box-levels: shares of the levels; gpu-box-stages: shares with the literature's smoothing kernels in place of the library's. The cycle cannot run those kernels: the smoothing part
is multiplied by the ratio of their sweep to the library's, on 10^8 unknowns, on all levels.
"""
import csv, os, sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

data, figures = (sys.argv[1:] + ["docs/data/gpu", "docs/figures"][len(sys.argv) - 1:])[:2]
os.makedirs(figures, exist_ok=True)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
from tables import breakdown, components, shown as order

plt.rcParams.update({"axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True, "font.size": 9, "figure.constrained_layout.use": True})
colors = dict(zip(order, ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#aa3377", "#bbbbbb")))
solvers = {"fgmres": "flexible GMRES with one V-cycle", "richardson": "full multigrid"}
panels = [(dim, precision) for dim in "23" for precision in ("double", "single")]


def read(name):
    with open(os.path.join(data, name + ".csv")) as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def orders(seconds, *key):
    return sorted(k[3] for k in seconds if k[:3] == key)


def stack(ax, bars, names, palette, width=0.8):
    """bars: {position: {name: height}}"""
    bottom = dict.fromkeys(bars, 0.0)
    for name in names:
        heights = [bars[x].get(name, 0.0) for x in bars]
        ax.bar(list(bars), heights, width, [bottom[x] for x in bars], color=palette[name], label=name)
        for x, h in zip(bars, heights):
            bottom[x] += h


def shares(bar):
    total = sum(bar.values())
    return {k: 100.0 * v / total for k, v in bar.items()}


def title(dim, precision):
    return "%sD, cycle in %s precision" % (dim, precision)


def save(fig, name, axis, caption=None):
    axis.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), fontsize=8)
    if caption:
        fig.supxlabel(caption, fontsize=8)
    fig.savefig(os.path.join(figures, "gpu-box-" + name + ".png"), dpi=90)
    plt.close(fig)


seconds = breakdown(read("boxbreakdown"))
unknowns = {(r["ksp"], r["dim"], r["precision"], int(r["order"])): float(r["unknowns"]) for r in read("boxsolve")}

for ksp, name in (("fgmres", "components"), ("richardson", "full")):
    fig, axes = plt.subplots(2, 4, figsize=(13, 5.5), sharex=True)
    for (upper, lower), (dim, precision) in zip(zip(*axes), panels):
        bars = {p: components(seconds[ksp, dim, precision, p]) for p in orders(seconds, ksp, dim, precision)}
        stack(upper, {p: {k: 1e9 * v / unknowns[ksp, dim, precision, p] for k, v in bar.items()} for p, bar in bars.items()}, order, colors)
        stack(lower, {p: shares(bar) for p, bar in bars.items()}, order, colors)
        upper.set_title(title(dim, precision))
        lower.set_xlabel("order")
        lower.set_xticks(list(bars))
        lower.set_ylim(0, 100)
    axes[0][0].set_ylabel("ns per unknown and solve")
    axes[1][0].set_ylabel("% of the solve")
    fig.suptitle(solvers[ksp])
    save(fig, name, axes[0][-1])

fig, axes = plt.subplots(1, 4, figsize=(13, 3.2), sharey=True)
names = ["finest level", "second", "third", "all others"]
palette = dict(zip(names, ("#4477aa", "#66ccee", "#228833", "#ccbb44")))
for ax, (ksp, precision) in zip(axes, ((k, p) for k in solvers for p in ("double", "single"))):
    bars = {}
    for p in orders(seconds, ksp, "3", precision):
        bar = dict.fromkeys(names, 0.0)
        for level, kinds in seconds[ksp, "3", precision, p].items():
            bar[names[min(level, 3)]] += sum(s for kind, s in kinds.items() if kind != "rest")
        bars[p] = shares(bar)
    stack(ax, bars, names, palette)
    ax.set_title(solvers[ksp] + ",\n" + title("3", precision), fontsize=8)
    ax.set_xlabel("order")
    ax.set_xticks(list(bars))
axes[0].set_ylabel("% of the cycles")
axes[0].set_ylim(0, 100)
save(fig, "levels", axes[-1])

rate = {(r["precision"], int(r["order"]), r["kind"]): float(r["gdof_per_s"]) for r in read("boxstages") if r["dim"] == "3"}
kinds = {"fused": "F", "free": "C", "modal": "L"}
fig, axes = plt.subplots(2, 2, figsize=(10, 5.5), sharex=True)
for (upper, lower), precision in zip(zip(*axes), ("double", "single")):
    bars = {}
    for p in orders(seconds, "fgmres", "3", precision):
        measured = seconds["fgmres", "3", precision, p]
        for i, kind in enumerate(kinds):
            if (precision, p, kind) not in rate:  # a stage needs more shared memory than there is
                continue
            ratio = rate[precision, p, "modal"] / rate[precision, p, kind]
            bars[p + 0.27 * (i - 1)] = components({level: {k: s * (ratio if k == "smoothing" else 1.0) for k, s in part.items()} for level, part in measured.items()})
            lower.text(p + 0.27 * (i - 1), 101, kinds[kind], ha="center", fontsize=6)
    n = {p: unknowns["fgmres", "3", precision, p] for p in orders(seconds, "fgmres", "3", precision)}
    stack(upper, {x: {k: 1e9 * v / n[round(x)] for k, v in bar.items()} for x, bar in bars.items()}, order, colors, 0.25)
    stack(lower, {x: shares(bar) for x, bar in bars.items()}, order, colors, 0.25)
    upper.set_title(title("3", precision))
    lower.set_xlabel("order")
    lower.set_ylim(0, 107)
    lower.set_xticks(sorted(n))
axes[0][0].set_ylabel("ns per unknown and solve")
axes[1][0].set_ylabel("% of the solve")
save(fig, "stages", axes[0][-1], "F: fused, C: conflict-free, L: this library. F and C were not run in the cycle: the smoothing part that was measured with L, times the\n"
     "ratio of their sweep's time to L's on 10⁸ unknowns, on all levels; all other parts as measured")
