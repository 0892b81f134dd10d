// Which scheme shows more, and sooner: by the clock, so on a quiet machine and with a release build. `.ci/nightly contests` plays them; a machine
// that is busy elsewhere makes the encoder too slow for the rate that one of them sends at.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { measure, outside, skip } from './support/calls.mjs';

// `thalweg:standard-decoder` against what a browser would have otherwise (docs/thalweg.md), on the link of
// Vidaptive's figures and on one of the tuning set (docs/tuning/thalweg.toml).
// The bar of 1.5 times the video is missed on the former: 1.06 at 0.4 of the latency (docs/thalweg.md).
const CONTESTS = [
  { link: 'half a megabit, two and half again', name: 'half', args: ['--rate', '500kbps/2Mbps/500kbps@10s', '--delay', '25ms'], isSooner: true, times: 0.9 },
  // gcc comes as soon there in one run of two, with half of the video.
  { link: 'a recorded LTE link', name: 'lte', args: ['--up', 'Verizon-LTE-short.down', '--delay', '25ms'], isSooner: false, times: 1.1 },
];
process.env.THALWEG_DATA ??= fileURLToPath(new URL('../../../shared/data', import.meta.url));

for (const { link, name, args, isSooner, times } of CONTESTS) {
  // Three calls of half a minute: a shorter one is over before gcc has found the rate.
  test(`thalweg over ${link} has ${times} times the video of gcc, and no picture stands`, { skip }, async () => {
    const calls = {};
    for (const scheme of ['gcc', 'vidaptive', 'thalweg:standard-decoder']) {
      const { seen, counted, joinedMs, problems } = await measure(`${name}-${scheme.replace(':', '-')}`, ['--scheme', scheme, ...args], 30_000);
      assert.deepEqual(problems, []);
      const { video_mbps: video, too_slow } = counted;
      calls[scheme] = { video, p95: seen.latency_ms.p95, freezes: outside(seen.freezes, [joinedMs]), feedback: seen.feedback, too_slow: too_slow.join() };
    }
    console.table(calls);
    const { gcc, vidaptive, 'thalweg:standard-decoder': thalweg } = calls;
    assert.equal(thalweg.feedback, 'twcc-02', 'arrivals are reported on request');
    assert.deepEqual(thalweg.freezes, [], `no picture stands for half a second: ${thalweg.too_slow}`);
    assert.ok(thalweg.video > times * gcc.video, `${thalweg.video} Mbps of video, gcc has ${gcc.video}: ${thalweg.too_slow}`);
    const others = [gcc.p95, vidaptive.p95];
    const bound = isSooner ? gcc.p95 : 1.25 * Math.max(...others);
    assert.ok(thalweg.p95 > 50 && thalweg.p95 < bound, `19 of 20 pictures are at most ${thalweg.p95} ms late, of the others ${others}`);
  });
}
