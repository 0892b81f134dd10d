// Which of `gcc` and `thalweg` shows more, and sooner, in stock Chromium: by the clock, so on a quiet machine and with a release build.
// `.ci/nightly contests` plays each link once, ten minutes in all; RUNS=3 as often as docs/thalweg.md has it. Of 540 lines, which two cores
// encode, decode and draw in time: of 720 it is the machine that limits both (`too_slow`), as where it is busy elsewhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { measure, outside, skip } from './support/calls.mjs';
import { withScenario } from './support/scenario.mjs';

const RUNS = Number(process.env.RUNS ?? 1);
const POLICED = '[[forward.hops]]\npolicer = { rate = "2Mbps", bucket = "15kB" }\n[[forward.hops]]\ndelay = { delay = "25ms" }\n';
const lossy = percent => ['--rate', '3Mbps', '--delay', '25ms', '--loss', `${percent}%`];
// A link, the least of gcc's video that is asked for there, and the most of gcc's 95th percentile of latency. Not all of the video
// is reached yet (docs/thalweg.md, In stock Chromium). The first is the link of Vidaptive's figures, the second of the tuning set
// (docs/tuning/thalweg.toml), the third of its test set.
const CONTESTS = [
  { name: 'half', link: 'half a megabit, two and half again', args: ['--rate', '500kbps/2Mbps/500kbps@10s', '--delay', '25ms'], video: 0.9, latency: 0.8 },
  { name: 'lte', link: 'a recorded LTE link', args: ['--up', 'Verizon-LTE-short.down', '--delay', '25ms'], video: 1.1, latency: 0.8 },
  { name: 'mobile', link: 'another', args: ['--up', 'TMobile-LTE-short.down', '--delay', '25ms'], video: 1.1, latency: 0.85 },
  { name: 'policed', link: '2 Mbps by a policer with a bucket of 15 kB', scenario: POLICED, video: 0.9, latency: 0.9 },
  { name: 'small', link: '3 Mbps and 600 kbps in turn with a queue of 15 kB', args: ['--rate', '3Mbps/600kbps/3Mbps/600kbps@8s', '--queue', '15kB', '--delay', '25ms'], video: 0.9, latency: 0.6 },
  { name: 'lossy-1', link: '3 Mbps with 1 % of loss', args: lossy(1), video: 0.9, latency: 0.85 },
  { name: 'lossy-5', link: '3 Mbps with 5 % of loss', args: lossy(5), video: 0.9, latency: 0.8 },
  { name: 'lossy-10', link: '3 Mbps with 10 % of loss', args: lossy(10), video: 0.9, latency: 0.9 },
];
process.env.THALWEG_DATA ??= fileURLToPath(new URL('../../../shared/data', import.meta.url));

for (const { name, link, args, scenario, video: least, latency: most } of CONTESTS) {
  for (let run = 1; run <= RUNS; run++) {
    test(`thalweg over ${link} has ${least} times the video of gcc or more, and no picture stands (${run} of ${RUNS})`, { skip }, async () => {
      const calls = {};
      for (const scheme of ['gcc', 'thalweg']) {
        // Half a minute: a shorter call is over before gcc has found the rate.
        const play = args => measure(`${name}-${scheme}-${run}`, ['--scheme', scheme, ...args], 30_000, { size: '540p' });
        const { seen, counted, joinedMs, problems } = await (args ? play(args) : withScenario(scenario, file => play(['--scenario', file])));
        assert.deepEqual(problems, []);
        calls[scheme] = {
          video: counted.video_mbps, p95: seen.latency_ms.p95, freezes: outside(seen.freezes, [joinedMs]), feedback: seen.feedback,
          too_slow: counted.too_slow.join(),
        };
      }
      console.table(calls);
      const { gcc, thalweg } = calls;
      assert.equal(thalweg.feedback, 'twcc-02', 'arrivals are reported on request');
      assert.deepEqual(thalweg.freezes, [], `no picture stands for half a second: ${thalweg.too_slow}`);
      assert.ok(thalweg.video > least * gcc.video, `${thalweg.video} Mbps of video, gcc has ${gcc.video}: ${thalweg.too_slow}`);
      assert.ok(thalweg.p95 > 50 && thalweg.p95 < most * gcc.p95, `19 of 20 pictures are at most ${thalweg.p95} ms late, those of gcc ${gcc.p95}`);
    });
  }
}
