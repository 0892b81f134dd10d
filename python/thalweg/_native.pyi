"""What crates/python binds."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, final

import numpy
from numpy.typing import NDArray

__all__ = [
    "Array",
    "Call",
    "Environment",
    "Environments",
    "Feedback",
    "Files",
    "Folder",
    "INFO",
    "Links",
    "Outcome",
    "PAYLOADS",
    "Plan",
    "Rows",
    "Run",
    "Sender",
    "SentPacket",
    "Stop",
    "Sweep",
    "Table",
    "Trace",
    "behaviour_id",
    "codec",
    "estimate",
    "files_of",
    "play",
    "report",
    "results",
    "run",
    "scenario",
    "schemes",
    "version",
]

version: str
PAYLOADS: list[str]
INFO: list[str]

def schemes() -> list[tuple[str, str]]: ...
def behaviour_id() -> str: ...
def scenario(given: object) -> str: ...
def codec(name: str) -> str: ...
def run(
    given: object,
    sender: Sender,
    links: Links,
    seed: int | None,
    keep: str,
    progress: Callable[[float, float], object] | None,
    stop: Stop | None,
) -> Run: ...
def estimate(values: list[float]) -> tuple[float, float | None] | None: ...
def report(runs: list[Run], title: str, path: str) -> None: ...
def files_of(job: str) -> list[tuple[str, Path]]: ...
def play(job: str, files: Files, stop: Stop | None = None) -> str: ...
def results(out: str) -> tuple[Table, list[str]]: ...

@final
class Array:
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...

@final
class Call:
    def __new__(
        cls,
        given: object,
        links: Links,
        traces: list[tuple[str, Trace | None]],
        observation: str,
        action: str,
        reward: str,
        weights: tuple[float, float, float] | None,
        interval: str,
    ) -> Call: ...
    @property
    def seed(self) -> int: ...
    @property
    def observation_len(self) -> int: ...
    @property
    def action_len(self) -> int: ...
    @property
    def action_range(self) -> tuple[float, float]: ...
    def rows(self, sender: Sender) -> Rows: ...

@final
class Environment:
    def __new__(cls, call: Call) -> Environment: ...
    def reset(self, seed: int | None, observation: NDArray[numpy.float32]) -> tuple[str | None, float, int]: ...
    def step(
        self, action: NDArray[numpy.float32], observation: NDArray[numpy.float32]
    ) -> tuple[float, bool, list[float]]: ...

@final
class Environments:
    def __new__(cls, call: Call, count: int, threads: int, autoreset: str) -> Environments: ...
    @staticmethod
    def seed_of(seed: int, index: int) -> int: ...
    def reset(
        self, seeds: list[int | None], which: list[bool], observations: NDArray[numpy.float32]
    ) -> list[tuple[str | None, float, int] | None]: ...
    def step(
        self,
        actions: NDArray[numpy.float32],
        observations: NDArray[numpy.float32],
        rewards: NDArray[numpy.float64],
        truncated: NDArray[numpy.bool_],
        infos: NDArray[numpy.float64],
    ) -> None: ...
    def final_observation(self, index: int, to: NDArray[numpy.float32]) -> None: ...

@final
class Rows:
    @property
    def policy(self) -> str: ...
    def observations(self) -> Array: ...
    def actions(self) -> Array: ...
    def rewards(self) -> Array: ...
    def estimates_bps(self) -> Array: ...
    def capacities_bps(self) -> Array: ...

@final
class Feedback:
    """Feedback on sent packets: a value, which may be kept.

    Times are seconds of the sender's clock, amounts bytes on the wire from the IP header upwards. The arrays have an
    entry for each packet whose outcome became known, in order of sending; ``len`` is their number.
    """

    @property
    def now(self) -> float:
        """When the feedback reached the sender."""

    @property
    def is_timeout(self) -> bool:
        """Whether no feedback came for so long that everything in flight counts as lost."""

    @property
    def rtt(self) -> float | None:
        """The round-trip time of the newest packet that arrived; None if none did."""

    @property
    def path_rtt(self) -> float | None:
        """The same without the time for which the receiver held its report: what shows queues."""

    @property
    def srtt(self) -> float | None:
        """The smoothed round-trip time, reports' waiting included."""

    @property
    def min_rtt(self) -> float | None:
        """The least round-trip time so far."""

    @property
    def in_flight(self) -> int:
        """Bytes sent and neither acknowledged nor lost, after this feedback."""

    @property
    def delivered(self) -> int:
        """Bytes acknowledged so far, this feedback included."""

    @property
    def arrived_bytes(self) -> int:
        """Bytes that this feedback reports as arrived."""

    @property
    def lost_bytes(self) -> int:
        """Bytes that this feedback reports as lost."""

    @property
    def id(self) -> NDArray[numpy.int64]:
        """The packets' numbers in the order of sending."""

    @property
    def sent_ns(self) -> NDArray[numpy.int64]:
        """When each was sent, in nanoseconds."""

    @property
    def arrival_ns(self) -> NDArray[numpy.int64]:
        """When each arrived by the receiver's clock, which is ahead of the sender's or behind; -1 for a lost one."""

    @property
    def size(self) -> NDArray[numpy.int64]:
        """Their sizes."""

    @property
    def ce(self) -> NDArray[numpy.bool_]:
        """Which were marked on the path (ECN CE)."""

    @property
    def was_lost(self) -> NDArray[numpy.bool_]:
        """Which were reported lost before, and arrived after all."""

    @property
    def payload(self) -> NDArray[numpy.uint8]:
        """What they carry: places in ``thalweg.PAYLOADS``."""

    def __len__(self) -> int: ...

@final
class SentPacket:
    """A packet that left."""

    @property
    def id(self) -> int:
        """Its number in the order of sending."""

    @property
    def at(self) -> float:
        """When it left, in seconds."""

    @property
    def size(self) -> int:
        """Its size on the wire, in bytes."""

    @property
    def payload(self) -> str:
        """What it carries, one of ``thalweg.PAYLOADS``."""

    @property
    def in_flight(self) -> int:
        """Bytes in flight, this packet included."""

    @property
    def app_limited(self) -> bool:
        """Whether the application, not the window, limited sending after it."""

@final
class Files:
    def __new__(cls, sent: Mapping[str, str]) -> Files: ...

@final
class Links:
    def __new__(cls, given: Mapping[str, Trace]) -> Links: ...

@final
class Trace:
    @staticmethod
    def named(name: str, seconds: float, seed: int) -> Trace: ...
    @staticmethod
    def of_rates(rates_bps: list[float], step_ms: int) -> Trace: ...
    @staticmethod
    def of_opportunities(millis: list[int]) -> Trace: ...
    def opportunities_ms(self) -> Array: ...
    @property
    def period_s(self) -> float: ...
    @property
    def mean_rate_bps(self) -> float: ...
    def write(self, path: str) -> None: ...

@final
class Outcome:
    def summary(self) -> str: ...
    def series(self) -> Table: ...
    def frames(self) -> Table: ...
    @property
    def variable_names(self) -> list[str]: ...
    def variable(self, name: str) -> tuple[Array, Array]: ...

@final
class Plan:
    def __new__(cls, folder: str) -> Plan: ...
    def __len__(self) -> int: ...
    def job(self, place: int) -> str: ...
    def duration_s(self, place: int) -> float: ...
    def put(self, place: int, result: str) -> None: ...

@final
class Folder:
    def __new__(cls, sweep: Sweep, out: str, resume: bool, retry_failed: bool) -> Folder: ...
    @property
    def left(self) -> list[int]: ...
    @property
    def to_check(self) -> list[int]: ...
    def check(self, row: str) -> None: ...
    def append(self, row: str) -> None: ...
    def sync(self) -> None: ...
    def write(self, out: str) -> Path: ...

@final
class Run:
    @property
    def scheme(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    def outcome(self) -> Outcome: ...
    def competitors(self) -> list[Outcome]: ...
    def scenario(self) -> str: ...
    def events(self) -> Table: ...
    def write(self, folder: str) -> None: ...

@final
class Stop:
    def __new__(cls) -> Stop: ...
    def set(self) -> None: ...

@final
class Sender:
    @staticmethod
    def named(name: str) -> Sender: ...
    @staticmethod
    def of(scheme: object) -> Sender: ...
    @staticmethod
    def controlled(name: str, around: Sender, make: Callable[[], object], about: str) -> Sender: ...
    @staticmethod
    def aimd_for_a_test() -> Sender: ...
    @property
    def name(self) -> str: ...
    def parameters(self) -> str | None: ...

@final
class Sweep:
    @staticmethod
    def of(grid: object) -> Sweep: ...
    def __len__(self) -> int: ...
    @property
    def key(self) -> str: ...
    def job(self, number: int) -> str: ...
    def duration_s(self, number: int) -> float: ...

@final
class Table:
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def column(self, name: str) -> Array: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
