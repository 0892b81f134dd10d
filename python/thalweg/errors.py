"""Exceptions. Each message has the value, the accepted values, and the fix."""


class ThalwegError(Exception):
    """Any of the errors below. ``path`` is the field that it is about, such as ``forward.hops[0]``, or None."""

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


class ScenarioError(ThalwegError, ValueError):
    """A scenario that cannot be read or played."""


class SchemeError(ThalwegError, ValueError):
    """There is no scheme of this name, or a parameter of it is wrong."""


class TraceError(ThalwegError, ValueError):
    """A link that cannot be read or made."""


class ControllerError(ThalwegError, ValueError):
    """A controller in Python answered with what is no answer."""


class GridError(ThalwegError, ValueError):
    """A grid of a sweep that cannot be read, or a run of it that cannot be played."""


class VersionError(ThalwegError, RuntimeError):
    """Another process or machine has another version of this package, whose runs differ."""


class RunError(ThalwegError, RuntimeError):
    """A run, or the writing of its results, failed."""
