"""webrtcsink, as gst-plugins-rs publishes it, sends a file: `webrtcsink_sender.py ENDPOINT CLIP SECONDS`.

It takes whatever element is called rtpgccbwe. Two things are done to it from outside, so that `thalweg receive` knows
its certificate: it is given one of ECDSA (../clients/ecdsa.py), and its offers pass a proxy that writes that one's
fingerprint into them, which webrtcbin 1.22 takes of the key as well. Prints who the element's plugin is and, twice a
second, what it says: lines of JSON.
"""

import http.server
import json
import pathlib
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import gi

sys.path.append(str(pathlib.Path(__file__).parent.parent / "clients"))
import ecdsa  # noqa: E402

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

SAMPLED_MS = 500


class Proxy(http.server.BaseHTTPRequestHandler):
    """Passes WHIP on to the endpoint."""

    endpoint = ""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if body:
            body = ecdsa.announced(body.decode()).encode()
        whole = urllib.parse.urlsplit(self.endpoint)
        address = self.endpoint if self.path == "/" else f"{whole.scheme}://{whole.netloc}{self.path}"
        headers = {name: self.headers[name] for name in ("Content-Type",) if name in self.headers}
        asked = urllib.request.Request(address, body or None, headers, method=self.command)
        try:
            answer = urllib.request.urlopen(asked, timeout=10)
        except urllib.error.HTTPError as refused:
            answer = refused
        with answer:
            said = answer.read()
            self.send_response(answer.status)
            for name in ("Content-Type", "ETag", "Location"):
                if value := answer.headers.get(name):
                    self.send_header(name, urllib.parse.urlsplit(value).path if name == "Location" else value)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

    do_DELETE = do_PATCH = do_POST

    def log_message(self, *_):
        pass


def say(**what):
    print(json.dumps(what), flush=True)


def main():
    Proxy.endpoint, clip, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    Gst.init(None)
    version = Gst.ElementFactory.find("whipclientsink").get_plugin().get_version()
    say(version=f"{Gst.version_string()}, webrtcsink {version}")
    loop, controllers = GLib.MainLoop(), []
    # What comes before the connection is there is dropped by the queue, not sent late.
    pipeline = Gst.parse_launch(
        f"filesrc location={clip} ! y4mdec ! clocksync ! queue leaky=downstream max-size-buffers=1 ! videoconvert "
        f"! whipclientsink name=sink video-caps=video/x-vp8 signaller::whip-endpoint=http://127.0.0.1:{proxy.server_port}/"
    )
    sink = pipeline.get_by_name("sink")
    sink.set_property("stun-server", None)

    def on_element(_, __, element):
        factory = element.get_factory()
        if factory and factory.get_name() == "rtpgccbwe":
            say(rtpgccbwe=factory.get_plugin_name(), type=type(element).__gtype__.name)
            controllers.append(element)

    def on_picture(*_):
        held = any(one.find_property("hold") and one.get_property("hold") for one in controllers)
        return Gst.PadProbeReturn.DROP if held else Gst.PadProbeReturn.OK

    def on_encoder(_, consumer, __, encoder):
        # Ours may want pictures held back (docs/gstreamer.md); theirs has no such property.
        if consumer != "discovery":
            encoder.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, on_picture)
        return False

    def on_pipeline(_, __, session):
        ecdsa.give(session)
        session.connect("deep-element-added", on_element)

    def sample():
        for controller in controllers:
            said = {"at": time.monotonic(), "estimate": controller.get_property("estimated-bitrate")}
            if controller.find_property("stats"):
                said["stats"] = controller.get_property("stats").to_string()
            say(**said)
        return True

    def on_message(_, message):
        if message.type == Gst.MessageType.ERROR:
            print(*message.parse_error(), file=sys.stderr)
            loop.quit()

    sink.connect("consumer-pipeline-created", on_pipeline)
    sink.connect("encoder-setup", on_encoder)
    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message", on_message)
    pipeline.set_state(Gst.State.PLAYING)
    GLib.timeout_add(SAMPLED_MS, sample)
    GLib.timeout_add(int(1000 * seconds), loop.quit)
    loop.run()
    pipeline.set_state(Gst.State.NULL)
    return 0 if controllers else 1


sys.exit(main())
