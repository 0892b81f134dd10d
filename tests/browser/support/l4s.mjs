// L4S with an unmodified Chromium: its field trials, the links of the tests, and what each side counts of the packets.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';

// RFC 8888, accepted and offered; SCReAM v2, which sends ECT(1) where reports carry the field (docs/specs/l4s.md 4.3).
export const CCFB = 'WebRTC-RFC8888CongestionControlFeedback/Enabled,offer:true/';
export const SCREAM = 'WebRTC-Bwe-ScreamV2/Enabled/';
// The version whose trials are known.
const KNOWN = '156';

export const withTrials = trials => trials ? [`--force-fieldtrials=${trials}`] : [];

// What is wrong with the trials of a browser that has been started with CCFB, as a sentence; null if it offers RFC 8888.
export async function unknownTrials(browser) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const offer = await page.evaluate(async () => {
      const peer = new RTCPeerConnection();
      peer.addTransceiver('video');
      const { sdp } = await peer.createOffer();
      peer.close();
      return sdp;
    });
    if (offer.includes('ack ccfb')) return null;
    return `Chromium ${browser.version()} does not offer RFC 8888 with the field trial ${CCFB}: the trial's name has changed, or it is gone. L4S with Chromium is NOT tested.`;
  } finally {
    await context.close();
  }
}

// A browser without the trials is a failure where they are known to be there, and else a reason to skip.
export function judge(t, browser, sentence) {
  if (!sentence) return false;
  console.error(`\n${sentence}\n`);
  if (browser.version().split('.')[0] === KNOWN) throw new Error(sentence);
  t.skip(sentence);
  return true;
}

// A UDP port that nobody has.
export async function freePort() {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

// A scenario file with these hops on the way of the media, and 20 ms each way.
export function scenario(hops) {
  const delay = 'delay = { delay = "20ms" }';
  const path = (way, hops) => hops.map(hop => `[[${way}.hops]]\n${hop}\n`).join('\n');
  return `name = "l4s"\nduration = "60s"\n\n[video]\nsource = "scene"\n\n[codec.model]\n\n${path('forward', [...hops, delay])}\n${path('reverse', [delay])}`;
}

const queue = (rate, marker) => `rate = { rate = "${rate}", queue = { marking = { limits = { packets = 1000 }, marker = ${marker} } } }`;
export const HOPS = {
  bleach: 'middlebox = { bleach = {} }',
  drop: 'middlebox = { drop-capable = {} }',
  plain: rate => `rate = { rate = "${rate}" }`,
  ramp: (rate, fromMs, toMs) => queue(rate, `{ ramp = { from = "${fromMs}ms", to = "${toMs}ms" } }`),
  step: (rate, atMs) => queue(rate, `{ step = { at = "${atMs}ms" } }`),
};

const sum = (entries, member) => entries.reduce((sum, entry) => sum + (entry[member] ?? 0), 0);

// Of a connection's statistics, audio and video together: what was sent, what the reports said of it, what came.
export function counted(entries) {
  const of = type => entries.filter(entry => entry.type === type);
  const [sent, reported, came] = [of('outbound-rtp'), of('remote-inbound-rtp'), of('inbound-rtp')];
  return {
    sent: sum(sent, 'packetsSent'),
    sentEct1: sum(sent, 'packetsSentWithEct1'),
    reportedEct1: sum(reported, 'packetsReceivedWithEct1'),
    reportedCe: sum(reported, 'packetsReceivedWithCe'),
    bleached: sum(reported, 'packetsWithBleachedEct1Marking'),
    reports: sum(of('transport'), 'ccfbMessagesReceived'),
    came: sum(came, 'packetsReceived'),
    cameEct1: sum(came, 'packetsReceivedWithEct1'),
    cameCe: sum(came, 'packetsReceivedWithCe'),
  };
}

export const total = counts => Object.values(counts).reduce((sum, count) => sum + count, 0);

// Runs in the page, before its own scripts: keeps the answers to its offers.
export function keepAnswers() {
  const real = window.fetch;
  window.answers = [];
  window.fetch = async (address, options) => {
    const response = await real(address, options);
    if (options?.method === 'POST' && response.ok) window.answers.push(await response.clone().text());
    return response;
  };
}
