// `thalweg blackbox`: stock Chromium calls itself over an emulated link, and what is measured of it is plausible on both sides.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { thalweg } from './support/programs.mjs';

const PROGRAM = thalweg();
const skip = PROGRAM ? false : 'thalweg has not been built: make programs';
const SECONDS = 12;

let folder;
before(() => { folder = mkdtempSync(`${tmpdir()}/thalweg-blackbox-`); });
after(() => rmSync(folder, { recursive: true, force: true }));

// A loaded machine's call is shown and named invalid: what is asserted of it holds on one too.
async function measured(name, ...options) {
  const out = `${folder}/${name}`;
  const args = ['blackbox', '--runs', '1', '--attempts', '1', '--keep-invalid', '--duration', `${SECONDS}s`, '--json', '--quiet', '--out', out, ...options];
  const { stdout } = await promisify(execFile)(PROGRAM, args, { env: { ...process.env, TMPDIR: folder }, maxBuffer: 1 << 26 });
  return { out, ...JSON.parse(stdout) };
}

const within = (value, low, high, what) => assert.ok(value > low && value < high, `${what} is ${value}, must be between ${low} and ${high}`);

test('Chromium is a row beside gcc, with pictures, packets and its own statistics', { skip }, async () => {
  const { out, runs } = await measured('vp8', '--rate', '2Mbps', '--queue', '300ms', '--with', 'gcc', '--encoder', 'model');
  const [chromium, gcc] = runs;
  assert.match(chromium.scheme, /^chromium( \(invalid\))?$/);
  assert.equal(gcc.scheme, 'gcc');
  for (const run of runs) {
    assert.equal(run.duration_s, SECONDS);
    within(run.wire_bitrate_bps, 0.4e6, 2.1e6, `${run.scheme}: the wire rate`);
    within(run.video_bitrate_bps, 0.3e6, run.wire_bitrate_bps, `${run.scheme}: the video rate`);
    within(run.frame_rate_fps, 12, 31, `${run.scheme}: frames a second`);
    // More than the path's delay; the queue is as long as 300 ms.
    within(run.latency_p50_ms, 25, 1000, `${run.scheme}: the median latency`);
    within(run.latency_p95_ms, run.latency_p50_ms, 3000, `${run.scheme}: the latency at 95 %`);
    within(run.one_way_delay_mean_ms, 25, 400, `${run.scheme}: the one-way delay`);
    within(run.utilization, 0.2, 1.01, `${run.scheme}: the utilisation`);
  }
  assert.equal(chromium.live, true);
  assert.match(chromium.codec, /VP8/);
  assert.equal(chromium.video_size, '640x360');
  const { details, attempts: [{ figures, failures }] } = JSON.parse(readFileSync(`${out}/${readdirSync(out).find(name => name.startsWith('chromium'))}/program.json`));
  console.log(JSON.stringify({ figures, failures, wire: chromium.wire_bitrate_bps, p50: chromium.latency_p50_ms, p95: chromium.latency_p95_ms, fps: chromium.frame_rate_fps }));
  assert.equal(chromium.scheme.includes('invalid'), failures.length > 0);
  assert.match(details.program, /Chromium/);
  within(figures.camera_ratio, 0.5, 1.05, 'the share of the camera\'s pictures');
  within(figures.legible_ratio, 0.9, 1.001, 'the share of legible numbers');
  within(details.statistics.length, 1.5 * SECONDS, 2 * SECONDS + 12, 'lines of getStats');
  // What the relay counted is what the sender says that it sent.
  const sent = details.statistics.filter(({ part, at_s: at }) => part === 'sender' && at < SECONDS).at(-1);
  const bits = 8 * (sent.rtp.bytesSent + sent.rtp.headerBytesSent) / sent.at_s;
  within(chromium.wire_bitrate_bps / bits, 0.85, 1.25, 'the relay\'s rate over the sender\'s own');
});

test('spatial and temporal layers are those that were asked for', { skip }, async () => {
  const { runs: [run] } = await measured('svc', '--rate', '3Mbps', '--codec', 'vp9-svc');
  assert.match(run.scheme, /^chromium:vp9-svc/);
  // libwebrtc makes no layer below 240x135 (svc_config.cc): of 640x360 it makes two.
  assert.match(run.codec, /VP9 L2T3/);
  within(run.frame_rate_fps, 5, 31, 'frames a second');
});

test('nothing is left: no process, no folder', { skip }, () => {
  assert.deepEqual(readdirSync(folder).filter(name => !['vp8', 'svc'].includes(name)), []);
  const mine = readdirSync('/proc').filter(name => /^\d+$/.test(name)).filter(pid => {
    try { return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder); } catch { return false; }
  });
  assert.deepEqual(mine, []);
  assert.ok(existsSync(folder));
});
