// L4S with an unmodified Chromium behind its field trials, as viewer of `thalweg publish` and as sender to `thalweg receive`: every packet is
// counted by its ECN field in the browser, on the emulated link and here, and the counts are equal. Four minutes: each row of
// docs/specs/l4s.md 5.3 is a call of some seconds, after which everything has to be reported.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { OUT, launch, open } from './support/browser.mjs';
import { launchPlaying, numbered } from './support/camera.mjs';
import { CCFB, HOPS, SCREAM, counted, freePort, judge, keepAnswers, scenario, total, unknownTrials, withTrials } from './support/l4s.mjs';
import { serve } from './support/process.mjs';
import { thalweg } from './support/programs.mjs';

const PROGRAM = thalweg();
const skip = PROGRAM ? false : 'thalweg has not been built: cargo build --release -p thalweg-cli, or set THALWEG';
// How long after the last packet everything has come and has been reported: receiver reports take a second, the browser's figures another.
const QUIET_MS = 3500;

let folder, camera, clip, viewing, unknown;
const rows = {};
before(async () => {
  if (!PROGRAM) return;
  folder = mkdtempSync(`${tmpdir()}/thalweg-l4s-`);
  [camera, clip] = [`${folder}/camera.y4m`, numbered()];
  writeFileSync(camera, clip);
  viewing = await launch(withTrials(CCFB));
  unknown = await unknownTrials(viewing);
});
after(async () => {
  await viewing?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
  if (!Object.keys(rows).length) return;
  mkdirSync(OUT, { recursive: true });
  writeFileSync(`${OUT}/l4s.json`, `${JSON.stringify(rows, null, 2)}\n`);
  console.table(rows);
});

const HEADER = () => clip.indexOf('\n') + 1;

// Writes a picture each 33 ms until it is stopped.
function feed(input) {
  const begin = HEADER(), length = 640 * 360 * 1.5 + 'FRAME\n'.length, count = (clip.length - begin) / length;
  assert.equal(count, 300, 'pictures in the clip');
  const at = performance.now();
  let fed = 0;
  const timer = setInterval(() => {
    for (; fed < (performance.now() - at) * 0.03; fed++) input.write(clip.subarray(begin + fed % count * length, begin + (fed % count + 1) * length));
  }, 10);
  return () => clearInterval(timer);
}

// What Chromium, the publisher and an emulator between them count of a scheme that has sent for so long; everything has arrived.
async function watched(scheme, seconds, link) {
  const [port, advertised] = [await freePort(), await freePort()].map(port => `127.0.0.1:${port}`);
  const emulator = await serve(PROGRAM, ['emulate', '--json', '--listen', advertised, '--to', port, ...link], { says: /from \S+ to \S+/ });
  let server, page, stopFeeding = () => {};
  try {
    const args = ['--scheme', scheme, '--listen', '127.0.0.1:0', '--udp', port, '--advertise', advertised];
    server = await serve(PROGRAM, ['publish', '-', '--audio', 'none', ...args], { given: clip.subarray(0, HEADER()) });
    stopFeeding = feed(server.input);
    page = await open(viewing, server.address, { before: keepAnswers });
    await page.waitForFunction(() => window.thalweg?.viewers[0].frames.length > 0, null, { timeout: 30_000 });
    await page.waitForTimeout(1000 * seconds);
    stopFeeding();
    await page.waitForTimeout(QUIET_MS);
    const { video, ours, answers } = await page.evaluate(() => {
      const { statistics, figures } = window.thalweg.viewers[0];
      return { video: statistics.at(-1).video, ours: figures.at(-1), answers: window.answers };
    });
    await page.context().close();
    assert.equal((await server.stop()).code, 0, server.errors());
    assert.equal((await emulator.stop()).code, 0, emulator.errors());
    return { theirs: counted([video]), ours, answer: answers[0], link: JSON.parse(emulator.output()) };
  } finally {
    stopFeeding();
    await page?.context().close();
    await server?.stop();
    await emulator.stop();
  }
}

for (const scheme of ['scream+l4s', 'gcc+l4s']) {
  test(`${scheme} sends ECT(1), the link marks, and Chromium, link and publisher count the same`, { skip }, async t => {
    if (judge(t, viewing, unknown)) return;
    const { theirs, ours, answer, link } = await watched(scheme, 12, ['--rate', '800kbps', '--aqm', 'ramp', '--delay', '10ms']);
    const { down, up } = link, { ect1, ce } = down.delivered_ecn;
    rows[`${scheme} to Chromium`] = { sent: total(ours.sent_by_ecn), 'as ECT(1)': ours.sent_by_ecn.ect1, 'came ECT(1)': theirs.cameEct1, 'came CE': theirs.cameCe, 'reports as ECT(1)': up.ecn.ect1 };
    assert.match(answer, /a=rtcp-fb:\d+ ack ccfb/);
    assert.doesNotMatch(answer, /transport-cc|transport-wide/);
    assert.equal(ours.feedback_kind, 'rfc8888');
    assert.deepEqual(ours.sent_by_ecn, { not_ect: 0, ect1: down.ecn.ect1, ect0: 0, ce: 0 }, 'all that was sent came to the link as ECT(1)');
    assert.ok(ours.sent_by_ecn.ect1 > 200 && ce > 2, `${ce} of ${ours.sent_by_ecn.ect1} were marked`);
    assert.equal(total(down.marked), ce, 'marks by reason');
    assert.deepEqual([theirs.cameEct1, theirs.cameCe], [ect1, ce], 'what left the link came to Chromium');
    assert.deepEqual([ours.arrived_by_ecn.ect1, ours.arrived_by_ecn.ce], [ect1, ce], 'and was reported');
    assert.deepEqual([ours.arrived_by_ecn.not_ect, ours.arrived_by_ecn.ect0], [0, 0]);
    // Chromium's RTCP answers in kind; ours, which no media comes to, and checks and handshake do not.
    assert.ok(up.ecn.ect1 > 40 && up.ecn.ce + up.ecn.ect0 === 0, JSON.stringify(up.ecn));
    assert.ok(down.ecn.not_ect > 5 && down.ecn.ect0 === 0, JSON.stringify(down.ecn));
  });
}

test('a scheme without +l4s sends no packet with bits, and none comes back', { skip }, async t => {
  if (judge(t, viewing, unknown)) return;
  const { theirs, ours, link } = await watched('scream', 5, ['--rate', '1500kbps', '--aqm', 'ramp', '--delay', '10ms']);
  rows['scream to Chromium'] = { sent: total(ours.sent_by_ecn), 'as ECT(1)': ours.sent_by_ecn.ect1, 'came ECT(1)': theirs.cameEct1, 'came CE': theirs.cameCe, 'reports as ECT(1)': link.up.ecn.ect1 };
  assert.ok(ours.sent_by_ecn.not_ect > 200, `${ours.sent_by_ecn.not_ect} packets`);
  for (const { ect1, ect0, ce } of [ours.sent_by_ecn, link.down.ecn, link.up.ecn, link.down.delivered_ecn, link.up.delivered_ecn]) assert.deepEqual([ect1, ect0, ce], [0, 0, 0]);
  assert.deepEqual([theirs.cameEct1, theirs.cameCe], [0, 0]);
});

// What Chromium, the receiver and the link between them count of its camera and its microphone, which have sent for so long; everything has
// arrived.
async function received(browser, name, hops, seconds) {
  const file = `${folder}/${name}.toml`;
  writeFileSync(file, scenario(hops));
  const server = await serve(PROGRAM, ['receive', '--listen', '127.0.0.1:0', '--json', '--no-decode', '--scenario', file]);
  let page;
  try {
    page = await open(browser, `${server.address}?send&name=chromium&max_rate=8000000`, { before: keepAnswers });
    await page.waitForFunction(() => document.getElementById('state').textContent === 'Sending.', null, { timeout: 30_000 });
    await page.waitForTimeout(1000 * seconds);
    const rate = await page.evaluate(async () => {
      const { peer } = window.thalweg.sending;
      for (const sender of peer.getSenders()) {
        const parameters = sender.getParameters();
        parameters.encodings.forEach(encoding => { encoding.active = false; });
        await sender.setParameters(parameters);
      }
      return window.thalweg.figures.at(-1).wire_bps / 1e6;
    });
    await page.waitForTimeout(QUIET_MS);
    const [all, ours, answer] = await page.evaluate(async () => {
      const entries = [...(await window.thalweg.sending.peer.getStats()).values()];
      return [entries, window.thalweg.figures.at(-1), window.answers[0]];
    });
    // The counts of the link come when the sender has left.
    await page.click('#send');
    await page.waitForTimeout(500);
    await page.context().close();
    assert.equal((await server.stop({ withinMs: 10_000 })).code, 0, server.errors());
    const { link } = JSON.parse(server.output().trim().split('\n').at(-1));
    const { packets_by_ecn, retransmissions_by_ecn, feedback } = ours;
    return { theirs: counted(all), ours: packets_by_ecn, again: retransmissions_by_ecn, feedback, answer, link, rate };
  } finally {
    await page?.context().close();
    await server.stop({ withinMs: 10_000 });
  }
}

// docs/specs/l4s.md 5.3: field trials, the link's hops, and what is to be: whether packets leave as ECT(1) (none, all, or this many at most and then
// none; `atLeast` one or so many), the reports that are agreed on, and whether they come back as ECT(1).
const BOTH = CCFB + SCREAM;
const ROWS = [
  ['no trials', '', [], { ect1: 0, feedback: 'twcc', reports: 0 }],
  ['SCReAM without RFC 8888', 'WebRTC-Bwe-ScreamV2/mode:always/', [HOPS.plain('3Mbps')], { ect1: 0, feedback: 'twcc', reports: 0 }],
  ['RFC 8888', CCFB, [], { ect1: 0, feedback: 'ccfb', reports: 0 }],
  ['RFC 8888 over 3 Mbps', CCFB, [HOPS.plain('3Mbps')], { ect1: 0, feedback: 'ccfb', reports: 0 }],
  ['mode only_after_ce', `${CCFB}WebRTC-Bwe-ScreamV2/mode:only_after_ce/`, [HOPS.ramp('3Mbps', 10, 20)], { ect1: 0, feedback: 'ccfb', reports: 0 }],
  ['mode goog_cc_with_ect1', `${CCFB}WebRTC-Bwe-ScreamV2/mode:goog_cc_with_ect1/`, [HOPS.ramp('3Mbps', 10, 20)], { ect1: 0, feedback: 'ccfb', reports: 0 }],
  ['both', BOTH, [], { ect1: 'all', feedback: 'ccfb', reports: 1 }],
  ['both over a path that clears the field', BOTH, [HOPS.bleach], { ect1: 60, feedback: 'ccfb', reports: 0 }],
  ['both over a path that drops ECT(1)', BOTH, [HOPS.drop], { ect1: 60, feedback: 'ccfb', reports: 0 }],
  // ECT(1) is tried once more after 10 s (the policy's `retry`).
  ['both over a path that drops ECT(1), for 20 s', BOTH, [HOPS.drop], { ect1: 800, atLeast: 61, feedback: 'ccfb', reports: 0, seconds: 20 }],
  ['both over 3 Mbps', BOTH, [HOPS.plain('3Mbps')], { ect1: 'all', feedback: 'ccfb', reports: 1 }],
  ['both over 3 Mbps, ramp 10-20 ms', BOTH, [HOPS.ramp('3Mbps', 10, 20)], { ect1: 'all', feedback: 'ccfb', reports: 1, marks: true }],
  ['both over 10 Mbps, ramp 10-20 ms', BOTH, [HOPS.ramp('10Mbps', 10, 20)], { ect1: 'all', feedback: 'ccfb', reports: 1 }],
  ['both over 3 Mbps, step 5 ms', BOTH, [HOPS.step('3Mbps', 5)], { ect1: 'all', feedback: 'ccfb', reports: 1, marks: true }],
  ['both over 10 Mbps, step 1 ms', BOTH, [HOPS.step('10Mbps', 1)], { ect1: 'all', feedback: 'ccfb', reports: 1, marks: true }],
];
const SECONDS = 8;
// One of each kind with every change; all of them, four minutes, with ROWS=all (`make test-l4s`).
const EACH_CHANGE = ['no trials', 'RFC 8888 over 3 Mbps', 'both', 'both over a path that clears the field', 'both over 3 Mbps, ramp 10-20 ms'];
const PLAYED = ROWS.filter(([name]) => process.env.ROWS === 'all' || EACH_CHANGE.includes(name));

for (const trials of new Set(PLAYED.map(([, trials]) => trials))) {
  test(`Chromium sends with ${trials || 'no field trials'}`, { skip }, async t => {
    const browser = await launchPlaying(camera, withTrials(trials));
    try {
      if (trials.includes(CCFB) && judge(t, browser, await unknownTrials(browser))) return;
      for (const [name, , hops, expected] of PLAYED.filter(row => row[1] === trials)) {
        await t.test(name, async t => {
          const { theirs, ours, again, feedback, answer, link, rate } = await received(browser, name.replaceAll(/[^a-z0-9]+/gi, '-'), hops, expected.seconds ?? SECONDS);
          const { up, down } = link;
          rows[name] = { sent: theirs.sent, 'as ECT(1)': theirs.sentEct1, 'came ECT(1)': ours.ect1, 'came CE': ours.ce, 'reports as ECT(1)': down.ecn.ect1, feedback, 'Mbps': +rate.toFixed(2) };
          // The columns of the table.
          assert.ok(theirs.sent > 200, `${theirs.sent} packets`);
          if (expected.ect1 === 'all' && theirs.sentEct1 === 0) {
            judge(t, browser, `Chromium ${browser.version()} sends no ECT(1) with ${trials}: the trial of SCReAM v2 has changed, or is gone. L4S with Chromium is NOT tested.`);
            return;
          }
          if (expected.ect1 === 'all') assert.equal(theirs.sentEct1, theirs.sent, 'all leave as ECT(1)');
          else assert.ok(theirs.sentEct1 <= expected.ect1 && theirs.sentEct1 >= (expected.atLeast ?? Math.min(1, expected.ect1)), `${theirs.sentEct1} of ${theirs.sent} left as ECT(1)`);
          assert.equal(feedback, expected.feedback);
          assert.equal(/transport-cc|transport-wide/.test(answer), expected.feedback === 'twcc');
          assert.equal(/ack ccfb/.test(answer), expected.feedback === 'ccfb');
          // Receiver reports and answers to checks are beside them: the first leave before media, the others never say ECT.
          assert.ok(expected.reports ? down.ecn.ect1 > 100 : down.ecn.ect1 === 0, JSON.stringify(down.ecn));
          assert.deepEqual([down.ecn.ect0, down.ecn.ce], [0, 0]);
          // Everybody counts the same: Chromium what it sent, the link what came and left, the receiver, and Chromium by the reports.
          assert.equal(up.ecn.ect1, theirs.sentEct1, 'ECT(1) that came to the link');
          assert.deepEqual([ours.ect1, ours.ce, ours.ect0], [up.delivered_ecn.ect1, up.delivered_ecn.ce, 0], 'what left the link came');
          // Chromium's figures of reports are of media alone, without retransmissions and the padding among them.
          if (feedback === 'ccfb') assert.deepEqual([theirs.reportedEct1, theirs.reportedCe], [ours.ect1 - again.ect1, ours.ce - again.ce], 'and was reported');
          assert.ok(!expected.marks || ours.ce > 10, `${ours.ce} packets came marked`);
          if (hops.includes(HOPS.bleach)) assert.ok(theirs.bleached > 0 && theirs.bleached <= theirs.sentEct1, `${theirs.bleached} of ${theirs.sentEct1} were seen without their field`);
          if (hops.includes(HOPS.drop)) assert.equal(up.dropped['ecn-capable'], theirs.sentEct1, 'what was dropped');
        });
      }
    } finally {
      await browser.close();
    }
  });
}

test('two in a call send each other ECT(1), in and out of the program between them', { skip }, async t => {
  const browser = await launchPlaying(camera, withTrials(BOTH));
  const pages = [];
  let server;
  try {
    if (judge(t, browser, await unknownTrials(browser))) return;
    server = await serve(PROGRAM, ['call', '--scheme', 'scream+l4s', '--listen', '127.0.0.1:0', '--size', '640x360']);
    for (let seat = 0; seat < 2; seat++) pages.push(await open(browser, `${server.address}?begin`, { before: keepAnswers }));
    for (const page of pages) {
      const came = () => page.evaluate(async () => (await window.thalweg.call?.session?.statistics())?.video?.packetsReceivedWithEct1 ?? 0);
      for (const until = performance.now() + 60_000; await came() <= 150; await page.waitForTimeout(500)) assert.ok(performance.now() < until, `${await came()} packets with ECT(1) came in a minute`);
      const answers = await page.evaluate(() => window.answers.filter(answer => answer.includes('m=video')));
      assert.ok(answers.length >= 2, `${answers.length} answers: of what is sent and of what is watched`);
      for (const answer of answers) {
        assert.match(answer, /a=rtcp-fb:\d+ ack ccfb/);
        assert.doesNotMatch(answer, /transport-cc|transport-wide/);
      }
    }
    for (const seat of ['a', 'b']) {
      const text = await (await fetch(new URL(`/${seat}/metrics`, server.address))).text();
      const of = ecn => [...text.matchAll(new RegExp(`thalweg_sent_ecn_total\\{[^}]*ecn="${ecn}"\\} (\\d+)`, 'g'))].reduce((sum, [, count]) => sum + Number(count), 0);
      assert.ok(of('ect1') > 100 && of('not_ect') + of('ect0') + of('ce') === 0, `seat ${seat}: ${of('ect1')} as ECT(1), ${of('not_ect')} not`);
    }
  } finally {
    await Promise.all(pages.map(page => page.context().close()));
    await server?.stop({ withinMs: 10_000 });
    await browser.close();
  }
});
