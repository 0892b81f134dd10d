"""Results of runs: figures, tables, files."""

from __future__ import annotations

import functools
import html
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from . import _native
from .tables import Table

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

# Figures of a summary as a row shows them: heading, key, factor, decimals. Headings are those of `thalweg compare`.
SHOWN = (
    ("video Mbps", "video_bitrate_bps", 1e-6, 2),
    ("utilisation %", "utilization", 100, 0),
    ("PSNR dB", "psnr_db", 1, 1),
    ("SSIM dB", "ssim_db", 1, 1),
    ("screen SSIM dB", "screen_ssim_db", 1, 1),
    ("latency p50 ms", "latency_p50_ms", 1, 0),
    ("latency p95 ms", "latency_p95_ms", 1, 0),
    ("fps", "frame_rate_fps", 1, 1),
    ("stalls %", "stall_ratio", 100, 2),
)


class Variables(Mapping[str, tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]]):
    """The variables of controller and frame policy by name, each as times in seconds and values: ten a second."""

    def __init__(self, native: _native.Outcome) -> None:
        self._native = native

    def __getitem__(self, name: str) -> tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]:
        times, values = self._native.variable(name)
        return numpy.asarray(times), numpy.asarray(values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.variable_names)

    def __len__(self) -> int:
        return len(self._native.variable_names)

    def __repr__(self) -> str:
        return f"<Variables: {', '.join(self)}>"


class Outcome:
    """Figures and series of one sender."""

    def __init__(self, native: _native.Outcome) -> None:
        self._native = native

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        """The figures, with the keys of ``summary.json`` (docs/reference/summary.md)."""
        summary: dict[str, Any] = json.loads(self._native.summary())
        return summary

    @functools.cached_property
    def series(self) -> Table:
        """Rates over time in Mbit/s, a row for each tenth of a second: the link's capacity, what of it was available to
        this flow, what was sent, of it video and padding, and what was delivered."""
        return Table(self._native.series())

    @functools.cached_property
    def frames(self) -> Table:
        """Every captured picture: when it was captured, queued, sent and shown, its size and its quality."""
        return Table(self._native.frames())

    @property
    def variables(self) -> Variables:
        """Variables of the controller and the frame policy: ``variables["srtt_ms"]`` is times and values."""
        return Variables(self._native)

    @property
    def scheme(self) -> str:
        """The scheme's name."""
        return str(self.summary["scheme"])

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.summary["seed"])

    @property
    def fingerprint(self) -> str:
        """The hash of all events: equal runs have equal ones."""
        return str(self.summary["events_fingerprint"])

    def plot(self) -> Figure:
        """Rate against capacity, latency and quality over time; needs matplotlib (``pip install thalweg[plots]``)."""
        from .plots import figure

        return figure([self])

    def __repr__(self) -> str:
        shown = ", ".join(f"{heading} {cell}" for heading, cell in zip(*_row(self.summary), strict=True) if cell)
        return f"<{type(self).__name__} of {self.scheme} over {self.summary['trace']}: {shown}>"

    def _repr_html_(self) -> str:
        return _html([self])


class Run(Outcome):
    """A run of one scheme over one scenario."""

    def __init__(self, native: _native.Run, keep: str) -> None:
        self._run, self._keep = native, keep
        if keep != "none":
            super().__init__(native.outcome())

    def __getattr__(self, name: str) -> Any:
        if name == "_native":
            self._need("summary", "what a run has besides its fingerprint")
        raise AttributeError(name)

    @property
    def scheme(self) -> str:
        """The scheme's name."""
        return self._run.scheme

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self._run.seed

    @property
    def fingerprint(self) -> str:
        """The hash of all events: equal runs have equal ones."""
        return self._run.fingerprint

    @functools.cached_property
    def events(self) -> Table:
        """Every event, with the columns of ``events.parquet`` (docs/reference/events.md); made when first used."""
        self._need("all", "events")
        return Table(self._run.events())

    @functools.cached_property
    def scenario(self) -> dict[str, Any]:
        """The scenario as it was played, with its seed."""
        scenario: dict[str, Any] = json.loads(self._run.scenario())
        return scenario

    @functools.cached_property
    def competitors(self) -> list[Outcome]:
        """The competing senders, in the scenario's order."""
        return [Outcome(native) for native in self._run.competitors()]

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes ``run.toml``, copies of the traces, ``events.parquet`` and ``summary.json``: what ``thalweg run``,
        ``thalweg explain`` and ``thalweg report`` read."""
        self._need("all", "write()")
        self._run.write(os.fspath(folder))

    def __repr__(self) -> str:
        return f"<Run of {self.scheme}: {self.fingerprint}>" if self._keep == "none" else super().__repr__()

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>" if self._keep == "none" else super()._repr_html_()

    def _need(self, keep: str, what: str) -> None:
        if self._keep != keep:
            raise ValueError(
                f"{what} needs more than was kept: play the run with keep='{keep}' (it was '{self._keep}')"
            )


class Comparison(Sequence[Run]):
    """Runs of several schemes over one scenario, in the order of the schemes, each with its seeds."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = tuple(runs)

    def __getitem__(self, place: Any) -> Any:
        return self._runs[place]

    def __len__(self) -> int:
        return len(self._runs)

    def table(self) -> str:
        """The main figures as text: a row for each run, and of several seeds the mean of each scheme before its own,
        with half the 95 % interval."""
        rows = _rows(self._runs)
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        aligned = (
            [
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            for row in rows
        )
        return "\n".join("  ".join(row).rstrip() for row in aligned)

    def to_pandas(self) -> pandas.DataFrame:
        """All figures, a row for each run; needs pandas."""
        import pandas

        return pandas.DataFrame([run.summary for run in self])

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the report that the command line writes: one HTML file with tables and charts, nothing fetched."""
        schemes = list(dict.fromkeys(run.scheme for run in self))
        title = f"{len(schemes)} schemes over {self[0].summary['trace']}"
        _native.report([run._run for run in self], title, os.fspath(path))

    def plot(self, seed: int | None = None) -> Figure:
        """Rate against capacity, latency and quality over time, a line for each scheme; needs matplotlib. Of one seed,
        the first if None, because links may differ from seed to seed."""
        from .plots import figure

        seed = self[0].seed if seed is None else seed
        runs = [run for run in self if run.seed == seed]
        if not runs:
            raise ValueError(f"seed is {seed}: there are runs of {sorted({run.seed for run in self})}")
        return figure(runs)

    def __repr__(self) -> str:
        return self.table() if self._has_figures() else "\n".join(map(repr, self))

    def _repr_html_(self) -> str:
        return _html(self._runs) if self._has_figures() else "".join(run._repr_html_() for run in self)

    def _has_figures(self) -> bool:
        return all(run._keep != "none" for run in self)


def _row(summary: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    cells = (
        "" if summary[key] is None else f"{summary[key] * factor:.{decimals}f}" for _, key, factor, decimals in SHOWN
    )
    return [heading for heading, *_ in SHOWN], list(cells)


def _means(summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    """The cells of a mean: values with half their interval of 95 %."""
    cells = []
    for _, key, factor, decimals in SHOWN:
        found = _native.estimate([summary[key] * factor for summary in summaries if summary[key] is not None])
        mean, half = found or (None, None)
        cell = "" if mean is None else f"{mean:.{decimals}f}"
        cells.append(cell if half is None else f"{cell}±{half:.{decimals}f}")
    return cells


def _rows(runs: Sequence[Outcome]) -> list[list[str]]:
    """The heading, and a row for each run and each mean; columns that no run fills are left out."""
    table = [["scheme", *(heading for heading, *_ in SHOWN)]]
    several = len({run.seed for run in runs}) > 1
    for scheme in dict.fromkeys(run.scheme for run in runs):
        its = [run for run in runs if run.scheme == scheme]
        if several:
            table.append([f"{scheme}, mean of {len(its)}", *_means([run.summary for run in its])])
        table += [[f"{scheme}, seed {run.seed}" if several else scheme, *_row(run.summary)[1]] for run in its]
    filled = [column for column in range(len(table[0])) if column == 0 or any(row[column] for row in table[1:])]
    return [[row[column] for column in filled] for row in table]


def _html(runs: Sequence[Outcome]) -> str:
    heading, *rows = _rows(runs)
    summary = runs[0].summary

    def line(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    about = f"{summary['trace']}, {summary['duration_s']:g} s, {summary['video']}, {summary['codec']}"
    head, body = line("th", heading), "".join(line("td", row) for row in rows)
    return f"<table><caption>{html.escape(about)}</caption><thead>{head}</thead><tbody>{body}</tbody></table>"
