"""Charts over time: rate against capacity, latency, quality."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy

from .tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array: TypeAlias = numpy.ndarray[Any, Any]

# Okabe and Ito's palette, which colour-blind readers tell apart; without black and yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
CAPACITY = "#d9dde1"
# Series have ten values a second; a line of half seconds is readable over a minute.
HALF_SECOND = 5


class Run(Protocol):
    """A run, as far as charts show it."""

    @property
    def summary(self) -> dict[str, Any]: ...
    @property
    def series(self) -> Table: ...
    @property
    def frames(self) -> Table: ...
    @property
    def scheme(self) -> str: ...
    @property
    def seed(self) -> int: ...


def figure(runs: Sequence[Run]) -> Figure:
    """The charts of these runs over one link, one below the other."""
    import matplotlib.pyplot as pyplot

    made, axes = pyplot.subplots(3, 1, sharex=True, figsize=(9, 7.5), layout="constrained")
    rate, latency, quality = axes
    _capacity(rate, runs[0])
    for place, run in enumerate(runs):
        style = ("-", "--", ":")[place // len(COLOURS) % 3]
        look: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)], "label": run.scheme, "linestyle": style}
        series = run.series
        rate.plot(_means(series.column("time_s")), _means(series.column("sent_mbps")), linewidth=1.4, **look)
        latency.plot(*_latency(run.frames, by_picture=len(runs) == 1), linewidth=1 if len(runs) == 1 else 1.4, **look)
        quality.plot(*_quality(run.frames), linewidth=1.4, **look)
    rate.set_ylabel("sent, Mbit/s")
    rate.set_ylim(bottom=0)
    latency.set_ylabel("latency, ms")
    latency.set_yscale("log")
    latency.yaxis.set_major_formatter("{x:g}")
    latency.yaxis.set_minor_formatter(_two_and_five)
    quality.set_ylabel("PSNR, dB")
    quality.set_xlabel("time, s")
    quality.set_xlim(0, runs[0].summary["duration_s"])
    if not any(len(line.get_xdata()) for line in quality.lines):
        quality.text(0.5, 0.5, "not measured in these runs", transform=quality.transAxes, ha="center", va="center")
    rate.set_title(f"{runs[0].summary['trace']}, seed {runs[0].seed}", loc="left", fontsize="medium")
    made.legend(
        *rate.get_legend_handles_labels(), loc="outside upper center", ncols=min(5, len(runs) + 1), frameon=False
    )
    for each in axes:
        each.grid(alpha=0.3, linewidth=0.6)
        each.spines[["top", "right"]].set_visible(False)
    return made


def _two_and_five(value: float, _: object) -> str:
    """The labels between powers of ten."""
    text = f"{value:g}"
    return text if text[0] in "25" else ""


def _capacity(axes: Axes, run: Run) -> None:
    # A path without a bottleneck has none.
    if run.summary["utilization"] is not None:
        times, capacity = (_means(run.series.column(name)) for name in ("time_s", "capacity_mbps"))
        axes.fill_between(times, capacity, color=CAPACITY, linewidth=0, label="capacity")


def _means(values: Array) -> Array:
    """Means of half seconds."""
    whole = len(values) // HALF_SECOND * HALF_SECOND
    return numpy.asarray(values[:whole].reshape(-1, HALF_SECOND).mean(axis=1))


def _latency(frames: Table, by_picture: bool) -> tuple[Array, Array]:
    """The latency of every picture in ms, or its means over half seconds; one that was not shown counts until the
    next that was, as in the summary."""
    captured, shown = frames.column("captured_s"), frames.column("displayed_s").copy()
    following = numpy.inf
    for place in range(len(shown) - 1, -1, -1):
        following = shown[place] if numpy.isfinite(shown[place]) else following
        shown[place] = following
    known = numpy.isfinite(shown)
    captured, latency = captured[known], (shown[known] - captured[known]) * 1e3
    return (captured, latency) if by_picture else _by_time(captured, latency, 0.5)


def _quality(frames: Table) -> tuple[Array, Array]:
    """The mean PSNR of the frames shown in each second."""
    shown, quality = frames.column("displayed_s"), frames.column("psnr_db")
    known = numpy.isfinite(shown) & numpy.isfinite(quality)
    return _by_time(shown[known], quality[known], 1.0)


def _by_time(times: Array, values: Array, width: float) -> tuple[Array, Array]:
    """Means over times of this width, where there are values."""
    bins = (times / width).astype(int)
    counts, sums = numpy.bincount(bins), numpy.bincount(bins, weights=values)
    filled = numpy.flatnonzero(counts)
    return (filled + 0.5) * width, sums[filled] / counts[filled]
