// Calls of `thalweg publish` to stock Chromium over an emulated link, measured from the barcodes of the pictures it shows. THALWEG names the
// program (a release build: a camera, an encoder and a browser are much for two cores).

import { mkdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { OUT, launch, open, screenshot } from './browser.mjs';
import { metrics, summary } from './measure.mjs';
import { thalweg } from './programs.mjs';
import { serve } from './process.mjs';

export const PROGRAM = thalweg();
export const skip = PROGRAM ? false : 'thalweg has not been built: cargo build --release -p thalweg-cli, or set THALWEG';
// How long after a change, and after the first picture, a viewer may see a picture stand.
const SETTLING_MS = 3000;

// The browser of all of a file's calls, from before its first test until after its last.
export let browser;
const results = {};
before(async () => { browser = PROGRAM ? await launch() : null; });
after(async () => {
  await browser?.close();
  if (!Object.keys(results).length) return;
  mkdirSync(OUT, { recursive: true });
  writeFileSync(`${OUT}/${basename(process.argv[1], '.test.mjs')}.json`, `${JSON.stringify(results, null, 2)}\n`);
  console.table(Object.fromEntries(Object.entries(results).map(([name, { seen, counted }]) => [name, {
    sent: seen.sent, decoded: seen.decoded, 'share %': +(100 * seen.decoded_share).toFixed(1), 'wire Mbps': +seen.wire_mbps?.toFixed(2),
    'P50 ms': Math.round(seen.latency_ms.p50), 'P95 ms': Math.round(seen.latency_ms.p95), freezes: seen.freezes.length,
    lost: seen.packets_lost, RTX: seen.retransmitted_packets, NACKs: seen.nacks, FEC: seen.fec_packets ?? seen.fec_in_red, 'acknowledged %': +(100 * counted.acknowledged).toFixed(1),
  }])));
});

export const shown = (page, count, viewer = 0) =>
  page.waitForFunction(([count, viewer]) => window.thalweg?.viewers[viewer]?.frames.length >= count, [count, viewer], { timeout: 40_000 });
// Latency is read from the pictures: what a viewer sees is measured without trust in the sender.
export const publish = (args, size = '720p', barcode = ['--barcode']) =>
  serve(PROGRAM, ['publish', 'scene', '--size', size, '--listen', '127.0.0.1:0', ...barcode, ...args]);

// What one viewer sees and the publisher counts until the camera has run for `untilMs`. `before` runs in the page before its scripts; what
// `leave(page)` finds at the end comes along.
export async function measure(name, args, untilMs, { size = '720p', before = null, leave = async () => null } = {}) {
  const server = await publish(args, size);
  const page = await open(browser, server.address, { before });
  try {
    await page.waitForFunction(() => window.thalweg?.viewers[0].frames.length > 0, null, { timeout: 20_000 });
    const left = await page.evaluate(ms => window.thalweg.about.epoch_ms + ms - window.thalweg.clock.publisher(performance.now()), untilMs);
    await page.waitForTimeout(Math.max(left, 0));
    // Both counts at the same moment, as well as that goes: the browser's first, and what was sent by then.
    await page.evaluate(() => new Promise(resolve => {
      const { statistics } = window.thalweg.viewers[0], { length } = statistics;
      const poll = setInterval(() => { if (statistics.length > length) { clearInterval(poll); resolve(); } }, 20);
    }));
    const { measured, epoch, problems } = await page.evaluate(() => ({
      measured: window.thalweg.viewers[0],
      epoch: window.thalweg.about.epoch_ms - window.thalweg.clock.publisher(0),
    }));
    const text = await (await fetch(new URL('/metrics', server.address))).text();
    const counts = metrics(text);
    const total = family => Object.entries(counts).filter(([key]) => key.startsWith(family)).reduce((sum, [, value]) => sum + value, 0);
    const of = (family, payload) => Object.entries(counts).filter(([key]) => key.startsWith(family) && key.includes(payload)).reduce((sum, [, value]) => sum + value, 0);
    const counted = {
      packets: total('thalweg_sent_packets_total'),
      repair: of('thalweg_sent_packets_total', '"repair"'),
      padding: of('thalweg_sent_packets_total', '"padding"'),
      video_mbps: 8e-3 * of('thalweg_sent_bytes_total', '"media"') / untilMs,
      too_slow: Object.entries(counts).filter(([key, value]) => key.startsWith('thalweg_too_slow') && value > 0).map(([key]) => key),
      acknowledged: (total('thalweg_packets_arrived_total') + total('thalweg_packets_lost_total')) / total('thalweg_sent_packets_total'),
      nacks: total('thalweg_nacks_total'),
    };
    // Not before: a page whose picture is taken shows no frame for half a second.
    await screenshot(page, name);
    const seen = summary(measured);
    // Of the camera's time.
    seen.freezes.forEach(freeze => { freeze.fromMs -= epoch; });
    const joinedMs = measured.frames[0].shownAtMs - epoch;
    results[name] = { seen, counted, joinedMs };
    return { seen, counted, joinedMs, problems: [...page.problems], left: await leave(page) };
  } finally {
    await page.context().close();
    const { code } = await server.stop();
    assert.equal(code, 0, `${name}: it ends as it should when it is interrupted: ${server.errors()}`);
  }
}

// Those of `freezes` that no part of the SETTLING_MS after any of `moments` falls into.
export const outside = (freezes, moments) =>
  freezes.filter(({ fromMs, lengthMs }) => !moments.some(at => fromMs + lengthMs > at && fromMs < at + SETTLING_MS));
