#!/usr/bin/env python3
"""Fits how likely a page answers (the evidence of crates/search/src/calibration.rs) to what a build found with a model.

    python3 bench/judge.py NAME=LOCI --rows FOLDER      LOCI: a script that sets LOCI_CONFIG, for another model
    V/bin/python bench/fit_judge.py FOLDER/NAME.json    V: a virtual environment with numpy

A logistic regression; persons and conversations are left out as a whole for the figures. In each set, questions with an answer weigh as much
as all others together, and every set weighs the same. Prints the weights in the order of the evidence, and for the present and the fitted
ones the loss, and which share of the questions without an answer is below the limit that loses 5 % of the answered ones.
"""

import json
import sys
from pathlib import Path

import numpy as np

NAMES = ("cosine", "best_score", "log_memories", "log_terms", "foreign", "mark_lack", "id_lack", "unknown")
RIDGE, STEPS, LOST = 1.0, 50, 0.05


def matrix(rows):
    return np.array([[r["evidence"].get(name, 0.0) for name in NAMES] for r in rows])


def weights(rows, right):
    """The weight of each row."""
    sets = np.array([r["set"] for r in rows])
    found = np.zeros(len(rows))
    for name in set(sets):
        for side in (True, False):
            of = (sets == name) & (right == side)
            found[of] = 1 / max(1, of.sum())
    return found * len(rows) / found.sum()


def fit(x, y, weight):
    """Returns the weights and the constant; of values scaled alike, the weights are kept small."""
    mean, spread = x.mean(0), x.std(0) + 1e-9
    scaled = np.c_[(x - mean) / spread, np.ones(len(x))]
    ridge = np.diag([RIDGE] * x.shape[1] + [0.0])
    found = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-scaled @ found))
        slope = scaled.T @ (weight * (y - p)) - ridge @ found
        curve = (scaled * (weight * p * (1 - p))[:, None]).T @ scaled + ridge
        found += np.linalg.solve(curve, slope)
    own = found[:-1] / spread
    return own, found[-1] - own @ mean


def figures(label, rows, logit, right, weight):
    p = 1 / (1 + np.exp(-logit))
    loss = -(weight * np.log(np.where(right, p, 1 - p).clip(1e-9))).sum() / weight.sum()
    parts = []
    for name in sorted({r["set"] for r in rows}):
        of = np.array([r["set"] == name for r in rows])
        without = of & np.array([r["class"] != "own" for r in rows])
        if without.any() and (of & right).any():
            limit = np.sort(logit[of & right])[int(LOST * (of & right).sum())]
            parts.append(f"{name} {100 * (logit[without] < limit).mean():.1f}")
    print(f"{label}: loss {loss:.4f}; silent at 5 % lost: {', '.join(parts)}")


def main():
    found = json.loads(Path(sys.argv[1]).read_text())
    # Of a page that was withheld it is not known whether it answered.
    rows = [r for of_set in found.values() for r in of_set if r["evidence"] and (r["class"] != "own" or r["scores"])]
    x, right = matrix(rows), np.array([r["class"] == "own" and any(r["is_right"]) for r in rows])
    weight, folds = weights(rows, right), np.array([r["fold"] for r in rows])
    present = np.array([r["fit"] or 0.0 for r in rows]).clip(1e-6, 1 - 1e-6)
    figures("present", rows, np.log(present / (1 - present)), right, weight)
    left_out = np.zeros(len(rows))
    for fold in set(folds):
        of = folds == fold
        own, constant = fit(x[~of], right[~of], weight[~of])
        left_out[of] = x[of] @ own + constant
    figures("fitted", rows, left_out, right, weight)
    own, constant = fit(x, right, weight)
    print("weights", ", ".join(f"{value:.4f}" for value in own), "constant", f"{constant:.4f}")


if __name__ == "__main__":
    main()
