"""Sending to browsers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import _native
from .playing import ScenarioLike, SchemeLike, Traces, prepared, sender_for
from .traces import links_of


def publish(
    scheme: SchemeLike,
    *,
    video: str | Mapping[str, Any] = "scene",
    codec: str = "vp8",
    listen: str = "127.0.0.1:8080",
    over: ScenarioLike | None = None,
    seconds: float | None = None,
    traces: Traces | None = None,
    started: Callable[[list[str]], object] | None = None,
) -> None:
    """Sends a video to browsers, as ``thalweg publish`` does, until Ctrl-C or for ``seconds``.

    ``scheme`` is as for :func:`thalweg.run`; a controller in Python is made anew for each viewer, and what it raises
    ends the publishing. ``video`` is a source (``scene``, a file) or a dict in the shape of a scenario's. ``over`` is a
    scenario whose paths are emulated between the sender and its viewers. The addresses of the page are passed to
    ``started``, or printed. A wheel has this if it was built with the feature ``live``, by
    ``make wheel WHEEL_FEATURES=live``.
    """
    native = getattr(_native, "publish", None)
    if native is None:
        raise RuntimeError("this build of thalweg cannot publish: build it by `make wheel WHEEL_FEATURES=live`")
    paths, links = (None, links_of({})) if over is None else prepared(over, traces)
    seed = 1 if paths is None else int(paths["seed"])
    source = {"source": video} if isinstance(video, str) else dict(video)
    native(sender_for(scheme, seed), source, codec, listen, paths, links, seconds, started or _said)


def _said(pages: list[str]) -> None:
    for page in pages:
        print(f"watch at {page}", flush=True)
