"""GStreamer's webrtcbin: `gstreamer.py PAGE SECONDS`."""

import json
import os
import sys
import time
import urllib.request

import barcode
import ecdsa
import gi

for namespace in ("Gst", "GstSdp", "GstWebRTC"):
    gi.require_version(namespace, "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

page, seconds = sys.argv[1], float(sys.argv[2])
Gst.init(None)
loop, frames = GLib.MainLoop(), []
pipeline = Gst.Pipeline.new()
receiver = Gst.ElementFactory.make("webrtcbin")
receiver.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
pipeline.add(receiver)
caps = "application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000,"
caps += "rtcp-fb-nack=(boolean)true,rtcp-fb-nack-pli=(boolean)true,rtcp-fb-transport-cc=(boolean)true,"
caps += 'extmap-3=(string)"http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"'
direction = GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY
receiver.emit("add-transceiver", direction, Gst.Caps.from_string(caps)).set_property("do-nack", True)


def on_sample(sink):
    at, sample = 1000 * time.time(), sink.emit("pull-sample")
    picture = sample.get_caps().get_structure(0)
    width, height = picture.get_value("width"), picture.get_value("height")
    luma = sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())
    # I420: rows of luma come first, each as long as a multiple of four.
    frames.append([at, barcode.read(luma, (width + 3) // 4 * 4, width, height)])
    return Gst.FlowReturn.OK


def on_pad(_, pad):
    decoded = Gst.parse_bin_from_description(
        "rtpvp8depay ! vp8dec ! video/x-raw,format=I420 ! appsink name=sink emit-signals=true sync=false", True
    )
    decoded.get_by_name("sink").connect("new-sample", on_sample)
    pipeline.add(decoded)
    decoded.sync_state_with_parent()
    pad.link(decoded.get_static_pad("sink"))


def on_offer(promise, _):
    promise.wait()
    # The offer lives as long as the reply that it is part of.
    reply = promise.get_reply()
    receiver.emit("set-local-description", reply["offer"], Gst.Promise.new())


def on_gathered(*_):
    """The offer with all its candidates goes to the publisher, whose answer has all of its own."""
    if receiver.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
        offer = ecdsa.announced(receiver.get_property("local-description").sdp.as_text())
        headers = {"Content-Type": "application/sdp", "Authorization": f"Bearer {os.environ['THALWEG_TOKEN']}"}
        request = urllib.request.Request(page + "whep", offer.encode(), headers)
        with urllib.request.urlopen(request, timeout=10) as response:
            _, answer = GstSdp.SDPMessage.new_from_text(response.read().decode())
        answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, answer)
        receiver.emit("set-remote-description", answer, Gst.Promise.new())


ecdsa.give(pipeline)
receiver.connect("pad-added", on_pad)
receiver.connect("notify::ice-gathering-state", on_gathered)
receiver.connect(
    "on-negotiation-needed",
    lambda _: receiver.emit("create-offer", None, Gst.Promise.new_with_change_func(on_offer, None)),
)
pipeline.set_state(Gst.State.PLAYING)
GLib.timeout_add(int(1000 * seconds), loop.quit)
loop.run()
print(json.dumps({"version": f"{Gst.version_string()}, webrtcbin", "frames": frames}), flush=True)
pipeline.set_state(Gst.State.NULL)
