// `thalweg relay` and `thalweg call`: stock Chromium sends its camera, which other pages of stock Chromium show.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open, screenshot } from './support/browser.mjs';
import { launchWithCamera } from './support/camera.mjs';
import { metrics, percentile } from './support/measure.mjs';
import { serve } from './support/process.mjs';
import { thalweg } from './support/programs.mjs';

const PROGRAM = thalweg();
const skip = PROGRAM ? false : 'thalweg has not been built: cargo build --release -p thalweg-cli, or set THALWEG';

let browser, close;
before(async () => { if (PROGRAM) ({ browser, close } = await launchWithCamera()); });
after(() => close?.());

const start = (...args) => serve(PROGRAM, [...args, '--listen', '127.0.0.1:0', '--size', '640x360']);

// From now on the page reads the number of each picture of a video as it is shown: `window.read[selector]`, times of the machine's clock.
// The viewers' page makes its video when it knows what is published, which can be after it has loaded.
const read = async (page, selector, barcode) => (await page.waitForSelector(selector, { state: 'attached' })).evaluate(async (video, [selector, barcode]) => {
  const { Reader } = await import(barcode);
  const reader = new Reader();
  const seen = (window.read ??= {})[selector] = [];
  const shown = (_, { width, height, expectedDisplayTime }) => {
    video.requestVideoFrameCallback(shown);
    const atMs = performance.timeOrigin + Math.max(expectedDisplayTime, performance.now());
    seen.push({ number: reader.read(video, width, height), atMs });
  };
  video.requestVideoFrameCallback(shown);
}, [selector, barcode]);
const seen = (page, selector) => page.evaluate(selector => window.read[selector], selector);
const untilRead = (page, selector, count) => page.waitForFunction(([selector, count]) => window.read[selector].filter(({ number }) => number !== null).length >= count,
  [selector, count], { timeout: 60_000 });

// How many milliseconds after the sender's own page the other shows a picture. The preview takes some milliseconds too, and the clocks of
// two pages differ by some.
function latencies(own, other) {
  const taken = own.filter(({ number }) => number !== null);
  return other.flatMap(({ number, atMs }) => {
    // Ten seconds later the same number comes again.
    const source = taken.findLast(picture => picture.number === number && picture.atMs < atMs + 100 && picture.atMs > atMs - 8000);
    return source ? [atMs - source.atMs] : [];
  });
}

for (const [form, args] of [['encoded anew', []], ['passed through', ['--pass-through']]]) {
  test(`Chromium's camera is ${form} for a page that watches it`, { skip }, async () => {
    const server = await start('relay', ...args);
    const sender = await open(browser, `${server.address}send/?send&name=chromium`);
    const viewer = await open(browser, server.address);
    try {
      await read(sender, 'video', '/barcode.js');
      await read(viewer, 'video', '/barcode.js');
      await untilRead(viewer, 'video', 240);
      const [own, other] = [await seen(sender, 'video'), await seen(viewer, 'video')];
      await screenshot(viewer, `relay-${args.length ? 'passed' : 'encoded'}`);
      const metric = async path => metrics(await (await fetch(new URL(path, server.address))).text());
      const [viewers, senders] = [await metric('/metrics'), await metric('/send/metrics')];
      const { audio, video } = await viewer.evaluate(() => window.thalweg.viewers[0].statistics.at(-1));
      const asked = viewers['thalweg_upstream_keyframe_requests_total'];
      const came = senders['thalweg_frames_received_total{sender="chromium-1"}'];
      const late = latencies(own, other), [p50, p95] = [0.5, 0.95].map(share => percentile(late, share));
      const unread = other.filter(({ number }) => number === null).length;
      const seconds = (other.at(-1).atMs - other[0].atMs) / 1000;
      console.table({ [form]: { pictures: other.length, unread, fps: (other.length / seconds).toFixed(1), 'P50 ms': Math.round(p50), 'P95 ms': Math.round(p95), asked, audio: audio.packetsReceived } });

      assert.ok(unread <= 0.05 * other.length + 5, `${unread} of ${other.length} pictures could not be read`);
      assert.ok(other.length / seconds > 10, `${other.length} pictures in ${seconds} s`);
      assert.ok(late.length > 150 && p50 > -50 && p50 < 500 && p95 < 2000, `${late.length} pictures, half of them ${p50} ms late, 19 of 20 at most ${p95} ms`);
      assert.ok(audio.packetsReceived > 100 && audio.packetsLost <= 5, `${audio.packetsReceived} packets of audio, ${audio.packetsLost} lost`);
      assert.equal(viewers['thalweg_viewers'], 1);
      assert.equal(senders['thalweg_connected{sender="chromium-1"}'], 1);
      assert.ok(came > 150, `${came} frames came`);
      assert.ok(senders['thalweg_frames_undecodable_total{sender="chromium-1"}'] === 0 && video.framesDecoded <= came + 5, `${video.framesDecoded} of ${came}`);
      // One for the viewer's beginning, and then only where a frame was left out: three in nine seconds at most.
      assert.ok(asked <= 8 && (asked >= 1 || !args.length), `${asked} keyframes were asked for`);
      assert.deepEqual([sender.problems, viewer.problems], [[], []]);
      await sender.click('#send');
      assert.equal(await sender.textContent('#state'), 'Stopped.');
    } finally {
      await Promise.all([sender, viewer].map(page => page.context().close()));
      const { code } = await server.stop({ withinMs: 10_000 });
      assert.equal(code, 0, `it ends as it should when it is interrupted: ${server.errors()}`);
    }
  });
}

test('two call each other, each sees and hears the other, and a third has no place', { skip }, async () => {
  const server = await start('call', '--scheme', 'vidaptive', '--back-scheme', 'gcc');
  const [first, second] = [await open(browser, `${server.address}?begin`), await open(browser, server.address)];
  try {
    await first.waitForFunction(() => window.thalweg.call?.seat === 'a', null, { timeout: 20_000 });
    assert.match(await first.textContent('#notice'), /^(Nobody else is here yet\.)?$/);
    await second.click('#begin');
    await second.waitForFunction(() => window.thalweg.call?.seat === 'b', null, { timeout: 20_000 });
    const pages = [first, second];
    for (const page of pages) for (const selector of ['#own', '#other']) await read(page, selector, '/a/barcode.js');
    // A page that is drawn beside another reads some pictures on one side only.
    for (const page of pages) await untilRead(page, '#other', 150);
    await screenshot(first, 'call');
    const figures = {};
    for (const [name, page, from] of [['first', first, second], ['second', second, first]]) {
      const [own, other] = [await seen(from, '#own'), await seen(page, '#other')];
      const late = latencies(own, other), p50 = percentile(late, 0.5);
      const { audio } = await page.evaluate(() => window.thalweg.call.session.statistics());
      const unread = other.filter(({ number }) => number === null).length;
      figures[name] = { pictures: other.length, unread, 'P50 ms': Math.round(p50), 'P95 ms': Math.round(percentile(late, 0.95)), audio: audio.packetsReceived };
      assert.ok(unread <= 0.05 * other.length + 5, `${unread} of ${other.length} pictures could not be read`);
      assert.ok(late.length > 45 && p50 > -50 && p50 < 800, `${late.length} pictures, half of them ${p50} ms late`);
      assert.ok(audio.packetsReceived > 50, `${audio.packetsReceived} packets of audio`);
    }
    console.table(figures);
    const schemes = await Promise.all(['a', 'b'].map(async seat => Object.keys(metrics(await (await fetch(new URL(`/${seat}/metrics`, server.address))).text())).find(name => name.startsWith('thalweg_connected'))));
    assert.match(schemes[0], /scheme="vidaptive"/);
    assert.match(schemes[1], /scheme="gcc"/);

    const third = await open(browser, `${server.address}?begin`);
    await third.waitForFunction(() => /Two are in this call/.test(document.getElementById('going').textContent), null, { timeout: 10_000 });
    await third.context().close();

    // One leaves and comes back; the other stays.
    await second.click('#begin');
    await first.waitForFunction(() => /Nothing comes/.test(document.getElementById('notice').textContent), null, { timeout: 10_000 });
    const count = (await seen(first, '#other')).length;
    await second.click('#begin');
    await untilRead(first, '#other', count + 30);
    assert.deepEqual(first.problems, []);
  } finally {
    await Promise.all([first, second].map(page => page.context().close()));
    const { code } = await server.stop({ withinMs: 10_000 });
    assert.equal(code, 0, `it ends as it should when it is interrupted: ${server.errors()}`);
  }
});
