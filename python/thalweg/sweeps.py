"""Sweeps: a grid of runs and one table, on one machine or many."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from . import _native
from .errors import GridError
from .executors import ExecutorLike, Job, opened, played
from .scenarios import scenario as read
from .tables import Table

GridLike: TypeAlias = Mapping[str, Any] | str | os.PathLike[str]
"""A grid as a dict in the shape of its file, the path of the file, or its text."""

# Seconds between two points up to which rows survive the machine, not only the program.
SYNC_S = 1.0


class Dataset(Table):
    """The table of a sweep: ``job``, ``key``, ``scheme``, ``seed``, ``trace``, the axes, ``fingerprint``, ``status``,
    ``error``, and every figure of the summary by its key. pandas, polars, pyarrow and DuckDB take it without a copy."""

    def __init__(self, folder: str | os.PathLike[str], played: int = 0) -> None:
        native, failed = _native.results(os.fspath(folder))
        super().__init__(native)
        self.path = Path(folder) / "results.parquet"
        """The file of the table, whose bytes depend on the runs alone."""
        self.played = played
        """The number of runs that were played now, and not known before."""
        self.failed: list[dict[str, Any]] = [json.loads(row) for row in failed]
        """The runs that could not be played to their end, each with its ``error``."""

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"<Dataset of {len(self)} runs{failed}: {self.path}>"


def sweep(
    grid: GridLike,
    out: str | os.PathLike[str],
    *,
    executor: ExecutorLike = "processes",
    workers: int | None = None,
    resume: bool = True,
    retry_failed: bool = False,
    retries: int = 2,
    on_result: Callable[[dict[str, Any]], object] | None = None,
    progress: Callable[[int, int], object] | bool = True,
) -> Dataset:
    """Plays every combination of a grid (docs/sweeps.md) and writes one table into the folder ``out``, which has the
    same bytes wherever the runs were played. ``thalweg sweep`` goes on with the folder, and this with its.

    ``executor`` is ``"processes"``, ``"threads"``, ``"ray"`` (the cluster that RAY_ADDRESS names, or a new one on this
    machine) or any ``concurrent.futures.Executor``, with ``workers`` at a time: as many as there are cores if None.
    With ``resume``, runs that are in the folder are not played again, except one in a hundred, to see whether this
    build and machine still make the same; ``retry_failed`` plays those that failed. A run whose worker was killed is
    played again up to ``retries`` times. ``on_result`` is called with each row as it comes, ``progress`` with the runs
    played and the runs in all; ``True`` shows them and the time to go. After Ctrl-C the same call goes on.

    >>> import tempfile
    >>> grid = {
    ...     "scenario": thalweg.scenario("2Mbps/500kbps@2s", duration=4),
    ...     "axes": [{"field": "scheme", "values": ["gcc", "copa"]}, {"field": "seed", "values": "1..2"}],
    ... }
    >>> with tempfile.TemporaryDirectory() as out:
    ...     table = thalweg.sweep(grid, out, executor="threads", progress=False)
    >>> table.column("seed").tolist(), table.failed
    ([1, 2, 1, 2], [])
    """
    whole = _sweep_of(grid)
    rows = _native.Folder(whole, os.fspath(out), resume, retry_failed)
    show = progress if callable(progress) else Line() if progress else None

    def jobs(numbers: list[int]) -> list[Job]:
        return [Job(number, whole.job, whole.duration_s(number)) for number in numbers]

    left, to_check = rows.left, rows.to_check
    if left or to_check:
        with opened(executor, workers, retries) as place:
            for chunk in played(jobs(to_check), place, retries):
                for _, row in chunk:
                    rows.check(row)
            count, synced = 0, time.monotonic()
            try:
                for chunk in played(jobs(left), place, retries):
                    # All before the callbacks: an exception in one loses no row.
                    for _, row in chunk:
                        rows.append(row)
                    if time.monotonic() - synced >= SYNC_S:
                        rows.sync()
                        synced = time.monotonic()
                    for _, row in chunk:
                        count += 1
                        if on_result:
                            on_result(json.loads(row))
                        if show:
                            show(count, len(left))
            finally:
                rows.sync()
    rows.write(os.fspath(out))
    return Dataset(out, played=len(left))


def play(
    folder: str | os.PathLike[str],
    *,
    executor: ExecutorLike = "processes",
    workers: int | None = None,
    retries: int = 2,
    progress: Callable[[int, int], object] | bool = True,
) -> int:
    """Plays the runs that ``thalweg bench rmcat`` or ``thalweg reproduce`` left with ``--plan`` in the folder of
    ``--keep``, and returns their number; the same command without ``--plan`` makes its page of them. All else is as in
    :func:`sweep`."""
    plan = _native.Plan(os.fspath(folder))
    show = progress if callable(progress) else Line() if progress else None
    # By place: results come in any order, and each is kept by the key of its job.
    jobs = [Job(place, plan.job, plan.duration_s(place)) for place in range(len(plan))]
    if jobs:
        with opened(executor, workers, retries) as place:
            count = 0
            for chunk in played(jobs, place, retries):
                for number, result in chunk:
                    plan.put(number, result)
                    count += 1
                    if show:
                        show(count, len(jobs))
    return len(jobs)


def _sweep_of(grid: GridLike) -> _native.Sweep:
    if isinstance(grid, Mapping):
        whole = dict(grid)
        # A scenario of a name or a file, as everywhere else.
        if isinstance(whole.get("scenario"), (str, os.PathLike)):
            whole["scenario"] = read(whole["scenario"])
        return _native.Sweep.of(whole)
    if isinstance(grid, str) and "\n" in grid:
        return _native.Sweep.of(grid)
    try:
        return _native.Sweep.of(Path(grid).read_text())
    except GridError as error:
        raise GridError(f"{os.fspath(grid)}: {error}") from None


class Line:
    """A line of progress that replaces itself, with the time to go."""

    def __init__(self) -> None:
        self._begun = self._shown = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._shown < 0.1 and done < total:
            return
        self._shown = now
        to_go = (now - self._begun) * (total - done) / done
        full = 30 * done // total
        line = f"[{'#' * full}{'.' * (30 - full)}] {done} of {total} runs, {_time(to_go)} to go"
        print(f"\r{line:<72}", end="\n" if done == total else "", file=sys.stderr, flush=True)


def _time(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
