"""Draws the training curve, with what schemes are paid beside it: `python curve.py CURVE.csv PICTURE.png`."""

from __future__ import annotations

import csv
import pathlib
import sys

import matplotlib
import numpy

matplotlib.use("agg")
from matplotlib import pyplot
from train import WEIGHTS, links

import thalweg
from thalweg.offline import rows

# Rollouts in a point of the line: links are drawn, and some are worth less than others.
TOGETHER = 16


def paid(scheme: str) -> float:
    """The mean reward of a scheme over the links of training, 30 s of each."""
    means = []
    for link in links():
        given = {"traces": {"given": link}} if isinstance(link, thalweg.Trace) else {}
        scenario = thalweg.scenario(link="given" if given else str(link), duration="30s")
        each = [
            rows(scenario, scheme, reward={**dict.fromkeys(WEIGHTS, 0.0), name: 1.0}, **given).rewards
            for name in WEIGHTS
        ]
        rate, freeze, latency = each
        # As in training: above a second its logarithm (shape.Shaped).
        cost = numpy.minimum(-latency, 1) + numpy.log(numpy.maximum(-latency, 1))
        means.append((WEIGHTS["rate"] * rate + WEIGHTS["freeze"] * freeze - WEIGHTS["latency"] * cost).mean())
    return float(numpy.mean(means))


def main() -> None:
    curve, picture = map(pathlib.Path, sys.argv[1:3])
    with curve.open() as file:
        points = numpy.array([[float(row[key]) for key in ("steps", "reward")] for row in csv.DictReader(file)])
    whole = len(points) // TOGETHER * TOGETHER
    steps, rewards = points[:whole].reshape(-1, TOGETHER, 2).mean(axis=1).T
    figure, axes = pyplot.subplots(figsize=(8, 3.5), layout="constrained")
    axes.plot(points[:, 0] / 1e6, points[:, 1], color="0.85", linewidth=0.7)
    axes.plot(steps / 1e6, rewards, label="the policy, as it explores")
    for scheme, style in (("gcc", "--"), ("thalweg", ":")):
        axes.axhline(paid(scheme), linestyle=style, color="0.3", label=scheme)
    low = numpy.quantile(points[:, 1], 0.02)
    axes.set(xlabel="steps of 60 ms, in millions", ylabel="mean reward of a step", ylim=(low, None))
    axes.legend()
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main()
