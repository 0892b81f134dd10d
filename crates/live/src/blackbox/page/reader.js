// Reads every picture of a track, as it leaves camera or decoder: its number, when, and its size.

import { decode } from './barcode.js';

let samples = new Uint8Array(0);

async function number(frame, width, height) {
  const size = frame.allocationSize();
  if (samples.length < size) samples = new Uint8Array(size);
  const [{ offset, stride }] = await frame.copyTo(samples);
  return decode(width, height, (x0, x1, y0, y1) => {
    let sum = 0;
    for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) sum += samples[offset + y * stride + x];
    return (sum / ((x1 - x0) * (y1 - y0)) - 16) / 219 * 2 - 1;
  });
}

onmessage = async ({ data: frames }) => {
  const reader = frames.getReader();
  for (;;) {
    const { value: frame, done } = await reader.read();
    if (done) return;
    const at = performance.timeOrigin + performance.now();
    const { visibleRect: { width, height }, timestamp } = frame;
    // A camera's picture has none.
    const rtp = frame.metadata().rtpTimestamp ?? null;
    const read = await number(frame, width, height).catch(() => null);
    frame.close();
    postMessage({ number: read, at, timestamp, rtp, width, height });
  }
};
