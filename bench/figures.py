#!/usr/bin/env python3
"""bench/figures.py [DATA] [FIGURES]: draws the CSV files of bench/lorbench-sweep (default docs/data to docs/figures)."""
import csv, os, sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

data, figures = (sys.argv[1:] + ["docs/data", "docs/figures"][len(sys.argv) - 1:])[:2]
os.makedirs(figures, exist_ok=True)
plt.rcParams.update({"axes.grid": True, "grid.alpha": 0.3, "font.size": 9, "figure.constrained_layout.use": True})


def read(name):
    with open(os.path.join(data, name + ".csv")) as f:
        return [{k: float(v or "nan") for k, v in row.items() if k != "fe"} for row in csv.DictReader(f)]


def save(fig, name):
    fig.savefig(os.path.join(figures, name + ".png"), dpi=110)
    plt.close(fig)


def mdofs(row, part):
    return 1e-6 * row["unknowns"] / row[part]


solve, kernels, large, assembled = read("solve"), read("kernels"), read("large"), read("assembled")

# Where the time goes, p = 6
parts = [("op_setup", "operator set-up"), ("lor_symbolic", "LOR pattern"), ("lor_numeric", "LOR assembly"), ("amg_setup", "AMG set-up"), ("cg", "CG")]
fig, axes = plt.subplots(1, 2, figsize=(9, 3))
for ax, row in zip(axes, sorted(large, key=lambda r: r["dim"])):
    times = [row[k] for k, _ in parts]
    ax.barh([n for _, n in parts], times, color="C0")
    for i, t in enumerate(times):
        ax.text(t, i, " %.2f s" % t, va="center")
    ax.set_xlim(0, 1.25 * max(times))
    ax.invert_yaxis()
    ax.set_title("%dD, p = 6, %.1f million unknowns, %d iterations" % (row["dim"], 1e-6 * row["unknowns"], row["iterations"]))
    ax.set_xlabel("seconds on one core")
save(fig, "components")


def throughput(name, columns):
    fig, axes = plt.subplots(1, len(columns), figsize=(4.2 * len(columns), 3.4))
    for ax, (part, title) in zip(axes, columns):
        for p in range(2, 9):
            rows = sorted((r for r in solve if r["dim"] == 3 and r["order"] == p), key=lambda r: r["unknowns"])
            ax.loglog([r["unknowns"] for r in rows], [mdofs(r, part) for r in rows], "o-", ms=3, label="p = %d" % p)
        ax.set_title(title)
        ax.set_xlabel("unknowns (3D)")
    axes[0].set_ylabel("million unknowns per second")
    axes[-1].legend(fontsize=7)
    save(fig, name)


throughput("operator", [("op_setup", "operator set-up"), ("apply", "operator apply, Q = p + 2")])
throughput("lor", [("lor_symbolic", "LOR pattern"), ("lor_numeric", "LOR assembly"), ("amg_setup", "AMG set-up")])
throughput("vcycle", [("vcycle", "one BoomerAMG V-cycle"), ("cg", "whole CG solve")])

# Iterations
fig, axes = plt.subplots(1, 2, figsize=(8, 3))
for ax, dim in zip(axes, (2, 3)):
    for p in range(2, 9):
        rows = sorted((r for r in solve if r["dim"] == dim and r["order"] == p), key=lambda r: r["unknowns"])
        ax.semilogx([r["unknowns"] for r in rows], [r["iterations"] for r in rows], "o-", ms=3, label="p = %d" % p)
    ax.set_ylim(0)
    ax.set_title("%dD" % dim)
    ax.set_xlabel("unknowns")
axes[0].set_ylabel("CG iterations to 1e-12")
axes[1].legend(fontsize=7, ncol=2)
save(fig, "iterations")

# Assembled against matrix-free
fig, axes = plt.subplots(1, 3, figsize=(11, 3.2))
for kind, label in ((1, "assembled AIJ, BoomerAMG"), (0, "matrix-free, LOR")):
    rows = [r for r in assembled if r["assembled"] == kind]
    p = [r["order"] for r in rows]
    axes[0].semilogy(p, [mdofs(r, "apply") for r in rows], "o-", label=label)
    axes[1].semilogy(p, [r["bytes_per_unknown"] for r in rows], "o-", label=label)
    axes[2].semilogy(p, [1e6 * (r["amg_setup"] + r["lor_symbolic"] + r["lor_numeric"] + r["cg"]) / r["unknowns"] for r in rows], "o-", label=label)
for ax, title in zip(axes, ("matrix times vector, million unknowns/s", "memory, bytes per unknown", "set-up and solve, microseconds per unknown")):
    ax.set_title(title)
    ax.set_xlabel("order")
axes[0].legend(fontsize=7)
save(fig, "assembled")
