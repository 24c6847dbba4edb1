#!/usr/bin/env python3
"""bench/vectorfigures.py [DATA] [FIGURES] [PREFIX]: draws vectorsetup.csv and vectorpc.csv, made by bench/lorbench -fe h1, nd and rt (default
docs/data to docs/figures; the commands are in docs/performance/maxwell.md), or on a device by bench/vectorbench-gpu: docs/data/gpu docs/figures gpu-"""
import csv, os, sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

data, figures, prefix = (sys.argv[1:] + ["docs/data", "docs/figures", ""][len(sys.argv) - 1:])[:3]
os.makedirs(figures, exist_ok=True)
plt.rcParams.update({"axes.grid": True, "grid.alpha": 0.3, "font.size": 9, "figure.constrained_layout.use": True})


def read(name):
    with open(os.path.join(data, name + ".csv")) as f:
        return [{k: v if k == "fe" else float(v or "nan") for k, v in row.items()} for row in csv.DictReader(f)]


def draw(ax, rows, fe, part, title):
    for p in sorted({r["order"] for r in rows}):
        sizes = {r["unknowns"]: 1e-6 * r["unknowns"] / r[part] for r in rows if r["fe"] == fe and r["order"] == p and r[part] > 0}
        ax.semilogx(sorted(sizes), [sizes[n] for n in sorted(sizes)], "o-", ms=3, label="p = %d" % p)
    ax.set_ylim(0, 1.1 * ax.dataLim.y1)
    ax.set_title(title)
    ax.set_xlabel("unknowns")


def save(fig, name):
    fig.savefig(os.path.join(figures, prefix + name + ".png"), dpi=110)
    plt.close(fig)


# One application of the preconditioner
rows = read("vectorpc")
fig, axes = plt.subplots(1, 3, figsize=(11, 3.2))
for ax, (fe, title) in zip(axes, (("h1", "H1: one BoomerAMG V-cycle"), ("nd", "H(curl): AMS, once"), ("rt", "H(div): ADS, once"))):
    draw(ax, rows, fe, "vcycle", title)
axes[0].set_ylabel("million unknowns per second")
axes[-1].legend(fontsize=7)
save(fig, "vector-preconditioner")

# What AMS and ADS are made of
rows = read("vectorsetup")
fig, axes = plt.subplots(2, 3, figsize=(11, 6))
last = ("lor", "LOR assembly, first time") if prefix else ("coordinates", "vertices")  # a device has interpolations in place of vertices
columns = ((("nd", "lor_refill", "H(curl): LOR assembly"), ("nd", "gradient", "H(curl): gradient"), ("nd", last[0], "H(curl): " + last[1])),
           (("rt", "lor_refill", "H(div): LOR assembly"), ("rt", "curl", "H(div): curl"), ("rt", last[0], "H(div): " + last[1])))
for line, entries in zip(axes, columns):
    for ax, (fe, part, title) in zip(line, entries):
        draw(ax, rows, fe, part, title)
    line[0].set_ylabel("million unknowns per second")
axes[0][-1].legend(fontsize=7)
save(fig, "vector-setup")
