"""Links as traces of delivery opportunities."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy
from numpy.typing import ArrayLike

from . import _native
from .errors import TraceError


class Trace:
    """A link by its delivery opportunities: times at which 1500 bytes may leave, repeated without end."""

    def __init__(self, native: _native.Trace) -> None:
        self._native = native

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Trace:
        """A file in any format that the command line reads (docs/traces.md), with options behind its name:
        ``"log.csv:column=DL_bitrate"``."""
        return cls(_native.Trace.named(os.fspath(path), 60.0, 1))

    @classmethod
    def from_mahimahi(cls, path: str | os.PathLike[str]) -> Trace:
        """A file in Mahimahi's format: a time in milliseconds in each line."""
        return cls.read(f"{os.fspath(path)}:format=mahimahi")

    @classmethod
    def from_mbps(cls, rates: ArrayLike, step_s: float = 1.0) -> Trace:
        """Rates in Mbit/s, one for each step of ``step_s`` seconds.

        >>> thalweg.Trace.from_mbps([2, 0.5, 4], step_s=5).period_s
        15.0
        """
        values = numpy.asarray(rates, dtype=float)
        if values.ndim != 1 or not len(values):
            raise TraceError(f"rates have the shape {values.shape}: must be one row of at least one number")
        if not numpy.all(numpy.isfinite(values) & (values >= 0)):
            wrong = values[~(numpy.isfinite(values) & (values >= 0))][0]
            raise TraceError(f"rates contain {wrong}: each must be finite Mbit/s, 0 or more")
        step_ms = round(step_s * 1000)
        if step_ms < 1 or abs(step_ms - step_s * 1000) > 1e-6:
            raise TraceError(f"step_s is {step_s}: must be whole milliseconds, 0.001 or more")
        return cls(_native.Trace.of_rates((values * 1e6).tolist(), step_ms))

    @classmethod
    def synthesize(cls, name: str, *, seed: int = 1, seconds: float = 60.0) -> Trace:
        """A synthetic link by name (docs/traces.md), such as ``lte-driving`` or ``poisson:rate=2Mbps``: the one that a
        scenario of this duration and seed has."""
        return cls(_native.Trace.named(name, seconds, seed))

    @property
    def period_s(self) -> float:
        """The time after which it repeats, in seconds."""
        return self._native.period_s

    @property
    def mean_rate_bps(self) -> float:
        """The mean rate, in bit/s."""
        return self._native.mean_rate_bps

    @property
    def opportunities_ms(self) -> numpy.ndarray[Any, numpy.dtype[numpy.int64]]:
        """The times of the opportunities in a period, in milliseconds."""
        return numpy.asarray(self._native.opportunities_ms())

    def mbps(self, step_s: float = 1.0) -> numpy.ndarray[Any, numpy.dtype[numpy.float64]]:
        """The mean rate of each step of a period, in Mbit/s."""
        steps = int(numpy.ceil(self.period_s / step_s - 1e-9))
        counts, _ = numpy.histogram(self.opportunities_ms / 1000, bins=steps, range=(0, steps * step_s))
        return numpy.asarray(counts * 1500 * 8 / step_s / 1e6)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes it in Mahimahi's format."""
        self._native.write(os.fspath(path))

    def __reduce__(self) -> tuple[Any, ...]:
        """To other processes, and copied where an environment's arguments are."""
        return _of_opportunities, (self.opportunities_ms.tolist(),)

    def __repr__(self) -> str:
        return f"<Trace of {self.mean_rate_bps / 1e6:.3g} Mbit/s in the mean, {self.period_s:.6g} s>"


def _of_opportunities(millis: list[int]) -> Trace:
    return Trace(_native.Trace.of_opportunities(millis))


def native_of(given: Any) -> _native.Trace:
    """A trace from a trace, from rates in Mbit/s by the second, or from the path of a file."""
    if isinstance(given, Trace):
        return given._native
    if isinstance(given, (str, os.PathLike)):
        return Trace.read(given)._native
    return Trace.from_mbps(given)._native


def links_of(given: Mapping[str, Any]) -> _native.Links:
    """The traces of a run by name."""
    return _native.Links({name: native_of(trace) for name, trace in given.items()})
