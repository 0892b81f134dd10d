"""`thalweg receive` as a process of its own, to which senders come and go."""

import json
import os
import queue
import re
import subprocess
import sys
import threading


class Receiver:
    """A receiver with one link, which each sender meets from its beginning, and the figures of those who have left.

    `page` is the address of its page, `whip` what senders post their offers to, `left` a queue of figures.
    """

    def __init__(self, out, *options):
        # The link's port is at the address that is not loopback's, the page, for the camera's sake, at loopback's.
        command = [os.environ["THALWEG"], "receive", "--listen", "0.0.0.0:0", "--open", "--json", *options]
        self.process = subprocess.Popen(
            [*command, "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.left = queue.Queue()
        for line in self.process.stderr:
            if found := re.search(r"send a camera from http://[^:]+(:\d+/)", line):
                self.page = f"http://127.0.0.1{found[1]}"
                break
        else:
            raise SystemExit("no address in what the receiver says")
        self.whip = f"{self.page}whip"
        for reads in (
            lambda: [self.left.put(json.loads(line)) for line in self.process.stdout],
            lambda: sys.stderr.writelines(self.process.stderr),
        ):
            threading.Thread(target=reads, daemon=True).start()

    def end(self):
        """Asks it to end, which takes a moment: what was measured is written then. Returns its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(30)
        finally:
            self.process.kill()
