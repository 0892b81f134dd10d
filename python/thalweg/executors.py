"""Where the jobs of a sweep are played: processes, threads, an executor of another library, or a Ray cluster.

A job is text, and so is its result: what plays it needs this package and the files that the job names, nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from . import _native
from .errors import RunError, ThalwegError, VersionError

ExecutorLike: TypeAlias = Literal["processes", "threads", "ray"] | futures.Executor
"""Where jobs are played: on this machine, on a Ray cluster, or in an executor of another library."""

# Wall time that a chunk of jobs should take: so long that handing it out costs nothing beside it, and so short that
# progress is seen and little is lost with a worker. Handing out takes Ray a millisecond or more.
CHUNK_S = {"processes": 2.0, "threads": 2.0, "ray": 20.0}
# How many chunks are handed out for each worker: none waits for the coordinator.
AHEAD = 2
# The same for each CPU of a Ray cluster.
AHEAD_RAY = 4
# Between two looks whether something is to be done while no chunk ends, in seconds.
LOOK_S = 0.5


@dataclass(frozen=True)
class Job:
    """A job of a number, which is made when it is handed out, and the virtual seconds of its run."""

    number: int
    make: Callable[[int], str]
    cost: float


@dataclass
class Chunk:
    """Jobs that are handed out together, and how often a worker ended with them."""

    jobs: list[Job]
    lost: int = 0

    @property
    def cost(self) -> float:
        return sum(job.cost for job in self.jobs)


# The results of a chunk and its wall seconds, or how its worker ended.
Ended: TypeAlias = tuple[list[str], float] | BaseException


class Place(Protocol):
    """Interface that chunks are handed to."""

    chunk_s: float

    @property
    def slots(self) -> int:
        """The number of chunks that may be handed out at a time."""

    def submit(self, jobs: list[str]) -> Any:
        """Hands out a chunk."""

    def ended(self, under_way: Sequence[Any]) -> list[tuple[Any, Ended]]:
        """Chunks that have ended, after waiting for one for some time."""

    def close(self, interrupted: bool) -> None:
        """Ends the workers, with what they play if it was interrupted."""


def played(jobs: Sequence[Job], place: Place, retries: int) -> Iterator[list[tuple[int, str]]]:
    """Plays jobs, and yields the numbers and the results of each chunk when it comes. One whose worker ended is played
    again, job by job."""
    queue, again = deque(jobs), deque[Chunk]()
    under_way: dict[Any, Chunk] = {}
    cost_done, seconds = 0.0, 0.0
    cost_left = sum(job.cost for job in jobs)
    while queue or again or under_way:
        while (queue or again) and len(under_way) < place.slots:
            if again:
                chunk = again.popleft()
            else:
                # Of equal parts at the end, so that no worker is alone with a long chunk.
                budget = place.chunk_s * cost_done / seconds if seconds else 0.0
                chunk = _taken(queue, min(budget, cost_left / (2 * place.slots)))
                cost_left -= chunk.cost
            under_way[place.submit([job.make(job.number) for job in chunk.jobs])] = chunk
        for handle, ended in place.ended(list(under_way)):
            chunk = under_way.pop(handle)
            if isinstance(ended, tuple):
                cost_done, seconds = cost_done + chunk.cost, seconds + ended[1]
                yield [(job.number, result) for job, result in zip(chunk.jobs, ended[0], strict=True)]
            elif isinstance(ended, (ThalwegError, KeyboardInterrupt)):
                raise ended
            elif chunk.lost >= retries:
                numbers = ", ".join(str(job.number) for job in chunk.jobs)
                raise RunError(
                    f"job {numbers}: its worker ended {chunk.lost + 1} times ({type(ended).__name__}: {ended}). A run "
                    "may need more memory than there is (fewer workers need less); and a script that sweeps in "
                    'processes does so under `if __name__ == "__main__":`'
                ) from ended
            else:
                again.extend(Chunk([job], chunk.lost + 1) for job in chunk.jobs)


def _taken(queue: deque[Job], budget: float) -> Chunk:
    chunk = Chunk([queue.popleft()])
    while queue and chunk.cost + queue[0].cost <= budget:
        chunk.jobs.append(queue.popleft())
    return chunk


@contextlib.contextmanager
def opened(executor: ExecutorLike, workers: int | None, retries: int) -> Iterator[Place]:
    """The place that is meant, until the end of the block."""
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}: must be 1 or more")
    if retries < 0:
        raise ValueError(f"retries is {retries}: must be 0 or more")
    place: Place
    if executor == "processes":
        place = Processes(workers or _cores())
    elif executor == "threads":
        place = Threads(workers or _cores())
    elif executor == "ray":
        place = Ray(workers, retries)
    elif isinstance(executor, futures.Executor):
        place = Given(executor, workers or _cores())
    else:
        raise ValueError(
            f"executor is {executor!r}: must be 'processes', 'threads', 'ray' or a concurrent.futures.Executor"
        )
    try:
        yield place
    except BaseException:
        place.close(interrupted=True)
        raise
    place.close(interrupted=False)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def play(jobs: Sequence[str], stop: _native.Stop | None = None, files: Mapping[str, str] | None = None) -> Ended:
    """Plays a chunk in this thread. ``files`` are where files of other machines are here, by their SHA-256."""
    begun = time.monotonic()
    found = _native.Files(files or {})
    return [_native.play(job, found, stop) for job in jobs], time.monotonic() - begun


# What ends the runs of this worker.
_stop: _native.Stop | None = None


def _begin(interrupted: Event) -> None:
    """Makes this process a worker: Ctrl-C is for the coordinator, which ends the runs here."""
    global _stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _stop = stop = _native.Stop()

    def watch() -> None:
        interrupted.wait()
        stop.set()

    threading.Thread(target=watch, daemon=True).start()


def _play_in_worker(jobs: Sequence[str]) -> Ended:
    return play(jobs, _stop)


class _Pool:
    """Chunks as futures."""

    def __init__(self, workers: int, chunk_s: float) -> None:
        self.slots = AHEAD * workers
        self.chunk_s = chunk_s

    def ended(self, under_way: Sequence[futures.Future[Ended]]) -> list[tuple[futures.Future[Ended], Ended]]:
        done, _ = futures.wait(under_way, LOOK_S, futures.FIRST_COMPLETED)
        return [(future, _ended(future)) for future in done]


def _ended(future: futures.Future[Ended]) -> Ended:
    if future.cancelled():
        return RuntimeError("it was cancelled")
    return future.exception() or future.result()


class Processes(_Pool):
    """Processes of this machine, none of which shares anything with this one."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers, CHUNK_S["processes"])
        self._workers = workers
        self._context = multiprocessing.get_context("spawn")
        self._interrupted = self._context.Event()
        self._pool = self._new()

    def _new(self) -> futures.ProcessPoolExecutor:
        return futures.ProcessPoolExecutor(self._workers, self._context, _begin, (self._interrupted,))

    def submit(self, jobs: list[str]) -> futures.Future[Ended]:
        try:
            return self._pool.submit(_play_in_worker, jobs)
        except futures.BrokenExecutor:
            # A worker was killed: the pool has ended all others too.
            self._pool.shutdown(wait=True)
            self._pool = self._new()
            return self._pool.submit(_play_in_worker, jobs)

    def close(self, interrupted: bool) -> None:
        if interrupted:
            self._interrupted.set()
        self._pool.shutdown(wait=True, cancel_futures=interrupted)


class Threads(_Pool):
    """Threads of this process: while they play, others may use Python."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers, CHUNK_S["threads"])
        self._stop = _native.Stop()
        self._pool = futures.ThreadPoolExecutor(workers, "thalweg")

    def submit(self, jobs: list[str]) -> futures.Future[Ended]:
        return self._pool.submit(play, jobs, self._stop)

    def close(self, interrupted: bool) -> None:
        if interrupted:
            self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=interrupted)


class Given(_Pool):
    """An executor of another library, or one with workers of its own kind. It stays open."""

    def __init__(self, executor: futures.Executor, workers: int) -> None:
        super().__init__(getattr(executor, "_max_workers", None) or workers, CHUNK_S["processes"])
        self._executor = executor
        self._handed: set[futures.Future[Ended]] = set()

    def submit(self, jobs: list[str]) -> futures.Future[Ended]:
        try:
            future = self._executor.submit(play, jobs)
        except futures.BrokenExecutor as error:
            raise RunError(f"the executor is broken ({error}): the sweep goes on with a new one") from error
        self._handed.add(future)
        future.add_done_callback(self._handed.discard)
        return future

    def close(self, interrupted: bool) -> None:
        for future in list(self._handed):
            future.cancel()


class Ray:
    """The Ray cluster that RAY_ADDRESS names or this process is connected to, or else a new one on this machine."""

    chunk_s = CHUNK_S["ray"]

    def __init__(self, workers: int | None, retries: int) -> None:
        # A sweep tells nobody that it is played, unless its owner wants that.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError as error:
            raise RunError("executor='ray' needs Ray: pip install 'thalweg[ray]'") from error
        self._ray: Any = ray
        self._is_own = not self._ray.is_initialized()
        if self._is_own:
            self._ray.init(log_to_driver=False, include_dashboard=False)
        self._workers = workers
        # A chunk whose node was lost is Ray's to play again; an exception is not, because it comes again.
        self._task = self._ray.remote(num_cpus=1, max_retries=retries, retry_exceptions=False)(_task())
        self._sent: dict[str, tuple[str, Any]] = {}
        self._handed: set[Any] = set()

    @property
    def slots(self) -> int:
        """More and fewer with the nodes of the cluster."""
        return self._workers or max(1, int(AHEAD_RAY * self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, jobs: list[str]) -> Any:
        read = {sha256: self._send(sha256, path) for job in jobs for sha256, path in _native.files_of(job)}
        task = self._task.remote(jobs, read, _native.version, _native.behaviour_id())
        self._handed.add(task)
        return task

    def _send(self, sha256: str, path: Path) -> tuple[str, Any]:
        """The name and the content of a file, which goes to each node once."""
        if sha256 not in self._sent:
            self._sent[sha256] = (path.name, self._ray.put(path.read_bytes()))
        return self._sent[sha256]

    def ended(self, under_way: Sequence[Any]) -> list[tuple[Any, Ended]]:
        done, _ = self._ray.wait(list(under_way), num_returns=1, timeout=LOOK_S)
        return [(task, self._ended(task)) for task in done]

    def _ended(self, task: Any) -> Ended:
        self._handed.discard(task)
        try:
            ended: Ended | str = self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:
            cause: BaseException = error.cause or error
            return cause
        except self._ray.exceptions.RayError as error:
            lost: BaseException = error
            return lost
        return VersionError(ended) if isinstance(ended, str) else ended

    def close(self, interrupted: bool) -> None:
        for task in self._handed:
            self._ray.cancel(task, force=True)
        if self._is_own:
            self._ray.shutdown()


def _task() -> Callable[..., Any]:
    """Work of a node. Ray sends the code of a function within a function, so that a node's own package may be any."""

    def play_on_node(jobs: list[str], sent: dict[str, Any], version: str, behaviour: str) -> Any:
        import socket

        here = f"the Ray node {socket.gethostname()}"
        try:
            import thalweg
        except ImportError:
            return f"{here} has no thalweg: install version {version} on each node, or name it in runtime_env"
        if (thalweg.version, thalweg.behaviour_id) != (version, behaviour):
            return (
                f"{here} has thalweg {thalweg.version} of behaviour {thalweg.behaviour_id}, and the sweep was begun "
                f"by {version} of behaviour {behaviour}: install the same wheel on each node"
            )
        from thalweg import executors

        return executors.play(jobs, files=executors.received(sent))

    return play_on_node


def received(sent: Mapping[str, tuple[str, Any]]) -> dict[str, str]:
    """The paths here of files that were sent, by their SHA-256."""
    return {sha256: _received(sha256, name, content) for sha256, (name, content) in sent.items()}


# The files that this process has seen to be what they should be.
_known: dict[str, str] = {}


def _received(sha256: str, name: str, content: Any) -> str:
    if sha256 in _known:
        return _known[sha256]
    folder = Path(tempfile.gettempdir()) / f"thalweg-{os.getuid()}" / sha256
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    # Other processes of the node write the same file; and what is in a folder for all may be anything.
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        import ray

        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(ray.get(content))
        os.replace(file.name, path)
    _known[sha256] = str(path)
    return _known[sha256]
