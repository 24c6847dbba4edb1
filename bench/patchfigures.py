#!/usr/bin/env python3
"""bench/patchfigures.py [CSV] [FIGURES]: draws what bench/patchgpubench prints (default docs/data/gpupatch.csv to docs/figures); docs/tables.py makes the tables."""
import csv, os, sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

data, figures = (sys.argv[1:] + ["docs/data/gpupatch.csv", "docs/figures"][len(sys.argv) - 1:])[:2]
os.makedirs(figures, exist_ok=True)
plt.rcParams.update({"axes.grid": True, "grid.alpha": 0.3, "font.size": 9, "figure.constrained_layout.use": True})
kinds = {"global": "global residual", "separate": "separate local residual", "fused": "fused", "linear": "fused, linear indices", "free": "fused, conflict-free", "separate-free": "separate, conflict-free", "boundary": "fused, boundary values", "modal": "this library"}
with open(data) as f:
    rows = [r for r in csv.DictReader(line for line in f if not line.startswith("#"))]

for name, shown in (("patch-stages", ("global", "separate", "fused")), ("patch-layouts", ("fused", "linear", "free", "modal")), ("patch-separate", ("separate-free", "free")), ("patch-boundary", ("free", "boundary", "modal"))):
    fig, axes = plt.subplots(1, 4, figsize=(12, 3))
    for ax, (dim, precision) in zip(axes, ((d, p) for d in "23" for p in ("double", "single"))):
        for i, kind in enumerate(shown):
            points = [(int(r["order"]), float(r["gdof_per_s"])) for r in rows if (r["dim"], r["precision"], r["kind"]) == (dim, precision, kind)]
            ax.bar([p + (i - (len(shown) - 1) / 2) * 0.8 / len(shown) for p, _ in points], [v for _, v in points], 0.8 / len(shown), label=kinds[kind])
        ax.set_title("%sD, %s precision" % (dim, precision))
        ax.set_xlabel("order")
    axes[0].set_ylabel("10⁹ unknowns per second and sweep")
    axes[0].legend(fontsize=7)
    fig.savefig(os.path.join(figures, name + ".png"), dpi=90)
    plt.close(fig)
