"""Congestion control of real-time video in a laboratory of virtual time.

>>> run = thalweg.run("lte-driving", "gcc")
>>> run.summary["trace"]
'lte-driving'

:func:`run` and :func:`compare` play schemes over scenarios, :func:`scenario` and :class:`Trace` make these, and
:class:`Controller` is what a scheme of one's own subclasses. docs/python.md of the project begins with an example.
"""

from . import errors
from ._native import behaviour_id as _behaviour_id
from ._native import version
from .controller import PAYLOADS, Controller, Feedback, SendLimits, SentPacket
from .errors import (
    ControllerError,
    GridError,
    RunError,
    ScenarioError,
    SchemeError,
    ThalwegError,
    TraceError,
    VersionError,
)
from .playing import compare, run
from .publishing import publish
from .results import Comparison, Outcome, Run
from .scenarios import SchemeInfo, scenario, scheme, schemes
from .sweeps import Dataset, sweep
from .tables import Table
from .traces import Trace

__version__ = version
behaviour_id = _behaviour_id()
"""Identifier of this build's behaviour: runs of two builds are equal, event for event, if it is."""

__all__ = [
    "PAYLOADS",
    "Comparison",
    "Controller",
    "ControllerError",
    "Dataset",
    "Feedback",
    "GridError",
    "Outcome",
    "Run",
    "RunError",
    "ScenarioError",
    "SchemeError",
    "SchemeInfo",
    "SendLimits",
    "SentPacket",
    "Table",
    "ThalwegError",
    "Trace",
    "TraceError",
    "VersionError",
    "behaviour_id",
    "compare",
    "errors",
    "publish",
    "run",
    "scenario",
    "scheme",
    "schemes",
    "sweep",
    "version",
]
