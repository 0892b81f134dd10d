// whip-whep's client of WHIP over @roamhq/wrtc (libwebrtc) plays a file and restarts ICE on its way: `sender.mjs ENDPOINT CLIP.y4m
// SECONDS`.
import { openSync, readFileSync, readSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import wrtc from '@roamhq/wrtc';
import { WHIPClient } from 'whip-whep/whip.js';

const [endpoint, clip, seconds] = process.argv.slice(2);
const { version } = JSON.parse(readFileSync(new URL('node_modules/whip-whep/package.json', import.meta.url)));
console.log(`whip-whep ${version}`);

const file = openSync(clip);
const head = Buffer.alloc(200);
readSync(file, head, 0, head.length, 0);
const header = head.subarray(0, head.indexOf('\n')).toString();
const [width, height] = ['W', 'H'].map(letter => Number(header.match(new RegExp(` ${letter}(\\d+)`))[1]));
const size = width * height * 3 / 2, before = 'FRAME\n'.length;

const source = new wrtc.nonstandard.RTCVideoSource();
const peer = new wrtc.RTCPeerConnection();
peer.addTrack(source.createTrack(), new wrtc.MediaStream());
const client = new WHIPClient();
await client.publish(peer, endpoint);

const begin = performance.now();
for (let number = 0; number < 30 * seconds; number++) {
  await pause(Math.max(0, begin + number * 1000 / 30 - performance.now()));
  const data = new Uint8ClampedArray(size);
  if (readSync(file, data, 0, size, header.length + 1 + number * (before + size) + before) < size) break;
  source.onFrame({ width, height, data });
  if (number === Math.round(15 * seconds)) await client.restart();
}
await client.stop();
process.exit(0);
