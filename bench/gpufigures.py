#!/usr/bin/env python3
"""bench/gpufigures.py [DATA] [FIGURES]: draws the CSV files of bench/lorbench-gpu (default docs/data/gpu to docs/figures)."""
import csv, os, sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

data, figures = (sys.argv[1:] + ["docs/data/gpu", "docs/figures"][len(sys.argv) - 1:])[:2]
os.makedirs(figures, exist_ok=True)
plt.rcParams.update({"axes.grid": True, "grid.alpha": 0.3, "font.size": 9, "figure.constrained_layout.use": True})


def read(name):
    with open(os.path.join(data, name + ".csv")) as f:
        return [{k: float(v or "nan") for k, v in row.items() if k != "fe"} for row in csv.DictReader(f)]


def save(fig, name):
    fig.savefig(os.path.join(figures, name + ".png"), dpi=110)
    plt.close(fig)


solve, sizes = read("solve"), read("sizes")
fig, axes = plt.subplots(2, 4, figsize=(14, 6))
columns = [("op_setup", "operator set-up"), ("apply", "operator apply"), ("lor_vertex", "LOR matrix: vertex data"), ("lor_symbolic", "LOR matrix: pattern"),
           ("lor_numeric", "LOR matrix: values"), ("amg_setup", "AMG set-up"), ("vcycle", "V-cycle"), ("total", "all of it: set-up and CG")]
for ax, (part, title) in zip(axes.flat, columns):
    for p in sorted({r["order"] for r in sizes}):
        rows = sorted((r for r in sizes + solve if r["dim"] == 3 and r["order"] == p), key=lambda r: r["unknowns"])
        ax.loglog([r["unknowns"] for r in rows], [1e-9 * r["unknowns"] / r[part] for r in rows], "o-", ms=3, label="p = %d" % p)
    ax.set_title(title)
for ax in axes[1]:
    ax.set_xlabel("unknowns (3D)")
for ax in axes[:, 0]:
    ax.set_ylabel("10⁹ unknowns per second")
axes[0, 0].legend(fontsize=7)
save(fig, "gpu-throughput")

parts = [("op_setup", "operator set-up"), ("lor", "LOR matrix"), ("amg_setup", "AMG set-up"), ("cg", "CG")]
rows = sorted((r for r in solve if r["unknowns"] > 5e6), key=lambda r: (r["dim"], r["order"]))
fig, ax = plt.subplots(figsize=(8, 3.2))
left = [0.0] * len(rows)
names = ["%dD p = %d" % (r["dim"], r["order"]) for r in rows]
for part, title in parts:
    ax.barh(names, [r[part] for r in rows], left=left, label=title)
    left = [l + r[part] for l, r in zip(left, rows)]
ax.invert_yaxis()
ax.set_xlabel("seconds")
ax.legend(fontsize=7)
save(fig, "gpu-components")
