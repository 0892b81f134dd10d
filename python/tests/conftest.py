"""Fixtures shared by the tests."""

import os
import pathlib
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """Ctrl-C interrupts, also where the tests were started in the background of a shell, which has it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def command_line():
    """The program `thalweg`, as THALWEG names it: .ci/python builds it."""
    program = os.environ.get("THALWEG")
    assert program, "set THALWEG to the program that `cargo build -p thalweg-cli` makes"

    def call(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call
