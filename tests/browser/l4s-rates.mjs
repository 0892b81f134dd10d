// Chromium's SCReAM v2 beside ours (`scream:libwebrtc`), one after the other over the same link to one `thalweg receive`, in one report: 640x360
// of the same pictures, RFC 8888 both. `l4s-rates.mjs [SECONDS [LINK]]`, a link by its name below; by the clock, so with a release build and nothing beside it. Fails if the
// rates over the link without marks differ by more than a tenth (docs/specs/l4s.md 6.2); those with marks are only shown.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { OUT, open } from './support/browser.mjs';
import { launchPlaying, numbered } from './support/camera.mjs';
import { CCFB, HOPS, SCREAM, scenario, unknownTrials, withTrials } from './support/l4s.mjs';
import { metrics } from './support/measure.mjs';
import { serve } from './support/process.mjs';
import { thalweg } from './support/programs.mjs';

const SECONDS = Number(process.argv[2] ?? 60);
// What comes before is the start.
const SETTLED_S = Math.min(20, SECONDS / 3);
const MOST = 0.1;
const LINKS = [
  { name: '3 Mbps', hops: [HOPS.plain('3Mbps')], scheme: 'scream:libwebrtc', judged: true },
  { name: '3 Mbps, ramp 10-20 ms', hops: [HOPS.ramp('3Mbps', 10, 20)], scheme: 'scream:libwebrtc+l4s' },
  { name: '10 Mbps, step 5 ms', hops: [HOPS.step('10Mbps', 5)], scheme: 'scream:libwebrtc+l4s' },
];

const links = LINKS.filter(({ name }) => name === (process.argv[3] ?? name));
if (!links.length) throw new Error(`there is no link '${process.argv[3]}': there is ${LINKS.map(({ name }) => name).join('; ')}`);
const program = thalweg();
if (!program) throw new Error('thalweg has not been built: cargo build --release -p thalweg-cli, or set THALWEG');
const folder = mkdtempSync(`${tmpdir()}/thalweg-l4s-`), clip = `${folder}/clip.y4m`;
writeFileSync(clip, numbered());
const browser = await launchPlaying(clip, withTrials(CCFB + SCREAM));

// Mbps on the wire of a sender from its settled part on, by one figure each half a second.
async function rate(address, name) {
  const rates = [];
  for (const began = performance.now(); performance.now() - began < 1000 * SECONDS; await setTimeout(500)) {
    const found = metrics(await (await fetch(new URL('/metrics', address))).text());
    const key = Object.keys(found).find(key => key.startsWith(`thalweg_wire_bytes_per_second{sender="${name}-`));
    if (key && performance.now() - began > 1000 * SETTLED_S) rates.push(8e-6 * found[key]);
  }
  return rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
}

async function chromium(address) {
  const page = await open(browser, `${address}?send&name=chromium&audio=none&max_rate=20000000`);
  await page.waitForFunction(() => document.getElementById('state').textContent === 'Sending.', null, { timeout: 30_000 });
  const mbps = await rate(address, 'chromium');
  await page.click('#send');
  await setTimeout(1000);
  await page.context().close();
  return mbps;
}

async function ours(address, scheme) {
  const args = ['publish', clip, '--audio', 'none', '--scheme', scheme, '--listen', '127.0.0.1:0', '--whip', new URL('/whip?name=ours', address).href];
  const child = spawn(program, args, { stdio: 'ignore' });
  const mbps = await rate(address, 'ours');
  child.kill('SIGINT');
  await once(child, 'exit');
  await setTimeout(1000);
  return mbps;
}

const rows = {}, wrong = [];
try {
  const unknown = await unknownTrials(browser);
  if (unknown) throw new Error(unknown);
  for (const { name, hops, scheme, judged } of links) {
    const file = `${folder}/link.toml`, out = `${OUT}/l4s-rates/${name.replaceAll(/[^a-z0-9]+/gi, '-')}`;
    writeFileSync(file, scenario(hops));
    mkdirSync(out, { recursive: true });
    const server = await serve(program, ['receive', '--listen', '127.0.0.1:0', '--feedback', 'ccfb', '--json', '--scenario', file, '--out', out]);
    const mbps = [await chromium(server.address), await ours(server.address, scheme)];
    await server.stop({ withinMs: 30_000 });
    const ended = server.output().trim().split('\n').map(line => JSON.parse(line));
    const difference = mbps[0] / mbps[1] - 1;
    for (const [index, who, of] of [[0, `Chromium ${browser.version()}`, 'chromium'], [1, scheme, 'ours']]) {
      const figures = ended.find(({ name }) => name.startsWith(of)), { up } = figures.link;
      const summary = JSON.parse(readFileSync(`${out}/${figures.name}/summary.json`, 'utf8'));
      rows[`${name}: ${who}`] = {
        Mbps: mbps[index].toFixed(2), difference: index ? '' : `${(100 * difference).toFixed(1)} %`, 'queue P50, P95 ms': `${up.queueing_p50_ms?.toFixed(0)}, ${up.queueing_p95_ms?.toFixed(0)}`,
        'latency P50, P95 ms': `${summary.latency_p50_ms?.toFixed(0)}, ${summary.latency_p95_ms?.toFixed(0)}`, fps: figures.frame_rate_fps.toFixed(1),
        'CE %': (100 * up.delivered_ecn.ce / up.delivered).toFixed(1), feedback: figures.feedback,
      };
    }
    if (judged && !(Math.abs(difference) <= MOST)) wrong.push(`over ${name} Chromium has ${(100 * difference).toFixed(1)} % more than ours, which is not within ${100 * MOST} %`);
    console.log(`${name}: ${out}/report.html`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
console.table(rows);
console.log(`load ${loadavg()[0].toFixed(1)}`);
for (const sentence of wrong) console.log(`FAILED: ${sentence}`);
process.exitCode = wrong.length ? 1 : 0;
