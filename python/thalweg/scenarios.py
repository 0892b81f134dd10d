"""Scenarios and schemes as dicts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _native
from .errors import SchemeError


def scenario(
    base: str | os.PathLike[str] | Mapping[str, Any] = "lte-driving", *, link: str | None = None, **changes: Any
) -> dict[str, Any]:
    """A scenario as a dict, in the shape of a scenario file (docs/reference/scenario.md), checked and complete.

    ``base`` is the name of a link, over which a minute of a model encoder's video is sent with 25 ms of delay each way;
    the path of a scenario file or of a ``run.toml``; or such a dict. ``link`` replaces the link of the first
    bottleneck, and ``changes`` replace fields. Quantities are texts with a unit (``"2Mbps"``, ``"25ms"``) or numbers in
    bit/s, seconds and bytes. ``codec`` may be a name: ``model``, ``vp8``, ``vp9`` or ``functional``.

    >>> short = thalweg.scenario("2Mbps/500kbps@10s", duration=20, codec="vp8")
    >>> short["duration"], list(short["codec"])
    ('20s', ['vp8'])
    >>> thalweg.scenario(durration="20s")
    Traceback (most recent call last):
    ...
    thalweg.errors.ScenarioError: durration: unknown field `durration`: did you mean duration?
    """
    whole: dict[str, Any] = json.loads(_native.scenario(dict(base) if isinstance(base, Mapping) else base))
    if isinstance(changes.get("codec"), str):
        changes["codec"] = json.loads(_native.codec(changes["codec"]))
    whole.update(changes)
    if link is not None:
        _bottleneck(whole)["trace"] = link
        whole["name"] = changes.get("name", link)
    checked: dict[str, Any] = json.loads(_native.scenario(whole))
    return checked


def _bottleneck(scenario: Mapping[str, Any]) -> dict[str, Any]:
    for hop in scenario["forward"]["hops"]:
        if "bottleneck" in hop:
            found: dict[str, Any] = hop["bottleneck"]
            return found
    raise ValueError("link: the scenario's forward path has no bottleneck with a trace that could be replaced")


@dataclass(frozen=True)
class SchemeInfo:
    """A scheme: its name, and what it is in one line."""

    name: str
    about: str


def schemes() -> list[SchemeInfo]:
    """The schemes that runs can be played with, and the bounds, which know what no sender can.

    >>> [info.name for info in thalweg.schemes()][:2]
    ['gcc', 'gcc:2017']
    """
    return [SchemeInfo(name, about) for name, about in _native.schemes()]


def scheme(name: str) -> dict[str, Any]:
    """The parameters of a scheme, to change and to pass to :func:`thalweg.run` (docs/reference/scheme.md).

    >>> copa = thalweg.scheme("copa")
    >>> copa["name"], copa["controller"]["copa"]["delta"] = "copa, delta 0.2", 0.2
    """
    text = _native.Sender.named(name).parameters()
    if text is None:
        raise SchemeError(f"'{name}' is a bound, which has no parameters")
    parameters: dict[str, Any] = json.loads(text)
    return parameters
