// The page reads the numbers that Rust draws: from the samples themselves, and from a video that the browser plays.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launch } from './support/browser.mjs';
import { program } from './support/programs.mjs';

const SCRIPT = fileURLToPath(new URL('../../crates/live/src/web/page/barcode.js', import.meta.url));
const SIZES = ['320x180', '426x240', '640x360', '642x362', '1280x720', '1920x1080'];
const draw = (size, first, count) => execFileSync(program('barcodes'), [size, String(first), String(count)], { maxBuffer: 1 << 30 });
const { decode } = await import(`data:text/javascript;base64,${readFileSync(SCRIPT).toString('base64')}`);

let folder;
before(() => { folder = mkdtempSync(`${tmpdir()}/thalweg-barcodes-`); });
after(() => rmSync(folder, { recursive: true, force: true }));

// The pictures of y4m with planes of 4:2:0, as their luma.
function* luma(y4m, width, height) {
  const chroma = Math.ceil(width / 2) * Math.ceil(height / 2);
  for (let at = y4m.indexOf('\n') + 1; at < y4m.length;) {
    const from = y4m.indexOf('\n', at) + 1;
    yield y4m.subarray(from, from + width * height);
    at = from + width * height + 2 * chroma;
  }
}

for (const size of SIZES) {
  test(`numbers are read from the samples of ${size}`, () => {
    const [width, height] = size.split('x').map(Number);
    for (const first of [0, 1, 65_535, 2 ** 40 + 12_345, Number.MAX_SAFE_INTEGER - 2]) {
      const read = [...luma(draw(size, first, 3), width, height)].map(plane => decode(width, height, (x0, x1, y0, y1) => {
        let sum = 0;
        for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) sum += plane[y * width + x];
        return (sum / ((x1 - x0) * (y1 - y0)) - 16) / 219 * 2 - 1;
      }));
      assert.deepEqual(read, [first, first + 1, first + 2]);
    }
  });
}

test('a picture without a barcode reads as none', () => {
  for (const grey of [-1, -0.5, 0, 0.5, 1]) assert.equal(decode(640, 360, () => grey), null);
  assert.equal(decode(79, 44, () => 1), null);
  let seed = 1;
  const noise = () => { seed = seed * 48_271 % 2_147_483_647; return seed / 2_147_483_647 * 2 - 1; };
  for (let count = 0; count < 50; count++) assert.equal(decode(640, 360, () => noise() < 0 ? -1 : 1), null);
});

test('numbers are read from a video that the browser plays', async context => {
  if (spawnSync('ffmpeg', ['-version']).error) return context.skip('ffmpeg is not here');
  for (const size of ['320x180', '640x360', '1280x720']) {
    const file = `${folder}/${size}.webm`;
    const coded = spawnSync('ffmpeg', ['-v', 'error', '-f', 'yuv4mpegpipe', '-i', '-', '-c:v', 'libvpx', '-b:v', '1M', '-deadline', 'realtime', '-y', file], { input: draw(size, 1000, 60) });
    assert.equal(coded.status, 0, String(coded.stderr));
  }
  const files = { '/': ['text/html', () => '<!doctype html><video muted></video>'], '/barcode.js': ['text/javascript', () => readFileSync(SCRIPT)] };
  const server = createServer((request, response) => {
    const video = request.url.endsWith('.webm') ? ['video/webm', () => readFileSync(folder + request.url)] : null;
    const [kind, body] = files[request.url] ?? video ?? ['text/plain', () => ''];
    response.writeHead(200, { 'Content-Type': kind }).end(body());
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    for (const size of ['320x180', '640x360', '1280x720']) {
      const read = await page.evaluate(async size => {
        const { Reader } = await import('/barcode.js');
        const reader = new Reader(), video = document.querySelector('video'), read = [];
        video.src = `/${size}.webm`;
        const shown = (_, { width, height, mediaTime }) => {
          read.push({ number: reader.read(video, width, height), due: 1000 + Math.round(mediaTime * 30) });
          video.requestVideoFrameCallback(shown);
        };
        video.requestVideoFrameCallback(shown);
        await video.play();
        await new Promise(resolve => { video.onended = resolve; });
        return read;
      }, size);
      const right = read.filter(({ number }) => number !== null);
      assert.ok(read.length > 20 && right.length === read.length, `${size}: ${right.length} of ${read.length} pictures read`);
      // A page that is called late reads a picture later than the one it is called for; never an earlier or a made-up one.
      right.forEach(({ number, due }) => assert.ok(number >= due && number < 1060, `${size}: ${number} read, ${due} due`));
      assert.ok(right.filter(({ number, due }) => number === due).length > 0.5 * right.length, size);
    }
  } finally {
    await browser.close();
    server.close();
  }
});
