// The page: what is published, one viewer for each channel, one clock.

import { span } from './charts.js';
import { LinkPanel } from './link.js';
import { Score, Tally } from './score.js';
import { Viewer } from './viewer.js';
import { Refused, ask, linkToken } from './whep.js';

// The colours of the laboratory's report for the first and the second of two.
const COLOURS = ['#d55e00', '#56b4e9', '#009e73', '#cc79a7'];
const token = linkToken();
// Another link in the same tab.
addEventListener('hashchange', () => location.reload());
const wait = ms => new Promise(resolve => setTimeout(resolve, ms));
// Text that stays the same is not written again: a screen reader would read it out again, and a selection would be lost.
const say = (id, text) => {
  const element = document.getElementById(id);
  if (element.textContent !== text) element.textContent = text;
};

// The publisher's clock, by the ping of the last minute that took the least: it is wrong by half of what that took at the most.
class Clock {
  pings = [];
  // Charts and CSV count from here, in seconds of performance.now.
  beganS = performance.now() / 1000;

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

// What is shown, as heading and title; schemes may be switched.
function describe({ title, version, width, height, frame_interval_ms, link, barcodes }, viewers) {
  const schemes = viewers.map(viewer => viewer.name).join(' and ');
  say('title', `${schemes}: ${title}`);
  document.title = `${schemes}: ${title}${link ? `, ${link}` : ''} – Thalweg`;
  const parts = [`${width} × ${height}, ${+(1000 / frame_interval_ms).toFixed(2)} fps`, ...(link ? [link] : [])];
  say('about', `${parts.join('; ')}.`);
  const latency = barcodes ? 'Latency is read from the number drawn in two corners of each picture. ' : '';
  say('footer', `${latency}Sent by Thalweg ${version} over WebRTC.`);
}

class Page {
  // When charts were paused and what they show then, in seconds since the page began; null while they run.
  paused = null;

  constructor(about, clock) {
    Object.assign(this, { about, clock });
    const several = about.channels.length > 1;
    this.viewers = about.channels.map((channel, index) => new Viewer({
      channel, about, token, clock, colour: several ? COLOURS[index % COLOURS.length] : null,
      zoom: (from, until) => this.pause([from, until]), switched: () => this.restartScore(),
    }));
    document.querySelector('main').classList.toggle('duel', several);
    document.getElementById('stages').append(...this.viewers.map(viewer => viewer.section));
    // Both of a kind are neighbours: side by side, or one below the other on a telephone.
    const kinds = this.viewers[0].charts.map((_, kind) => this.viewers.map(viewer => viewer.charts[kind].figure));
    document.getElementById('charts').append(...kinds.flat());
    this.score = several ? new Score(this.viewers) : null;
    this.link = new LinkPanel(() => this.viewers.find(viewer => viewer.session) ?? this.viewers[0]);
    document.getElementById('pause').addEventListener('click', () => this.pause(this.paused ? null : this.range(this.now())));
    document.getElementById('csv').addEventListener('click', () => this.save());
  }

  now() {
    return performance.now() / 1000 - this.clock.beganS;
  }

  range(now) {
    return span(now, this.viewers.reduce((first, { measured }) => Math.min(first, measured.figures[0]?.at ?? now), now));
  }

  // What comes after a pause began is not shown in it; where nothing is yet, there is nothing to zoom to.
  pause(range) {
    if (range?.[0] >= this.now()) return;
    this.paused = range && [range[0], Math.min(range[1], this.now())];
    const button = document.getElementById('pause');
    button.textContent = range ? 'Go on' : 'Pause charts';
    button.setAttribute('aria-pressed', String(Boolean(range)));
    this.draw();
  }

  // The counts begin when all show pictures, and anew when a scheme is switched: an infinite `sinceMs` is not yet.
  restartScore(sinceMs = Infinity) {
    this.viewers.forEach(viewer => { viewer.tally = new Tally(this.about, sinceMs); });
  }

  draw() {
    if (document.hidden) return;
    const { viewers, paused } = this;
    const range = paused ?? this.range(this.now());
    describe(this.about, viewers);
    viewers[0].charts.forEach((_, kind) => {
      const charts = viewers.map(viewer => viewer.charts[kind]);
      const highest = Math.max(...charts.map(chart => chart.prepare(range)));
      const empty = charts.every(chart => chart.empty);
      charts.forEach(chart => {
        chart.figure.hidden = empty;
        // Beside one that has something it leaves its place free.
        chart.figure.classList.toggle('vacant', chart.empty);
        if (!empty) chart.draw(highest);
      });
    });
    viewers.forEach(viewer => viewer.tell());
    this.link.follow(viewers.find(viewer => viewer.latest?.link)?.latest.link ?? null);
    if (this.score && this.clock.known) {
      const nowMs = this.clock.publisher(performance.now());
      if (viewers[0].tally.sinceMs === Infinity && viewers.every(viewer => viewer.measured.frames.length)) this.restartScore(nowMs);
      if (viewers[0].tally.sinceMs !== Infinity) this.score.show(viewers.map(viewer => viewer.tally), nowMs);
    }
    this.warn();
  }

  // What this machine is too slow for: each in one sentence, whichever channel has it.
  warn() {
    const watching = this.viewers.filter(viewer => viewer.session);
    const missed = watching.flatMap(viewer => viewer.missed(this.now())).slice(0, 1);
    const slow = [...new Set([...watching.flatMap(viewer => viewer.latest?.too_slow ?? []), ...missed])];
    say('slow', slow.length
      ? `This machine is too slow: ${slow.join('; ')}. What is shown is the machine rather than the scheme; a smaller --size or a lower --frame-rate helps.` : '');
  }

  // All figures that are kept, a line for each ten times a second and channel, with what was changed at that time.
  save() {
    const flat = figures => Object.entries(figures).flatMap(([key, value]) =>
      key === 'too_slow' ? [[key, value.join('; ')]]
        : value !== null && typeof value === 'object' ? Object.entries(value).map(([inner, value]) => [`${key}_${inner}`, value]) : [[key, value]]);
    const rows = this.viewers.flatMap(({ channel, measured }) => measured.figures.map(figures => {
      const marks = measured.marks.filter(({ at }) => at === figures.at).map(({ text }) => text);
      return Object.fromEntries([['channel', channel.name], ...flat(figures), ['mark', marks.join('; ')]]);
    }));
    const names = [...new Set(rows.flatMap(row => Object.keys(row)))];
    const quoted = value => /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
    const text = [names, ...rows.map(row => names.map(name => row[name] ?? ''))].map(row => row.map(value => quoted(String(value))).join(',')).join('\n');
    const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/csv' })), download: 'thalweg.csv' });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}

async function start() {
  const published = await about();
  const clock = new Clock();
  clock.run();
  const page = new Page(published, clock), { viewers } = page;
  // For who tests this page.
  window.thalweg = {
    about: published, clock, viewers: viewers.map(viewer => viewer.measured), charts: viewers.map(viewer => viewer.charts),
    restart: index => viewers[index].restart(), tallies: () => viewers.map(viewer => viewer.tally),
  };
  viewers.forEach(viewer => viewer.run());
  addEventListener('pagehide', () => viewers.forEach(viewer => viewer.leave()));
  addEventListener('pageshow', event => { if (event.persisted) location.reload(); });
  setInterval(() => page.draw(), 200);
}

start().catch(error => { document.getElementById('about').textContent = error.message; });
