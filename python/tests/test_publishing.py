import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import thalweg
from thalweg import _native

# .ci/python sets it to what the wheel was built with.
LIVE = "live" in os.environ.get("WHEEL_FEATURES", "").split(",")

PUBLISHING = """
import sys, thalweg

class Fixed(thalweg.Controller):
    count = 0
    def on_feedback(self, feedback):
        Fixed.count += len(feedback)
        if {mistaken} and Fixed.count > 100:
            raise LookupError("enough")
    def limits(self):
        return 700_000

over = thalweg.scenario("2Mbps")
small = dict(source="scene:easy", size="320x180")
try:
    thalweg.publish(Fixed, video=small, listen="127.0.0.1:0", over=over, seconds={seconds},
                    started=lambda pages: print(pages[0], flush=True))
finally:
    print(Fixed.count, flush=True)
"""


def publishing(seconds, mistaken=False):
    program = PUBLISHING.format(seconds=seconds, mistaken=mistaken)
    # Not from the folder of the sources, which `-c` would import instead of what is installed.
    here = pathlib.Path(__file__).parent
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", program], cwd=here, **pipes)


def test_the_wheel_has_what_it_was_built_with():
    assert hasattr(_native, "publish") == LIVE
    if not LIVE:
        with pytest.raises(RuntimeError, match="make wheel WHEEL_FEATURES=live"):
            thalweg.publish("gcc")


if LIVE:

    def test_a_controller_in_python_sends_over_webrtc(command_line):
        sender = publishing(seconds=20)
        page = sender.stdout.readline().strip()
        seen = json.loads(command_line("watch", page, "--duration", "6s", "--json"))
        sender.send_signal(signal.SIGINT)
        out, errors = sender.communicate(timeout=10)
        assert "KeyboardInterrupt" in errors
        assert seen["frames_decoded"] > 60 and seen["round_trip_ms"] > 49, "two delays of 25 ms"
        assert int(out) > 100, "packets that were reported to it"

    def test_what_a_controller_raises_ends_the_publishing(command_line):
        sender = publishing(seconds=30, mistaken=True)
        page = sender.stdout.readline().strip()
        command_line("watch", page, "--duration", "4s", "--json", "--no-reconnect")
        _, errors = sender.communicate(timeout=10)
        assert "LookupError: enough" in errors and "in on_feedback" in errors

    def test_what_cannot_be_published_is_said():
        with pytest.raises(ValueError, match="listen is '8080': must be an address"):
            thalweg.publish("gcc", listen="8080")
        with pytest.raises(thalweg.SchemeError, match="bound for virtual time"):
            thalweg.publish("bound:causal")
        with pytest.raises(thalweg.RunError, match="video"):
            thalweg.publish("gcc", video="none.y4m", listen="127.0.0.1:0")
