"""Congestion controllers written in Python."""

from __future__ import annotations

import contextvars
import functools
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy

from . import _native
from ._native import PAYLOADS, Feedback, SentPacket
from .errors import ControllerError

__all__ = ["PAYLOADS", "Controller", "Feedback", "SendLimits", "SentPacket"]

# The seed of the run and the number of the controller in it, while a controller is made.
_making: contextvars.ContextVar[tuple[int, int]] = contextvars.ContextVar("_making", default=(0, 0))


@dataclass(frozen=True)
class SendLimits:
    """Limits set by a controller. A plain rate is the same as ``SendLimits(rate)``."""

    capacity: float
    """The estimated capacity of the path in bit/s: the base of the encoder's target."""
    pacing: float | None = None
    """The rate at which packets leave, in bit/s; None for ``capacity``."""
    window: int | None = None
    """Most bytes in flight; None when only pacing limits."""
    burst: int | None = None
    """Bytes of a frame that may leave back to back; None for strict pacing."""
    padding: float | None = None
    """The rate up to which padding fills what media leaves, in bit/s; None for none."""


class Controller:
    """A congestion controller: feedback in, send limits out.

    Subclass it, and implement :meth:`on_feedback` and :meth:`limits`. The other methods are optional, and what is not
    overridden is never called. A controller is made anew for each run, by its class without arguments;
    ``functools.partial(Mine, gain=2)`` gives it parameters. The same calls must give the same answers: read no clock,
    and draw random numbers from :attr:`random`.

    >>> class Aimd(thalweg.Controller):
    ...     rate = 500_000
    ...     def on_feedback(self, feedback):
    ...         self.rate = self.rate * 0.9 if feedback.lost_bytes else self.rate + 100_000
    ...     def limits(self):
    ...         return self.rate
    >>> run = thalweg.run(thalweg.scenario("2Mbps", duration="5s"), Aimd)
    >>> run.summary["scheme"], run.summary["wire_bitrate_bps"] > 500_000
    ('Aimd', True)

    An exception ends the run, and is raised from :func:`thalweg.run` with its traceback.
    """

    name: ClassVar[str | None] = None
    """The scheme's name in results; the class's own if None."""
    around: ClassVar[str | Mapping[str, Any]] = "gcc"
    """The scheme whose controller this replaces: by name, or as :func:`thalweg.scheme` has it. Frames, pacing,
    repair and reports remain as they are."""
    feedback: ClassVar[str | None] = None
    """The receiver's reports: ``twcc``, ``ccfb``, ``per-packet`` and others (docs/reference/scheme.md); the scheme's
    own if None."""

    _random_key: tuple[int, int]

    def __new__(cls, *_: Any, **__: Any) -> Controller:
        controller = super().__new__(cls)
        controller._random_key = _making.get()
        return controller

    def on_feedback(self, feedback: Feedback) -> None:
        """Takes feedback: which packets sent earlier have arrived, and which are lost."""
        raise NotImplementedError(f"{type(self).__name__} needs a method on_feedback(self, feedback)")

    def limits(self) -> float | SendLimits:
        """The limits from now on: a rate in bit/s, or :class:`SendLimits`. It changes nothing, and is asked for after
        each of the other calls."""
        raise NotImplementedError(f"{type(self).__name__} needs a method limits(self)")

    def on_sent(self, packet: SentPacket) -> None:
        """A packet left: several hundred calls a second."""

    def on_demand(self, now: float, min_bps: int, max_bps: int) -> None:
        """The rates that the application can use: at the start, and when they change."""

    def on_timeout(self, now: float) -> None:
        """The time that :meth:`next_timeout` returned has come."""

    def next_timeout(self) -> float | None:
        """When to call :meth:`on_timeout`, in seconds from the start; None for never. At most once a millisecond."""
        return None

    def inspect(self) -> Mapping[str, float]:
        """Variables worth charting, as a dict: ten times a second they join :attr:`thalweg.Run.variables`."""
        return {}

    @functools.cached_property
    def random(self) -> numpy.random.Generator:
        """Random numbers of this controller: the same in each run of the same seed."""
        return numpy.random.Generator(numpy.random.PCG64(self._random_key))


def sender_of(make: Callable[[], Controller], seed: int) -> _native.Sender:
    """A sender for one run, with the controllers that ``make`` returns."""
    parameters: dict[str, Any] = {}
    plain: Any = make
    while isinstance(plain, functools.partial):
        if plain.args:
            raise TypeError(f"give the parameters of {plain.func} by name, so that run.toml can have them")
        parameters = {**plain.keywords, **parameters}
        plain = plain.func
    if isinstance(plain, type) and not issubclass(plain, Controller):
        raise TypeError(f"{plain.__name__} is no subclass of thalweg.Controller")
    owner: type[Controller] = plain if isinstance(plain, type) else Controller
    name = owner.name or plain.__name__
    count = 0

    def made() -> Controller:
        nonlocal count
        token = _making.set((seed, count))
        count += 1
        try:
            controller = make()
        finally:
            _making.reset(token)
        if not isinstance(controller, Controller):
            raise ControllerError(f"{name} made a {type(controller).__name__}: must be a thalweg.Controller")
        return controller

    around: dict[str, Any] = _scheme(owner.around)
    if owner.feedback is not None:
        around["feedback"] = owner.feedback
    about = {"controller": f"{plain.__module__}:{plain.__qualname__}", "around": around["name"]}
    try:
        about["source_sha256"] = hashlib.sha256(inspect.getsource(plain).encode()).hexdigest()
    except (OSError, TypeError):
        about["source"] = "not known: it was typed at a prompt"
    about |= {f"parameter_{key}": repr(value) for key, value in parameters.items()}
    text = "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in about.items())
    return _native.Sender.controlled(name, _native.Sender.of(around), made, text)


def _scheme(given: str | Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(given, str):
        return dict(given)
    text = _native.Sender.named(given).parameters()
    if text is None:
        raise ControllerError(f"around is '{given}', which knows its link: name a scheme of thalweg.schemes()")
    parameters: dict[str, Any] = json.loads(text)
    return parameters
