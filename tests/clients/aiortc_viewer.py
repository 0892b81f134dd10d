"""aiortc, of Python, whose only reports are receiver reports: `aiortc_viewer.py PAGE SECONDS`."""

import asyncio
import json
import os
import sys
import time
import urllib.request

import aiortc
import barcode
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError


def post(url, offer):
    headers = {"Content-Type": "application/sdp", "Authorization": f"Bearer {os.environ['THALWEG_TOKEN']}"}
    request = urllib.request.Request(url, offer.encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


async def watch(page, seconds):
    peer, frames, tasks = RTCPeerConnection(), [], []

    async def take(track):
        try:
            while True:
                frame = await track.recv()
                if track.kind == "video":
                    at, plane = 1000 * time.time(), frame.planes[0]
                    frames.append([at, barcode.read(bytes(plane), plane.line_size, frame.width, frame.height)])
        except MediaStreamError:
            pass

    peer.on("track", lambda track: tasks.append(asyncio.ensure_future(take(track))))
    for kind in ("video", "audio"):
        peer.addTransceiver(kind, direction="recvonly")
    await peer.setLocalDescription(await peer.createOffer())
    answer = await asyncio.to_thread(post, page + "whep", peer.localDescription.sdp)
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await peer.close()
    return frames


frames = asyncio.run(watch(sys.argv[1], float(sys.argv[2])))
print(json.dumps({"version": f"aiortc {aiortc.__version__}", "frames": frames}))
