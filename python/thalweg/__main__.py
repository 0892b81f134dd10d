"""``python -m thalweg``: sweeps, the bench and the papers' figures on many machines (docs/sweeps.md)."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from .errors import ThalwegError
from .sweeps import play, sweep


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the arguments say, and returns the exit code."""
    parser = argparse.ArgumentParser("python -m thalweg", description="Thalweg's work on many machines.")
    commands = parser.add_subparsers(dest="command", required=True)
    sweeping = commands.add_parser("sweep", help="play a grid of runs, and write one table")
    sweeping.add_argument("grid", help="the grid's file (docs/sweeps.md)")
    sweeping.add_argument("-o", "--out", default="out", metavar="FOLDER", help="the folder for the table (out)")
    sweeping.add_argument("--retry-failed", action="store_true", help="play runs again that failed")
    _how(sweeping)
    playing = commands.add_parser("play", help="play the runs that `thalweg bench` or `reproduce` left by --plan")
    playing.add_argument("folder", help="the folder of --keep")
    _how(playing)
    for name, about in (("bench", "thalweg bench, its runs anywhere"), ("reproduce", "thalweg reproduce, the same")):
        whole = commands.add_parser(name, help=about, allow_abbrev=False)
        whole.add_argument("--keep", required=True, metavar="FOLDER", help="the folder for its runs")
        _how(whole)
    given, others = parser.parse_known_args(arguments)
    if others and given.command not in ("bench", "reproduce"):
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    if given.address:
        os.environ["RAY_ADDRESS"] = given.address
    try:
        return _done(given, others)
    except (ThalwegError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: the same command goes on", file=sys.stderr)
        return 130


def _done(given: argparse.Namespace, others: list[str]) -> int:
    how = {
        "executor": given.executor,
        "workers": given.workers,
        "retries": given.retries,
        "progress": not given.quiet,
    }
    if given.command == "sweep":
        table = sweep(given.grid, given.out, retry_failed=given.retry_failed, **how)
        failed = f", {len(table.failed)} failed (their errors are in the table)" if table.failed else ""
        print(f"{len(table)} runs, {table.played} of them played now{failed}: {table.path}")
        return 0
    if given.command == "play":
        print(f"{play(given.folder, **how)} runs played: {given.folder}")
        return 0
    # The program says which runs there are and makes its page of them; between the two they are played.
    program = os.environ.get("THALWEG") or shutil.which("thalweg")
    if program is None:
        raise FileNotFoundError("there is no program thalweg on PATH: cargo install --path crates/cli, or set THALWEG")
    command = [program, given.command, *others, "--keep", given.keep, *["--quiet"][: given.quiet]]
    planned = subprocess.run([*command, "--plan"], stdout=subprocess.DEVNULL)
    if planned.returncode:
        return planned.returncode
    play(given.keep, **how)
    return subprocess.run(command).returncode


def _how(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--executor", choices=["processes", "threads", "ray"], default="processes", help="where runs are played"
    )
    parser.add_argument("--address", help="the Ray cluster, such as HEAD:6379; when absent RAY_ADDRESS, or a new one")
    parser.add_argument("--workers", type=int, metavar="NUMBER", help="runs at a time; when absent all cores")
    parser.add_argument(
        "--retries", type=int, default=2, metavar="NUMBER", help="how often runs of lost workers are played again (2)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but results and errors")


if __name__ == "__main__":
    sys.exit(main())
