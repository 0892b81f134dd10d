// The page: what is published, one viewer for each channel, one clock.

import { Viewer } from './viewer.js';
import { Refused, ask } from './whep.js';

// The colours of the laboratory's report for the first and the second of two.
const COLOURS = ['#d55e00', '#56b4e9', '#009e73', '#cc79a7'];
const token = new URLSearchParams(location.search).get('token');
const wait = ms => new Promise(resolve => setTimeout(resolve, ms));

// The publisher's clock, by the ping of the last minute that took the least: it is wrong by half of what that took at the most.
class Clock {
  pings = [];

  async ping() {
    const sent = performance.now();
    const { now_ms } = await (await ask('clock', token)).json();
    const answered = performance.now();
    this.pings = this.pings.filter(ping => answered - ping.answered < 60_000);
    this.pings.push({ answered, rttMs: answered - sent, offsetMs: now_ms - (performance.timeOrigin + (sent + answered) / 2) });
  }

  get best() {
    return this.pings.reduce((best, ping) => !best || ping.rttMs < best.rttMs ? ping : best, null);
  }

  get known() {
    return this.pings.length > 0;
  }

  // A time of this page (performance.now) as milliseconds since 1970 of the publisher's clock.
  publisher(ms) {
    return performance.timeOrigin + ms + this.best.offsetMs;
  }

  async run() {
    for (let count = 0; ; count++) {
      await this.ping().catch(() => {});
      await wait(count < 8 ? 100 : 5000);
    }
  }
}

// What is published; requested until it is known.
async function about() {
  for (;;) {
    try {
      return await (await ask('about', token)).json();
    } catch (error) {
      if (error instanceof Refused && error.status === 401) throw error;
      document.getElementById('about').textContent = error instanceof Refused ? error.message : 'The publisher does not answer. Trying again.';
      await wait(2000);
    }
  }
}

function describe({ title, version, width, height, frame_interval_ms, link, barcodes }) {
  document.title = title;
  document.getElementById('title').textContent = title;
  const parts = [`${width} × ${height}, ${+(1000 / frame_interval_ms).toFixed(2)} fps`, ...(link ? [link] : [])];
  document.getElementById('about').textContent = `${parts.join('; ')}.`;
  const latency = barcodes
    ? 'Latency is from a picture’s capture to when this page shows it, read from the number drawn in its corners. ' : '';
  document.getElementById('footer').textContent = `${latency}Sent by Thalweg ${version} over WebRTC.`;
}

async function start() {
  const published = await about();
  describe(published);
  const clock = new Clock();
  clock.run();
  const several = published.channels.length > 1;
  const viewers = published.channels.map((channel, index) =>
    new Viewer({ channel, about: published, token, clock, colour: several ? COLOURS[index % COLOURS.length] : null }));
  const main = document.getElementById('channels');
  main.classList.toggle('duel', several);
  main.append(...viewers.map(viewer => viewer.section));
  // For who tests this page.
  window.thalweg = { about: published, clock, viewers: viewers.map(viewer => viewer.measured), restart: index => viewers[index].restart() };
  viewers.forEach(viewer => viewer.run());
  addEventListener('pagehide', () => viewers.forEach(viewer => viewer.leave()));
  addEventListener('pageshow', event => { if (event.persisted) location.reload(); });
  setInterval(() => draw(viewers), 200);
}

// All charts of a kind to the same height: side by side they are to be compared.
function draw(viewers) {
  if (document.hidden) return;
  const now = performance.now() / 1000;
  const highest = viewers[0].charts.map((_, kind) => Math.max(...viewers.map(viewer => viewer.charts[kind].prepare(now))));
  const hidden = highest.map((_, kind) => viewers.every(({ charts }) => charts[kind].optional && charts[kind].empty));
  for (const viewer of viewers) {
    viewer.charts.forEach((chart, kind) => {
      chart.figure.hidden = hidden[kind];
      chart.draw(highest[kind]);
    });
    viewer.tell(now);
  }
}

start().catch(error => { document.getElementById('about').textContent = error.message; });
