"""Playing runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from numpy.typing import ArrayLike

from . import _native
from .controller import Controller, sender_of
from .errors import RunError
from .results import Comparison, Run
from .scenarios import scenario as read
from .traces import Trace, links_of

ScenarioLike: TypeAlias = Mapping[str, Any] | str | os.PathLike[str] | Trace
"""A scenario as a dict, the path of its file, the name of a link, or a link."""
SchemeLike: TypeAlias = str | Mapping[str, Any] | Callable[[], Controller]
"""A scheme by name, as a dict, or a class of controllers."""
Keep: TypeAlias = Literal["all", "summary", "none"]
Progress: TypeAlias = Callable[[float, float], object] | bool
Traces: TypeAlias = Mapping[str, Trace | ArrayLike | str | os.PathLike[str]]

# The name of the link of a scenario that is one.
GIVEN = "trace"


def run(
    scenario: ScenarioLike,
    scheme: SchemeLike,
    *,
    seed: int | None = None,
    keep: Keep = "all",
    progress: Progress = False,
    traces: Traces | None = None,
    **changes: Any,
) -> Run:
    """Plays one scheme over one scenario, in virtual time. The same arguments give the same events.

    ``scheme`` is a name of :func:`thalweg.schemes`, a dict of :func:`thalweg.scheme`, or a subclass of
    :class:`thalweg.Controller`. ``seed`` replaces the scenario's. ``keep="summary"`` keeps no events (56 bytes each),
    ``"none"`` nothing but their fingerprint. ``progress`` is called with the seconds played and the seconds in all,
    some twenty times a second; ``True`` shows them. ``traces`` are links by the names that the scenario gives them: a
    :class:`thalweg.Trace`, a file, or rates in Mbit/s by the second. ``changes`` replace fields of the scenario, as in
    :func:`thalweg.scenario`: ``duration=5``. Other threads go on meanwhile, and Ctrl-C ends it.

    >>> thalweg.run("lte-driving", "gcc", seed=2).fingerprint == thalweg.run("lte-driving", "gcc", seed=2).fingerprint
    True
    """
    whole, links = prepared(scenario, traces, changes)
    return _play(whole, scheme, links, seed, keep, _shown(progress), None)


def compare(
    scenario: ScenarioLike,
    schemes: Sequence[SchemeLike],
    *,
    seeds: Iterable[int] | None = None,
    workers: int | None = None,
    keep: Keep = "summary",
    progress: Progress = False,
    traces: Traces | None = None,
    check: bool = False,
    **changes: Any,
) -> Comparison:
    """Plays several schemes over one scenario, on ``workers`` threads: as many as there are cores if None.

    Controllers in Python share one core, as all Python does. ``seeds`` are those of the runs of each scheme; the
    scenario's own if None. ``progress`` is called with the runs played and the runs in all. ``check`` plays each twice,
    and raises :class:`thalweg.RunError` where two differ: a controller that reads a clock is found by it. ``changes``
    replace fields of the scenario, as in :func:`thalweg.scenario`.

    >>> both = thalweg.compare("2Mbps/500kbps@10s", ["gcc", "vidaptive"])
    >>> [one.scheme for one in both]
    ['gcc', 'vidaptive']
    """
    if isinstance(schemes, (str, Mapping)) or callable(schemes):
        raise TypeError(f"schemes is {schemes!r}: must be a list of schemes")
    whole, links = prepared(scenario, traces, changes)
    of_each = [None] if seeds is None else [int(seed) for seed in seeds]
    jobs = [(scheme, seed) for scheme in schemes for seed in of_each]
    if not jobs:
        raise ValueError("there is nothing to play: name at least one scheme, and one seed")
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}: must be 1 or more")
    shown, stop = _shown(progress), _native.Stop()

    def play(job: tuple[SchemeLike, int | None]) -> Run:
        scheme, seed = job
        played = _play(whole, scheme, links, seed, keep, None, stop)
        if check and (again := _play(whole, scheme, links, seed, "none", None, stop)).fingerprint != played.fingerprint:
            raise RunError(
                f"{played.scheme} was played twice with seed {played.seed}, and the events differ "
                f"({played.fingerprint}, {again.fingerprint}): its controller reads a clock, or random numbers other "
                "than its own (self.random)"
            )
        return played

    with ThreadPoolExecutor(min(workers or os.cpu_count() or 1, len(jobs)), "thalweg") as pool:
        futures = [pool.submit(play, job) for job in jobs]
        try:
            runs = []
            for future in futures:
                runs.append(future.result())
                if shown:
                    shown(len(runs), len(jobs))
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return Comparison(runs)


def prepared(
    scenario: ScenarioLike, traces: Traces | None, changes: Mapping[str, Any] = MappingProxyType({})
) -> tuple[dict[str, Any], _native.Links]:
    """A scenario with these changes, complete, and the links that its names stand for."""
    if isinstance(scenario, Trace):
        return read(link=GIVEN, **{"duration": 60, **changes}), links_of({**(traces or {}), GIVEN: scenario})
    return read(scenario, **changes), links_of(traces or {})


def _play(
    scenario: dict[str, Any],
    scheme: SchemeLike,
    links: _native.Links,
    seed: int | None,
    keep: Keep,
    progress: Callable[[float, float], object] | None,
    stop: _native.Stop | None,
) -> Run:
    sender = sender_for(scheme, int(scenario["seed"]) if seed is None else seed)
    return Run(_native.run(scenario, sender, links, seed, keep, progress, stop), keep)


def sender_for(scheme: SchemeLike, seed: int) -> _native.Sender:
    """The sender of one run, whose random numbers are those of this seed."""
    if isinstance(scheme, str):
        return _native.Sender.named(scheme)
    if isinstance(scheme, Mapping):
        return _native.Sender.of(dict(scheme))
    if callable(scheme):
        return sender_of(scheme, seed)
    raise TypeError(f"the scheme is {scheme!r}: must be a name, a dict, or a subclass of thalweg.Controller")


def _shown(progress: Progress) -> Callable[[float, float], object] | None:
    if callable(progress):
        return progress
    return _bar() if progress else None


def _bar() -> Callable[[float, float], None]:
    """A line that replaces itself, in terminals and notebooks."""
    last = ""

    def show(done: float, total: float) -> None:
        nonlocal last
        full = int(30 * done / total)
        line = f"[{'#' * full}{'.' * (30 - full)}] {int(done)} of {int(total)}"
        if line != last:
            last = line
            print(f"\r{line}", end="\n" if done >= total else "", file=sys.stderr, flush=True)

    return show
