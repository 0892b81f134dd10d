// The whole thing: `thalweg publish` over an emulated link into stock Chromium, measured from the barcodes of the pictures it shows.
// THALWEG names the program (a release build: a camera, an encoder and a browser are much for two cores), SCHEMES which schemes.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { OUT, launch, open, screenshot } from './support/browser.mjs';
import { metrics, summary } from './support/measure.mjs';
import { thalweg } from './support/programs.mjs';
import { serve } from './support/process.mjs';

const PROGRAM = thalweg();
const SCHEMES = (process.env.SCHEMES ?? 'gcc,vidaptive,camel').split(',');
// 3 Mbps and 25 ms each way; from the 10th second of the link, which begins with the camera, to the 20th it has 1 Mbps.
const STEP = { args: ['--rate', '3Mbps/1Mbps/3Mbps@10s', '--delay', '25ms'], changesMs: [10_000, 20_000], lengthMs: 28_000 };
// How long after a change, and after the first picture, a viewer may see a picture stand.
const SETTLING_MS = 3000;
const skip = PROGRAM ? false : 'thalweg has not been built: cargo build --release -p thalweg-cli, or set THALWEG';

let browser;
const results = {};
before(async () => { browser = PROGRAM ? await launch() : null; });
after(async () => {
  await browser?.close();
  if (!Object.keys(results).length) return;
  mkdirSync(OUT, { recursive: true });
  writeFileSync(`${OUT}/publish.json`, `${JSON.stringify(results, null, 2)}\n`);
  console.table(Object.fromEntries(Object.entries(results).map(([name, { seen, counted }]) => [name, {
    sent: seen.sent, decoded: seen.decoded, 'share %': +(100 * seen.decoded_share).toFixed(1), 'wire Mbps': +seen.wire_mbps?.toFixed(2),
    'P50 ms': Math.round(seen.latency_ms.p50), 'P95 ms': Math.round(seen.latency_ms.p95), freezes: seen.freezes.length,
    lost: seen.packets_lost, RTX: seen.retransmitted_packets, NACKs: seen.nacks, 'acknowledged %': +(100 * counted.acknowledged).toFixed(1),
  }])));
});

const publish = (...args) => serve(PROGRAM, ['publish', 'scene', '--size', '720p', '--listen', '127.0.0.1:0', ...args]);

// What one viewer sees and the publisher counts until the camera has run for `untilMs`.
async function measure(name, args, untilMs) {
  const server = await publish(...args);
  const page = await open(browser, server.address);
  try {
    await page.waitForFunction(() => window.thalweg?.viewers[0].frames.length > 0, null, { timeout: 20_000 });
    const left = await page.evaluate(ms => window.thalweg.about.epoch_ms + ms - window.thalweg.clock.publisher(performance.now()), untilMs);
    await page.waitForTimeout(Math.max(left, 0));
    await screenshot(page, name);
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
    const counted = {
      packets: total('thalweg_sent_packets_total'),
      repair: Object.entries(counts).filter(([key]) => key.startsWith('thalweg_sent_packets_total') && key.includes('"repair"')).reduce((sum, [, value]) => sum + value, 0),
      filler: Object.entries(counts).filter(([key]) => key.startsWith('thalweg_sent_packets_total') && key.includes('"filler"')).reduce((sum, [, value]) => sum + value, 0),
      acknowledged: (total('thalweg_packets_arrived_total') + total('thalweg_packets_lost_total')) / total('thalweg_sent_packets_total'),
      nacks: total('thalweg_nacks_total'),
    };
    const seen = summary(measured);
    // Of the camera's time.
    seen.freezes.forEach(freeze => { freeze.fromMs -= epoch; });
    const joinedMs = measured.frames[0].shownAtMs - epoch;
    results[name] = { seen, counted, joinedMs };
    return { seen, counted, joinedMs, problems: page.problems };
  } finally {
    await page.context().close();
    const { code } = await server.stop();
    assert.equal(code, 0, `${name}: it ends as it should when it is interrupted: ${server.errors()}`);
  }
}

const outside = (freezes, moments) =>
  freezes.filter(({ fromMs, lengthMs }) => !moments.some(at => fromMs + lengthMs > at && fromMs < at + SETTLING_MS));

for (const scheme of SCHEMES) {
  test(`${scheme} over 3 Mbps with ten seconds of 1 Mbps`, { skip }, async () => {
    const { seen, counted, joinedMs, problems } = await measure(`step-${scheme}`, ['--scheme', scheme, ...STEP.args], STEP.lengthMs);
    assert.deepEqual(problems, []);
    assert.ok(seen.sent + seen.skipped > 20 * 20, `${seen.sent} pictures were sent in ${STEP.lengthMs} ms: this machine is too slow or too busy for 30 a second`);
    assert.ok(seen.decoded_share >= 0.97 && seen.decoded_share <= 1.01, `${seen.decoded} of ${seen.sent} pictures were decoded`);
    assert.deepEqual(outside(seen.freezes, [joinedMs, ...STEP.changesMs]), [], 'no picture stands for half a second but at a step');
    const { p50, p95 } = seen.latency_ms;
    assert.ok(p50 > 25 && p50 < 400 && p95 < 4000, `half of all pictures are ${p50} ms late, 19 of 20 at most ${p95} ms`);
    // Everything sent is acknowledged or taken for lost: media, repair and filler alike. The last of it is still under way.
    assert.ok(counted.acknowledged > 0.95 && counted.acknowledged <= 1, `${counted.acknowledged} of all packets`);
    assert.match(seen.feedback, /^twcc-02$/);
  });
}

test('two packets of a hundred lost are repaired by repeats', { skip }, async () => {
  const { seen, counted, joinedMs } = await measure('loss', ['--scheme', 'gcc', '--rate', '3Mbps', '--delay', '25ms', '--loss', '0.02'], 20_000);
  assert.ok(seen.nacks > 0 && counted.nacks > 0, `${seen.nacks} requests for repeats were sent, ${counted.nacks} heard`);
  // The browser counts filler too, which comes on the same stream.
  assert.ok(counted.repair > 0, 'repeats were sent');
  assert.ok(seen.retransmitted_packets >= 0.9 * counted.repair, `${seen.retransmitted_packets} of ${counted.repair} repeats came`);
  assert.ok(seen.decoded_share >= 0.97, `${seen.decoded} of ${seen.sent} pictures were decoded`);
  assert.deepEqual(outside(seen.freezes, [joinedMs]), []);
});

test('a publisher that is killed and comes back is watched again', { skip }, async () => {
  const first = await publish('--scheme', 'gcc');
  const page = await open(browser, first.address);
  try {
    const shown = count => page.waitForFunction(count => window.thalweg?.viewers[0].frames.length >= count, count, { timeout: 40_000 });
    await shown(30);
    await first.stop({ withinMs: 0 });
    await page.waitForFunction(() => document.querySelector('.notice').textContent !== '', null, { timeout: 20_000 });
    const before = await page.evaluate(() => window.thalweg.viewers[0].frames.length);
    const second = await serve(PROGRAM, ['publish', 'scene', '--size', '720p', '--listen', new URL(first.address).host, '--scheme', 'gcc']);
    try {
      await shown(before + 30);
      assert.equal(await page.textContent('.notice'), '');
    } finally {
      await second.stop();
    }
  } finally {
    await page.context().close();
    await first.stop();
  }
});
