"""aiortc plays a file: `aiortc_sender.py ENDPOINT CLIP SECONDS`."""

import asyncio
import sys

import aiortc
import whip
from aiortc.contrib.media import MediaPlayer


async def send(endpoint, clip, seconds):
    peer = aiortc.RTCPeerConnection()
    peer.addTrack(MediaPlayer(clip).video)
    await peer.setLocalDescription(await peer.createOffer())
    answer, session = await asyncio.to_thread(whip.join, endpoint, peer.localDescription.sdp)
    await peer.setRemoteDescription(aiortc.RTCSessionDescription(answer, "answer"))
    await asyncio.sleep(seconds)
    await asyncio.to_thread(whip.leave, session)
    await peer.close()


print(f"aiortc {aiortc.__version__}", flush=True)
asyncio.run(send(sys.argv[1], sys.argv[2], float(sys.argv[3])))
