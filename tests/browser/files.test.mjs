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
import { percentile } from './support/measure.mjs';
import { serve } from './support/process.mjs';

// Twenty pictures, each of a grey of its own.
const PICTURES = 20, DARKEST = 20, STEP = 10;
// Ten 100 ms apart, then ten 250 ms apart; or all 100 ms apart.
const VARYING = { ms: n => n < 10 ? 100 * n : 1000 + 250 * (n - 10), lengthMs: 3500, args: ['-vf', "setpts='if(lt(N,10),2*N,20+5*(N-10))/20/TB'", '-vsync', 'vfr'] };
const STEADY = { ms: n => 100 * n, lengthMs: 2000, args: [] };
const IN_ORDER = ['-bf', '0'], REORDERED = ['-bf', '2', '-b_strategy', '0'];
const FILES = {
  'varying, encoded again': { times: VARYING, name: 'varying.mkv', coded: IN_ORDER, args: [] },
  'varying, as it is': { times: VARYING, name: 'varying.mp4', coded: IN_ORDER, args: ['--encoded'] },
  'B-frames, encoded again': { times: STEADY, name: 'reordered.mp4', coded: REORDERED, args: [] },
  'ten a second, as it is': { times: STEADY, name: 'steady.h264', coded: IN_ORDER, args: ['--encoded'] },
};
// Rounds of a file that are seen, and the share of its pictures that a browser may be too busy to call for.
const ROUNDS = 3, SEEN = 0.7;
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
  const source = `color=black:size=320x180:rate=10,format=yuv420p,geq=lum='${DARKEST}+${STEP}*N':cb=128:cr=128,trim=end_frame=${PICTURES}`;
  const file = `${folder}/${name}`;
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-f', 'lavfi', '-i', source, ...times.args, '-c:v', 'libx264', '-profile:v', 'main', '-g', '10', ...coded, file]);
  return file;
}

// Runs in the page: each presented frame's grey and its time of RTP, in milliseconds.
function watchGreys() {
  const video = document.querySelector('video'), canvas = new OffscreenCanvas(1, 1), seen = window.greys = [];
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const frame = (_, { rtpTimestamp, presentedFrames, expectedDisplayTime }) => {
    video.requestVideoFrameCallback(frame);
    context.drawImage(video, 0, 0, 1, 1);
    seen.push({ grey: context.getImageData(0, 0, 1, 1).data[0], rtpMs: rtpTimestamp / 90, presentedFrames, shownMs: expectedDisplayTime });
  };
  video.requestVideoFrameCallback(frame);
}

// The first frame of each picture of the file; one is left out if a frame before it was not called for, which may have been the first.
function firsts(seen) {
  const numbered = seen.map(frame => ({ ...frame, number: Math.round((frame.grey * 219 / 255 + 16 - DARKEST) / STEP) }));
  return numbered.filter(({ number, presentedFrames }, at) => at > 0 && numbered[at - 1].number !== number && numbered[at - 1].presentedFrames === presentedFrames - 1);
}

for (const [name, file] of Object.entries(FILES)) {
  test(`a file's pictures come at their times: ${name}`, { skip }, async () => {
    const { ms, lengthMs } = file.times;
    const server = await serve(PROGRAM, ['publish', make(file), '--scheme', 'gcc', '--listen', '127.0.0.1:0', ...file.args]);
    const page = await open(browser, server.address);
    try {
      await shown(page, 5);
      await page.evaluate(watchGreys);
      await page.waitForTimeout((ROUNDS + 0.5) * lengthMs);
      await screenshot(page, `file-${file.name.replace('.', '-')}`);
      const pictures = firsts(await page.evaluate(() => window.greys));
      const wrongMs = [], lateMs = [];
      pictures.slice(1).forEach((picture, at) => {
        const last = pictures[at];
        // Within a round of the file, or over its end, however many pictures between the two were left out.
        const expected = (ms(picture.number) - ms(last.number) + lengthMs) % lengthMs;
        wrongMs.push(Math.abs(picture.rtpMs - last.rtpMs - expected));
        lateMs.push(Math.abs(picture.shownMs - last.shownMs - expected));
      });
      results[name] = {
        pictures: pictures.length, 'RTP wrong ms': +Math.max(...wrongMs).toFixed(2),
        'shown wrong ms P50': Math.round(percentile(lateMs, 0.5)), 'shown wrong ms P95': Math.round(percentile(lateMs, 0.95)),
      };
      assert.ok(pictures.length >= SEEN * ROUNDS * PICTURES, `${pictures.length} pictures were seen in ${ROUNDS} rounds of ${PICTURES}`);
      assert.equal(new Set(pictures.map(({ number }) => number)).size, PICTURES, 'each picture is among them, and no other');
      assert.ok(Math.max(...wrongMs) <= EXACT_MS, `times of RTP are wrong by up to ${Math.max(...wrongMs)} ms: ${JSON.stringify(pictures.map(({ number, rtpMs }) => [number, Math.round(rtpMs)]))}`);
      assert.deepEqual(page.problems, []);
    } finally {
      await page.context().close();
      const { code } = await server.stop();
      assert.equal(code, 0, server.errors());
    }
  });
}
