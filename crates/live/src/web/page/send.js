// The page of a receiver: this browser's camera, sent by WHIP, and what arrives of it.

import { camera } from './camera.js';
import { ask, linkToken } from './whep.js';
import { Sending } from './whip.js';

const wanted = new URLSearchParams(location.search);
const token = linkToken();
addEventListener('hashchange', () => location.reload());
const element = id => document.getElementById(id);
const wait = ms => new Promise(resolve => setTimeout(resolve, ms));
const state = { camera: null, sending: null, figures: [] };
// For who tests this page.
window.thalweg = state;

const say = text => { element('state').textContent = text; };
const number = (value, digits, unit) => value === null || value === undefined ? '–' : `${value.toFixed(digits)} ${unit}`;

// What is shown of the receiver's figures.
const LINES = [
  ['Received', figures => number(figures.wire_bps / 1e6, 2, 'Mbps')],
  ['The link carries', figures => number(figures.capacity_bps && figures.capacity_bps / 1e6, 2, 'Mbps')],
  ['Of what it could carry', figures => number(figures.utilization && figures.utilization * 100, 0, '%')],
  ['Pictures', figures => number(figures.shown_fps, 1, 'a second')],
  ['Codec', figures => [figures.codec, figures.resolution].filter(Boolean).join(' ') || '–'],
  ['Latency, median', figures => number(figures.latency_p50_ms, 0, 'ms')],
  ['Latency, 95 %', figures => number(figures.latency_p95_ms, 0, 'ms')],
  ['Freezes over 200 ms', figures => String(figures.freezes)],
  ['Longest', figures => number(figures.longest_freeze_ms, 0, 'ms')],
  ['Lost', figures => number(figures.packet_loss_ratio * 100, 2, '%')],
  ['Retransmitted', figures => String(figures.packets_retransmitted)],
  ['Keyframes asked for', figures => String(figures.keyframes_requested)],
];

function show(figures) {
  const body = element('figures').tBodies[0];
  if (!body.rows.length) {
    for (const [name] of LINES) {
      const row = body.insertRow();
      row.append(Object.assign(document.createElement('th'), { scope: 'row', textContent: name }));
      row.insertCell();
    }
  }
  LINES.forEach(([, of], index) => { body.rows[index].cells[1].textContent = of(figures); });
  element('figures').hidden = false;
}

// The receiver's figures twice a second, as long as it has them.
async function follow(sending) {
  while (state.sending === sending) {
    try {
      const figures = await (await ask(`senders/${sending.id}`, token)).json();
      state.figures.push({ at: performance.now(), ...figures });
      if (state.figures.length > 7200) state.figures.shift();
      show(figures);
    } catch (error) {
      if (error.status === 404) return stop('The receiver has ended the session.');
    }
    await wait(500);
  }
}

async function send() {
  element('send').disabled = true;
  try {
    state.camera ??= await camera(wanted.get('audio') !== 'none');
    document.querySelector('video').srcObject = state.camera;
    say('Joining.');
    const codec = element('codec').value || null;
    const maxRate = Number(wanted.get('max_rate')) || null;
    const name = wanted.get('name') ?? 'browser';
    const sending = await Sending.open({ stream: state.camera, name, token, codec, maxRate, onState: changed });
    state.sending = sending;
    element('send').textContent = 'Stop';
    follow(sending);
  } catch (error) {
    stop(error.message);
  }
  element('send').disabled = false;
}

function changed(connection) {
  if (connection === 'failed') stop('The connection failed.');
  else say({ connected: 'Sending.', disconnected: 'Nothing is heard from the receiver.' }[connection] ?? 'Connecting.');
}

function stop(why) {
  state.sending?.close();
  state.sending = null;
  element('send').textContent = 'Send';
  say(why);
}

async function start() {
  element('endpoint').textContent = new URL('whip', location.href.split(/[?#]/)[0]).href;
  const { link, codecs, version } = await (await ask('about', token)).json();
  element('about').textContent = `${link ? `Over an emulated link: ${link}. ` : ''}Received by Thalweg ${version}.`;
  for (const codec of codecs) element('codec').append(new Option(codec, codec));
  element('codec').value = wanted.get('codec')?.toUpperCase() ?? '';
  if (element('codec').selectedIndex < 0) element('codec').selectedIndex = 0;
  element('send').disabled = false;
  element('send').addEventListener('click', () => state.sending ? stop('Stopped.') : send());
  addEventListener('pagehide', () => stop('Left.'));
  if (wanted.has('send')) send();
}

start().catch(error => { element('about').textContent = error.message; });
