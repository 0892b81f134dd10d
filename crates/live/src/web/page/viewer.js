// One channel on the page: its picture, its figures, and coming back after whatever happens.

import { Reader } from './barcode.js';
import { Chart } from './charts.js';
import { Refused, Session, ask } from './whep.js';

// What is kept for charts and tests: ten minutes of pictures and of figures; and what the charts' latest minute can have of them.
const MAX_FRAMES = 18_000, MAX_FIGURES = 6_000;
const CHARTED_FRAMES = MAX_FRAMES / 5, CHARTED_FIGURES = MAX_FIGURES / 8;
const FREEZE_MS = 500;
const wait = ms => new Promise(resolve => setTimeout(resolve, ms));
const keep = (list, item, most) => { list.push(item); if (list.length > most) list.splice(0, most / 10); };

export class Viewer {
  constructor({ channel, about, token, clock, colour }) {
    Object.assign(this, { channel, about, token, clock, scheme: null, session: null, events: null, latest: null, shownAtMs: 0 });
    // For the charts, and for who tests this page: see tests/browser.
    this.measured = { frames: [], unread: 0, figures: [], statistics: [], freezes: [], states: [] };
    this.section = document.getElementById('channel').content.cloneNode(true).firstElementChild;
    this.find = selector => this.section.querySelector(selector);
    this.video = this.find('video');
    this.find('h2').hidden = about.channels.length < 2;
    this.find('.name').textContent = about.channels.length > 1 ? channel.name : '';
    if (colour) {
      this.find('h2 .key').style.background = colour;
      this.find('h2 .key').dataset.colour = colour;
    }
    this.reader = about.barcodes ? new Reader() : null;
    this.charts = this.figures().map(figure => new Chart(figure));
    this.section.append(...this.charts.map(chart => chart.figure));
    this.controls();
    if ('requestVideoFrameCallback' in this.video) this.watch();
  }

  controls() {
    const select = this.find('select'), audio = this.find('.audio');
    const names = [...new Set([this.channel.scheme, ...this.about.schemes])];
    select.append(...names.map(name => new Option(name, name, false, name === this.channel.scheme)));
    this.find('.scheme').hidden = !this.channel.switchable;
    select.addEventListener('change', async () => {
      this.scheme = select.value;
      try {
        if (this.session) await ask(`viewers/${this.session.id}/scheme`, null, { method: 'POST', body: select.value });
      } catch (error) {
        this.complaint = { sentence: error.message, untilMs: performance.now() + 8000 };
      }
    });
    audio.addEventListener('click', () => {
      this.video.muted = !this.video.muted;
      audio.textContent = this.video.muted ? 'Audio on' : 'Audio off';
      audio.setAttribute('aria-pressed', String(!this.video.muted));
    });
    this.find('.full').addEventListener('click', () => this.video.requestFullscreen?.());
  }

  // Watches for as long as the page is open.
  async run() {
    for (let failures = 0; !this.left; failures++) {
      const began = performance.now();
      const reason = await this.once().catch(error => error);
      this.end();
      if (this.left) return;
      if (performance.now() - began > 10_000) failures = 0;
      if (reason instanceof Refused && reason.status === 401) {
        this.say('This link is not valid, or not any more: ask for a new one.');
        return;
      }
      const seconds = Math.min(0.5 * 2 ** failures, 8) * (0.8 + 0.4 * Math.random());
      // What fetch throws when nobody is there is a TypeError with words for programmers.
      const why = reason instanceof TypeError ? 'The publisher does not answer.' : reason.message;
      this.say(`${why} Trying again${seconds > 1.5 ? ` in ${Math.round(seconds)} s` : ''}.`);
      await wait(seconds * 1000);
    }
  }

  // One viewing from its beginning to its end; resolves with why it ended.
  async once() {
    if (!this.latest) this.say('Connecting.');
    const ended = new Promise(resolve => { this.giveUp = sentence => resolve(new Error(sentence)); });
    this.session = await Session.open({
      channel: this.channel.name, scheme: this.scheme, token: this.token, feedbackOnRequest: this.about.feedback_on_request,
      onTrack: stream => { this.video.srcObject = stream; this.video.play().catch(() => {}); },
      onState: state => this.onState(state),
    });
    this.events = new EventSource(`viewers/${this.session.id}/events`);
    this.events.onmessage = ({ data }) => this.onFigures(JSON.parse(data));
    this.events.addEventListener('gone', () => this.giveUp('The publisher ended this viewing.'));
    this.events.onerror = () => this.doubt();
    this.counter = setInterval(async () => {
      const statistics = await this.session?.statistics().catch(() => null);
      if (statistics) keep(this.measured.statistics, statistics, MAX_FIGURES);
    }, 1000);
    // Neither connected nor refused is not for ever.
    this.waitFor(15_000, 'No way was found to the publisher: its UDP port may be closed.');
    return ended;
  }

  // Gives up unless there is a connection within this time.
  waitFor(ms, sentence) {
    clearTimeout(this.impatience);
    this.impatience = setTimeout(this.giveUp, ms, sentence);
  }

  // The figures are interrupted. When the picture stands and the publisher does not answer either, it is gone; ICE would need
  // several seconds more to notice.
  async doubt() {
    if (this.events?.readyState === EventSource.CLOSED) this.giveUp('The publisher ended this viewing.');
    if (this.doubting) return;
    this.doubting = true;
    for (const session = this.session; session && session === this.session && this.events?.readyState !== EventSource.OPEN;) {
      await wait(500);
      const answers = await ask('clock', this.token).then(() => true, error => error instanceof Refused);
      if (!answers && this.session === session && performance.now() - this.shownAtMs > 1000) {
        this.giveUp('The publisher does not answer.');
        break;
      }
    }
    this.doubting = false;
  }

  onState(state) {
    keep(this.measured.states, { atMs: performance.now(), state }, 1000);
    if (state === 'connected') {
      clearTimeout(this.impatience);
      this.say('');
    } else if (state === 'disconnected' || state === 'failed') {
      this.say('The connection is interrupted; looking for another way.');
      this.waitFor(8_000, 'The connection was lost.');
      this.restart();
    } else if (state === 'closed') {
      this.giveUp('The connection was closed.');
    }
  }

  // Looks for another way to the publisher, unless that is being done.
  async restart() {
    const { session } = this;
    if (!session || session.restarting) return;
    session.restarting = true;
    try {
      await session.restart(this.token);
    } catch {
      if (session === this.session) this.giveUp('The connection was lost.');
    }
    session.restarting = false;
  }

  end() {
    clearInterval(this.counter);
    clearTimeout(this.impatience);
    this.events?.close();
    this.session?.close();
    this.events = this.session = null;
  }

  leave() {
    this.left = true;
    this.end();
  }

  say(sentence) {
    this.find('.notice').textContent = sentence;
  }

  onFigures(figures) {
    this.latest = figures;
    keep(this.measured.figures, { at: performance.now() / 1000, ...figures }, MAX_FIGURES);
  }

  // Reads the number of each picture that is shown.
  watch() {
    let last = null;
    const shown = (_, { width, height, mediaTime, expectedDisplayTime, presentedFrames }) => {
      this.video.requestVideoFrameCallback(shown);
      const { frames, freezes } = this.measured;
      // A page that is called late reads the picture of that time, which may be a later one than it is called for.
      const shownAtMs = Math.max(expectedDisplayTime, performance.now());
      if (last !== null && shownAtMs - last > FREEZE_MS) keep(freezes, { fromMs: last, toMs: shownAtMs }, 1000);
      last = this.shownAtMs = shownAtMs;
      const number = this.reader?.read(this.video, width, height) ?? null;
      if (number === null) this.measured.unread++;
      // The same picture again, after a repair of the page's own, is no new one.
      if (number !== null && frames.at(-1)?.number === number) return;
      const captured = number === null ? null : this.about.epoch_ms + number * this.about.frame_interval_ms;
      const latencyMs = captured === null || !this.clock.known ? null : this.clock.publisher(shownAtMs) - captured;
      keep(frames, { number, shownAtMs, latencyMs, mediaTime, presentedFrames, width, height }, MAX_FRAMES);
    };
    this.video.requestVideoFrameCallback(shown);
  }

  // The charts and what they are drawn from.
  figures() {
    const { measured } = this;
    const of = value => () => measured.figures.slice(-CHARTED_FIGURES).map(figures => [figures.at, value(figures)]);
    const mbps = name => of(figures => figures[name] === null ? null : figures[name] / 1e6);
    const kilobytes = name => of(figures => figures[name] === null ? null : figures[name] / 1e3);
    const media = of(f => f.wire_bps === null ? null : (f.wire_bps - (f.padding_bps ?? 0) - (f.repair_bps ?? 0) - (f.audio_bps ?? 0)) / 1e6);
    const late = () => measured.frames.slice(-CHARTED_FRAMES).filter(frame => frame.latencyMs !== null).map(frame => [frame.shownAtMs / 1000, frame.latencyMs]);
    return [
      { title: 'On the wire', unit: 'Mbps', height: 170, layers: [
        { name: 'the path, as estimated', colour: 'capacity', kind: 'area', points: mbps('capacity_bps') },
        { name: 'audio', colour: 'audio', kind: 'stack', points: mbps('audio_bps') },
        { name: 'video', colour: 'video', kind: 'stack', points: media },
        { name: 'repair', colour: 'repair', kind: 'stack', points: mbps('repair_bps') },
        { name: 'padding', colour: 'padding', kind: 'stack', points: mbps('padding_bps') },
        { name: 'asked of the encoder', colour: 'target', kind: 'line', points: mbps('target_bps') },
      ] },
      ...(this.about.barcodes ? [{ title: 'Frame latency, camera to display', unit: 'ms', minTop: 100, layers: [
        { name: 'each', colour: 'video', kind: 'dots', points: late },
      ] }] : []),
      { title: 'Round trip and queue', unit: 'ms', minTop: 50, layers: [
        { name: 'round trip', colour: 'video', kind: 'line', points: of(figures => figures.rtt_ms) },
        { name: 'queue, as estimated', colour: 'repair', kind: 'line', points: of(figures => figures.queue_ms) },
      ] },
      { title: 'Window and in flight', unit: 'kB', minTop: 10, layers: [
        { name: 'in flight', colour: 'padding', kind: 'area', points: kilobytes('in_flight_bytes') },
        { name: 'window', colour: 'target', kind: 'line', points: kilobytes('window_bytes') },
      ] },
      { title: 'Padding (dummies)', unit: 'Mbps', minTop: 0.1, layers: [
        { name: 'padding', colour: 'padding', kind: 'area', points: mbps('padding_bps') },
      ] },
      { title: 'Headroom factor alpha', unit: '', ceiling: 1.05, optional: true, layers: [
        { name: 'alpha', colour: 'second', kind: 'line', points: of(figures => figures.alpha) },
      ] },
    ];
  }

  // The state in words, twice a second or so.
  tell(now) {
    const figures = this.session ? this.latest : null;
    if (!figures) {
      this.find('.state').textContent = this.find('.detail').textContent = '';
      return;
    }
    const select = this.find('select');
    if (document.activeElement !== select && [...select.options].some(option => option.value === figures.scheme)) select.value = figures.scheme;
    const recent = this.measured.frames.slice(-CHARTED_FRAMES).filter(frame => frame.shownAtMs > now * 1000 - 2000);
    const lates = recent.map(frame => frame.latencyMs).filter(latency => latency !== null).sort((a, b) => a - b);
    const mbps = bps => `${(bps / 1e6).toFixed(2)} Mbps`;
    const parts = [];
    if (figures.resolution && figures.encoder_bps !== null) parts.push(`${figures.resolution.replace('x', ' × ')} at ${mbps(figures.encoder_bps)}`);
    if (recent.length) parts.push(`${(recent.length / 2).toFixed(0)} fps`);
    if (lates.length) parts.push(`${lates[Math.floor(lates.length / 2)].toFixed(0)} ms after the camera`);
    this.find('.state').textContent = [figures.scheme, parts.join(', ')].filter(Boolean).join(': ') + (figures.paused ? ', encoding paused.' : '.');
    const detail = [
      `${figures.frames_sent} frames sent, ${figures.frames_skipped} skipped`,
      figures.keyframes === 1 ? '1 keyframe' : `${figures.keyframes} keyframes`,
    ];
    if (figures.loss_ratio !== null) detail.push(`${(100 * figures.loss_ratio).toFixed(1)} % of packets lost`);
    if (figures.quantizer !== null) detail.push(`quantizer ${figures.quantizer.toFixed(0)}`);
    if (figures.feedback_kind) detail.push(`acknowledged by ${figures.feedback_kind}`);
    const complains = this.complaint?.untilMs > now * 1000;
    this.find('.detail').textContent = complains ? this.complaint.sentence : `${detail.join(', ')}.`;
  }
}
