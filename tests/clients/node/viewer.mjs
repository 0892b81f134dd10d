// Stacks of npm as viewers, `viewer.mjs CLIENT PAGE SECONDS`: werift and node-datachannel (libdatachannel) decode nothing, so that a
// frame is what ends with a marker; @roamhq/wrtc (libwebrtc) gives pictures, by itself and under whip-whep's client of WHEP, which
// trickles.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { decode } from '../../../crates/live/src/web/page/barcode.js';

const [name, page, seconds] = process.argv.slice(2);
const token = process.env.THALWEG_TOKEN;
const frames = [];

// The answer to an offer.
async function post(offer) {
  const headers = { 'Content-Type': 'application/sdp', Authorization: `Bearer ${token}` };
  const answer = await fetch(`${page}whep`, { method: 'POST', headers, body: offer });
  if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`);
  return answer.text();
}

const marks = packet => (packet[1] & 0x80) !== 0;
const isRtp = packet => packet[1] < 192 || packet[1] > 223;

async function werift() {
  const { RTCPeerConnection, useNACK, usePLI, useTWCC, useVP8, useOPUS } = await import('werift');
  const video = useVP8({ rtcpFeedback: [useNACK(), usePLI(), useTWCC()] });
  const peer = new RTCPeerConnection({ codecs: { video: [video], audio: [useOPUS()] } });
  peer.onTrack.subscribe(track => track.kind === 'video' && track.onReceiveRtp.subscribe(packet => {
    if (packet.header.marker) frames.push([Date.now(), null]);
  }));
  for (const kind of ['video', 'audio']) peer.addTransceiver(kind, { direction: 'recvonly' });
  await peer.setLocalDescription(await peer.createOffer());
  await peer.setRemoteDescription({ type: 'answer', sdp: await post(peer.localDescription.sdp) });
  return () => peer.close();
}

async function nodeDatachannel() {
  const { default: library } = await import('node-datachannel');
  const peer = new library.PeerConnection('viewer', { iceServers: [] });
  const video = new library.Video('video', 'RecvOnly');
  video.addVP8Codec(96);
  const track = peer.addTrack(video);
  track.setMediaHandler(new library.RtcpReceivingSession());
  track.onMessage(packet => isRtp(packet) && marks(packet) && frames.push([Date.now(), null]));
  const gathered = new Promise(resolve => peer.onGatheringStateChange(state => state === 'complete' && resolve()));
  peer.setLocalDescription('offer');
  await gathered;
  peer.setRemoteDescription(await post(peer.localDescription().sdp), 'answer');
  // Not `cleanup`, which frees twice (0.33.4).
  return () => peer.close();
}

// A connection of libwebrtc that reads the number on each picture.
async function libwebrtc() {
  const { default: { RTCPeerConnection, nonstandard } } = await import('@roamhq/wrtc');
  const peer = new RTCPeerConnection();
  peer.ontrack = ({ track }) => {
    if (track.kind !== 'video') return;
    new nonstandard.RTCVideoSink(track).onframe = ({ frame: { width, height, data } }) => {
      const number = decode(width, height, (x0, x1, y0, y1) => {
        let sum = 0;
        for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) sum += data[y * width + x];
        // 16 is black and 235 is white (BT.601).
        return (sum / ((x1 - x0) * (y1 - y0)) - 125.5) / 109.5;
      });
      frames.push([Date.now(), number]);
    };
  };
  for (const kind of ['video', 'audio']) peer.addTransceiver(kind, { direction: 'recvonly' });
  return peer;
}

async function wrtc() {
  const peer = await libwebrtc();
  await peer.setLocalDescription(await peer.createOffer());
  while (peer.iceGatheringState !== 'complete') await pause(10);
  await peer.setRemoteDescription({ type: 'answer', sdp: await post(peer.localDescription.sdp) });
  return () => peer.close();
}

async function whipWhep() {
  const { WHEPClient } = await import('whip-whep/whep.js');
  const client = new WHEPClient();
  await client.view(await libwebrtc(), `${page}whep`, token);
  return () => client.stop();
}

const CLIENTS = {
  werift: [werift, 'werift'],
  wrtc: [wrtc, '@roamhq/wrtc'],
  'node-datachannel': [nodeDatachannel, 'node-datachannel'],
  'whip-whep': [whipWhep, 'whip-whep'],
};
const [watch, library] = CLIENTS[name];
const { version } = JSON.parse(readFileSync(new URL(`node_modules/${library}/package.json`, import.meta.url)));
const leave = await watch();
await pause(1000 * seconds);
console.log(JSON.stringify({ version: `${library} ${version}`, frames }));
await leave();
process.exit(0);
