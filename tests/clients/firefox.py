"""Firefox on the page, spoken to by its own Marionette protocol: `firefox.py PAGE SECONDS`."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time


class Marionette:
    """Messages are `LENGTH:JSON`, commands `[0, id, name, parameters]`, answers `[1, id, error, result]`."""

    def __init__(self, port):
        self.begun = time.monotonic()
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
                break
            except OSError:
                if time.monotonic() - self.begun > 60:
                    raise
                time.sleep(0.2)
        self.buffer, self.count = b"", 0
        self.receive()

    def receive(self):
        while b":" not in self.buffer:
            self.more()
        length, _, self.buffer = self.buffer.partition(b":")
        while len(self.buffer) < int(length):
            self.more()
        message, self.buffer = self.buffer[: int(length)], self.buffer[int(length) :]
        return json.loads(message)

    def more(self):
        read = self.socket.recv(1 << 16)
        if not read:
            raise SystemExit("Firefox has ended")
        self.buffer += read

    def __call__(self, command, **parameters):
        self.count += 1
        message = json.dumps([0, self.count, command, parameters])
        self.socket.sendall(f"{len(message)}:{message}".encode())
        _, _, error, result = self.receive()
        if error:
            raise SystemExit(f"{command}: {error['message']}")
        return result


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# Settings of automation alone: what is measured is Firefox as it comes.
PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "media.gmp-manager.updateEnabled": False,
    "network.captive-portal-service.enabled": False,
}
FRAMES = """
const { viewers: [viewer], clock } = window.thalweg;
return JSON.stringify(Array.from(viewer.frames, ({ shownAtMs, number }) => [clock.publisher(shownAtMs), number]));
"""
page, seconds = sys.argv[1], float(sys.argv[2])
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    port = free_port()
    lines = (
        f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
        for name, value in {**PREFERENCES, "marionette.port": port}.items()
    )
    pathlib.Path(profile, "user.js").write_text("".join(lines))
    command = ["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", profile]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            firefox = Marionette(port)
            version = firefox("WebDriver:NewSession")["capabilities"]["browserVersion"]
            firefox("WebDriver:Navigate", url=f"{page}#token={os.environ['THALWEG_TOKEN']}")
            time.sleep(seconds)
            frames = json.loads(firefox("WebDriver:ExecuteScript", script=FRAMES, args=[])["value"])
            print(json.dumps({"version": f"Firefox {version}", "frames": frames}), flush=True)
        finally:
            process.terminate()
