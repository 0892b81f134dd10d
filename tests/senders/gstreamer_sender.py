"""GStreamer's webrtcbin plays a file: `gstreamer_sender.py ENDPOINT CLIP SECONDS`.

Its congestion control is an element of gst-plugins-rs (rtpgccbwe), which Debian 12 has not, so the rate is fixed.
"""

import pathlib
import sys

import gi
import whip

sys.path.append(str(pathlib.Path(__file__).parent.parent / "clients"))
import ecdsa  # noqa: E402

for namespace in ("Gst", "GstSdp", "GstWebRTC"):
    gi.require_version(namespace, "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

endpoint, clip, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
Gst.init(None)
print(f"{Gst.version_string()}, webrtcbin", flush=True)
loop = GLib.MainLoop()
# What comes before the connection is there is dropped by the queue, not sent late.
pipeline = Gst.parse_launch(
    f"filesrc location={clip} ! y4mdec ! clocksync ! queue leaky=downstream max-size-buffers=1 ! videoconvert "
    "! vp8enc deadline=1 cpu-used=8 end-usage=cbr target-bitrate=1200000 keyframe-max-dist=90 "
    "! rtpvp8pay picture-id-mode=15-bit ! application/x-rtp,media=video,encoding-name=VP8,payload=96 "
    "! webrtcbin name=sender bundle-policy=max-bundle"
)
sender = pipeline.get_by_name("sender")


def on_offer(promise, _):
    promise.wait()
    # The offer lives as long as the reply that it is part of.
    reply = promise.get_reply()
    sender.emit("set-local-description", reply["offer"], Gst.Promise.new())


def on_gathered(*_):
    if sender.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
        loop.quit()


ecdsa.give(pipeline)
sender.connect("notify::ice-gathering-state", on_gathered)
sender.connect(
    "on-negotiation-needed",
    lambda _: sender.emit("create-offer", None, Gst.Promise.new_with_change_func(on_offer, None)),
)
pipeline.set_state(Gst.State.PLAYING)
loop.run()
# The offer with all its candidates goes to the receiver, whose answer has all of its own.
text, session = whip.join(endpoint, ecdsa.announced(sender.get_property("local-description").sdp.as_text()))
_, answer = GstSdp.SDPMessage.new_from_text(text)
answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, answer)
sender.emit("set-remote-description", answer, Gst.Promise.new())
GLib.timeout_add(int(1000 * seconds), loop.quit)
loop.run()
whip.leave(session)
pipeline.set_state(Gst.State.NULL)
