// Files whose pictures come at irregular times, seldom, or in another order than they are coded in: stock Chromium shows each at its own
// time, whether it is encoded again or sent as it is. Times are those of RTP, which say when a picture is to be shown; a busy machine
// changes none of them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { open, screenshot } from './support/browser.mjs';
import { PROGRAM, browser, shown, skip } from './support/calls.mjs';
import { serve } from './support/process.mjs';

// Twenty pictures, each of a grey of its own.
const PICTURES = 20, DARKEST = 20, STEP = 10;
// Ten 100 ms apart, then ten 250 ms apart, of which the container says that the last lasts 50 ms; or all 100 ms apart.
const VARYING = { rate: 20, ms: n => n < 10 ? 100 * n : 1000 + 250 * (n - 10), args: ['-vf', "setpts='if(lt(N,10),2*N,20+5*(N-10))'", '-vsync', 'vfr'] };
const STEADY = { rate: 10, ms: n => 100 * n, args: [] };
const IN_ORDER = ['-bf', '0'], REORDERED = ['-bf', '2', '-b_strategy', '0'];
const FILES = {
  'varying, encoded again': { times: VARYING, lengthMs: 3300, name: 'varying.mkv', coded: IN_ORDER, args: [] },
  'varying, as it is': { times: VARYING, lengthMs: 3500, name: 'varying.mp4', coded: IN_ORDER, args: ['--encoded'] },
  'B-frames, encoded again': { times: STEADY, lengthMs: 2000, name: 'reordered.mp4', coded: REORDERED, args: [] },
  'ten a second, as it is': { times: STEADY, lengthMs: 2000, name: 'steady.h264', coded: IN_ORDER, args: ['--encoded'] },
};
// Pictures that are judged, and how long they are waited for at most.
const ENOUGH = 50, PATIENCE_MS = 60_000;
// A time is in 90,000ths of a second; those of containers are in thousandths.
const EXACT_MS = 2;

let folder;
const results = {};
before(() => { folder = mkdtempSync(`${tmpdir()}/thalweg-files-`); });
after(() => {
  rmSync(folder, { recursive: true, force: true });
  console.table(results);
});

function make({ times, name, coded }) {
  const source = `color=black:size=320x180:rate=${times.rate},format=yuv420p,geq=lum='${DARKEST}+${STEP}*N':cb=128:cr=128,trim=end_frame=${PICTURES}`;
  const file = `${folder}/${name}`;
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-f', 'lavfi', '-i', source, ...times.args, '-c:v', 'libx264', '-profile:v', 'main', '-g', '10', ...coded, file]);
  return file;
}

// Runs in the page: each decoded frame's grey and its time of RTP, in milliseconds, however late the page is called.
async function watchGreys() {
  const [track] = document.querySelector('video').srcObject.getVideoTracks(), seen = window.greys = [], luma = new Uint8Array(6);
  const reader = new MediaStreamTrackProcessor({ track, maxBufferSize: 30 }).readable.getReader();
  for (;;) {
    const { done, value: frame } = await reader.read();
    if (done) return;
    await frame.copyTo(luma, { rect: { x: 160, y: 90, width: 2, height: 2 } });
    seen.push({ luma: luma[0], rtpMs: frame.metadata().rtpTimestamp / 90 });
    frame.close();
  }
}

// The first frame of each picture of the file. Where frames are `everyMs` apart, and one before it is missing, that may have been the first.
function firsts(seen, everyMs) {
  const numbered = seen.map(frame => ({ ...frame, number: Math.round((frame.luma - DARKEST) / STEP) }));
  return numbered.filter(({ number, rtpMs }, at) => at > 0 && numbered[at - 1].number !== number && rtpMs - numbered[at - 1].rtpMs < 1.5 * everyMs);
}

for (const [name, file] of Object.entries(FILES)) {
  test(`a file's pictures come at their times: ${name}`, { skip }, async () => {
    const { ms, rate } = file.times, { lengthMs } = file, everyMs = file.args.includes('--encoded') ? Infinity : 1000 / rate;
    const server = await serve(PROGRAM, ['publish', make(file), '--scheme', 'gcc', '--listen', '127.0.0.1:0', ...file.args]);
    const page = await open(browser, server.address);
    try {
      await shown(page, 5);
      await page.evaluate(`(${watchGreys})(), null`);
      let pictures = [];
      for (const until = Date.now() + PATIENCE_MS; pictures.length < ENOUGH && Date.now() < until;) {
        await page.waitForTimeout(1000);
        pictures = firsts(await page.evaluate(() => window.greys), everyMs);
      }
      await screenshot(page, `file-${file.name.replace('.', '-')}`);
      // However many pictures, or rounds of the file, between two were left out.
      const wrong = (one, other) => (one.rtpMs - other.rtpMs - ms(one.number) + ms(other.number) + 1000.5 * lengthMs) % lengthMs - 0.5 * lengthMs;
      const wrongMs = Math.max(...pictures.slice(1).map((picture, at) => Math.abs(wrong(picture, pictures[at]))));
      results[name] = { pictures: pictures.length, 'RTP wrong by ms': +wrongMs.toFixed(2) };
      assert.ok(pictures.length >= ENOUGH, `${pictures.length} pictures were seen: this machine is too busy`);
      assert.equal(new Set(pictures.map(({ number }) => number)).size, PICTURES, 'each picture is among them, and no other');
      assert.ok(wrongMs <= EXACT_MS, `times of RTP are wrong by up to ${wrongMs} ms: ${JSON.stringify(pictures.map(({ number, rtpMs }) => [number, Math.round(rtpMs)]))}`);
      assert.deepEqual(page.problems, []);
    } finally {
      await page.context().close();
      const { code } = await server.stop();
      assert.equal(code, 0, server.errors());
    }
  });
}
