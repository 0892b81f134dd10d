// Losses on purpose into stock Chromium: no picture stands for half a second, whatever the scheme does about them. `by day` is brief and loses the
// same packets each time; the others are by chance.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browser, measure, outside, skip } from './support/calls.mjs';
import { withScenario } from './support/scenario.mjs';

const SCHEMES = (process.env.SCHEMES ?? 'gcc,salsify,thalweg').split(',');
// Outages in milliseconds from the link's first packet: of a packet or two, of a frame, of several.
const BY_DAY = [[4000, 4008], [4600, 4636], [5300, 5336], [6000, 6036]];
const SINGLE = [[4000, 4008], [4500, 4508], [5000, 5036], [6000, 6036], [7000, 7036]];
const BURSTS = [[4000, 4100], [6000, 6200], [8000, 8036], [10_000, 10_150], [12_000, 12_100]];

// Runs in the page, before its scripts: a browser that cannot be asked for dependency descriptors, as Firefox is.
function unasked() {
  delete RTCRtpTransceiver.prototype.getHeaderExtensionsToNegotiate;
  delete RTCRtpTransceiver.prototype.setHeaderExtensionsToNegotiate;
}

// Runs in the page, before its scripts: keeps the answers to its offers.
function keepAnswers() {
  const set = RTCPeerConnection.prototype.setRemoteDescription;
  window.answers = [];
  RTCPeerConnection.prototype.setRemoteDescription = function (description) {
    window.answers.push(description.sdp);
    return set.call(this, description);
  };
}

// A file with a link of 3 Mbps and 25 ms each way with these outages; `use` gets its name.
function withOutages(outages, use) {
  const lost = outages.map(([from, until]) => `loss = { outage = { from = "${from}ms", until = "${until}ms" } }`);
  const hops = [...lost, 'rate = { rate = "3Mbps" }', 'delay = { delay = "25ms" }'];
  return withScenario(hops.map(hop => `[[forward.hops]]\n${hop}\n`).join(''), use);
}

async function check(name, scheme, args, untilMs, options = {}) {
  const { seen, counted, joinedMs, problems, left } = await measure(name, ['--scheme', scheme, ...args], untilMs, { size: '360p', ...options });
  assert.deepEqual(problems, []);
  assert.ok(seen.packets_lost > 0, 'packets were lost');
  const state = `${seen.plis} requests for a keyframe, ${seen.nacks} for packets; ${counted.too_slow}`;
  const stood = outside(seen.freezes, [joinedMs]).filter(({ lengthMs }) => lengthMs > 500);
  assert.deepEqual(stood, [], `no picture stands for half a second: ${state}`);
  // Frames of several packets, some of which are made good.
  assert.ok(seen.decoded > 0.4 * seen.sent && seen.sent > untilMs / 100, `${seen.decoded} of ${seen.sent} pictures were decoded: ${state}`);
  return { seen, counted, left };
}

// The pages' processes stand still for this long, at uneven intervals of a third of a second, until `during` is over: what
// other work, or collecting garbage, does to a page. The network's process goes on, so reports of arrivals show none of it.
async function withStalls(stallMs, during) {
  const session = await browser.newBrowserCDPSession();
  const rest = ms => new Promise(resolve => setTimeout(resolve, ms));
  const signal = (pages, name) => pages.forEach(({ id }) => { try { process.kill(id, name); } catch { /* It has ended. */ } });
  let over = false;
  const stalls = (async () => {
    for (let turn = 0; !over; turn++) {
      const pages = (await session.send('SystemInfo.getProcessInfo')).processInfo.filter(({ type }) => type === 'renderer');
      signal(pages, 'SIGSTOP');
      await rest(stallMs);
      signal(pages, 'SIGCONT');
      await rest(200 + 37 * (turn % 8));
    }
  })();
  try { return await during(); } finally { over = true; await stalls; await session.detach(); }
}

// Three seconds after the first picture, in which freezes do not count, are over before the first outage.
test('by day: thalweg is sent as the form that a standard decoder follows, and no lost frame stops the picture', { skip }, async () => {
  const leave = page => page.evaluate(() => window.answers.join());
  const { seen, left } = await withOutages(BY_DAY, file =>
    check('losses-by-day', 'thalweg', ['--scenario', file], 8_500, { before: keepAnswers, leave }));
  assert.equal(seen.scheme, 'thalweg:standard-decoder');
  assert.match(left, /a=extmap:\d+ https:\/\/aomediacodec/, 'dependency descriptors are agreed on');
});

// Of pictures that are complete at once and do without one another Chromium shows the last alone. A sender that goes back to
// another leaves it without a picture for three seconds: with 1 % lost two to four times in half a minute, before frames of
// a recovery needed the one that is to be kept.
test('thalweg with 1 % lost, to a page that stands still for 70 ms at times', { skip }, () =>
  withStalls(70, () => check('losses-thalweg-stalls', 'thalweg', ['--rate', '3Mbps', '--delay', '25ms', '--loss', '1%'], 15_000)));

for (const scheme of SCHEMES) {
  for (const percent of [1, 5, 10]) {
    test(`${scheme} with ${percent} % lost`, { skip }, () =>
      check(`losses-${scheme}-${percent}`, scheme, ['--rate', '3Mbps', '--delay', '25ms', '--loss', `${percent}%`], 20_000));
  }
  for (const [name, outages] of [['single frames', SINGLE], ['whole bursts', BURSTS]]) {
    test(`${scheme} with ${name} lost`, { skip }, () =>
      withOutages(outages, file => check(`losses-${scheme}-${name.split(' ')[1]}`, scheme, ['--scenario', file], 15_000)));
  }
}

for (const scheme of SCHEMES.filter(scheme => scheme !== 'gcc')) {
  test(`${scheme} with 5 % lost, to a browser that cannot be asked for dependency descriptors`, { skip }, async () => {
    const { counted } = await check(`losses-${scheme}-unasked`, scheme, ['--rate', '3Mbps', '--delay', '25ms', '--loss', '5%'], 20_000, { before: unasked });
    assert.ok(counted.repair > 0, 'what it lost is sent again');
  });
}
