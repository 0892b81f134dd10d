// One channel on the page: its picture, its figures, and coming back after whatever happens.

import { Reader } from './barcode.js';
import { Chart } from './charts.js';
import { changed } from './link.js';
import { FREEZE_MS, Tally } from './score.js';
import { Refused, Session, ask } from './whep.js';

// What is kept for charts, CSV and tests: ten minutes of frames and of figures.
const MAX_FRAMES = 18_000, MAX_FIGURES = 6_000;
const wait = ms => new Promise(resolve => setTimeout(resolve, ms));
const keep = (list, item, most) => { list.push(item); if (list.length > most) list.splice(0, most / 10); };

export class Viewer {
  // `zoom(from, until)` is called with what was chosen in a chart, `switched()` when the scheme has changed.
  constructor({ channel, about, token, clock, colour, zoom, switched }) {
    Object.assign(this, { channel, about, token, clock, colour, switched, scheme: null, session: null, events: null, latest: null, epochTimestamp: null, shownAtMs: 0 });
    // For the charts, and for who tests this page: see tests/browser.
    this.measured = { frames: [], unread: 0, figures: [], statistics: [], freezes: [], states: [], marks: [] };
    this.tally = new Tally(about, Infinity);
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
    const marks = () => this.measured.marks;
    this.charts = this.figures().map(figure => new Chart({ rows: () => this.measured.figures, ...figure, marks, zoom, of: this.key() }));
    this.controls();
    if ('requestVideoFrameCallback' in this.video) this.watch();
  }

  // What tells this channel's charts from the other's: its colour and its scheme; nothing where there is one channel.
  key() {
    const key = document.createElement('span');
    if (!this.colour) return key;
    const square = Object.assign(document.createElement('span'), { className: 'key' });
    square.dataset.colour = this.colour;
    square.style.background = this.colour;
    key.append(square, Object.assign(document.createElement('span'), { className: 'of' }), ' ');
    return key;
  }

  get name() {
    return this.latest?.scheme ?? this.scheme ?? this.channel.scheme;
  }

  controls() {
    const select = this.find('select'), audio = this.find('.audio');
    const { schemes } = this.about, own = this.channel.scheme;
    const all = schemes.some(({ name }) => name === own) ? schemes : [{ name: own, about: '' }, ...schemes];
    // By what stands before the first suffix; those that are alone, together.
    const families = Map.groupBy(all, ({ name }) => name.split(/[:+-]/)[0]);
    const alone = [...families.values()].filter(({ length }) => length === 1).flat();
    const groups = [...[...families].filter(([, { length }]) => length > 1), ...(alone.length ? [['others', alone]] : [])];
    select.append(...groups.map(([label, members]) => {
      const group = Object.assign(document.createElement('optgroup'), { label });
      group.append(...members.map(({ name, about }) => new Option(about ? `${name} – ${about}` : name, name, false, name === own)));
      return group;
    }));
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
    // A publisher that has come back counts its frames from another moment.
    else Object.assign(this.about, await (await ask('about', this.token)).json());
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
    // Each viewing has RTP timestamps of its own.
    this.events = this.session = this.epochTimestamp = null;
  }

  leave() {
    this.left = true;
    this.end();
  }

  // Whether this page is called for fewer frames than the browser presents: more than one in twenty over five seconds, as the
  // publisher judges of itself (crates/live/src/publish/overload.rs). Those it is not called for have no latency.
  missed(now) {
    const { frames } = this.measured, recent = frames.slice(frames.findLastIndex(({ at }) => at < now - 5) + 1);
    if (recent.length === frames.length || recent.length < 2) return [];
    const presented = recent.at(-1).presentedFrames - recent[0].presentedFrames, seen = recent.length - 1;
    return presented >= 20 && presented - seen > 0.05 * presented ? [`this page saw ${seen} of ${presented} frames in 5 s`] : [];
  }

  say(sentence) {
    this.find('.notice').textContent = sentence;
  }

  onFigures(figures) {
    const at = performance.now() / 1000 - this.clock.beganS, { latest } = this, { marks } = this.measured;
    Object.assign(this, { latest: figures, epochTimestamp: figures.epoch_timestamp });
    const switched = latest && latest.scheme !== figures.scheme ? figures.scheme : null;
    const text = [switched, changed(latest?.link, figures.link)].filter(Boolean).join(', ');
    if (text) keep(marks, { at, text }, 1000);
    if (switched) this.switched();
    this.tally.figures(figures);
    keep(this.measured.figures, { at, latency_ms: this.measured.frames.at(-1)?.latencyMs ?? null, ...figures }, MAX_FIGURES);
  }

  // When a frame was captured, in milliseconds since 1970 of the publisher's clock, by its RTP timestamp; null if the browser has none.
  capturedMs(timestamp, shownMs) {
    const zero = this.epochTimestamp;
    if (timestamp === undefined || zero === null) return null;
    // 90 ticks a millisecond; the 32 bits begin again every thirteen hours.
    const captured = this.about.epoch_ms + ((timestamp - zero) >>> 0) / 90, turn = 2 ** 32 / 90;
    return captured + Math.round((shownMs - captured) / turn) * turn;
  }

  // Times each frame that is shown, and reads its number where it has one.
  watch() {
    let last = null;
    const shown = (_, { width, height, mediaTime, expectedDisplayTime, presentedFrames, rtpTimestamp }) => {
      this.video.requestVideoFrameCallback(shown);
      const { frames, freezes } = this.measured;
      // A page that is called late reads the picture of that time, which may be a later one than it is called for.
      const shownAtMs = Math.max(expectedDisplayTime, performance.now());
      if (last !== null && shownAtMs - last > FREEZE_MS) keep(freezes, { fromMs: last, toMs: shownAtMs }, 1000);
      last = this.shownAtMs = shownAtMs;
      const { epoch_ms, frame_interval_ms } = this.about, nowMs = this.clock.known ? this.clock.publisher(shownAtMs) : null;
      if (nowMs !== null) this.tally.shown(nowMs);
      const timed = nowMs === null ? null : this.capturedMs(rtpTimestamp, nowMs);
      const read = this.reader?.read(this.video, width, height) ?? null;
      if (this.reader && read === null) this.measured.unread++;
      // A frame is captured in the interval of its number.
      const number = this.reader ? read : timed === null ? null : Math.floor((timed - epoch_ms) / frame_interval_ms);
      // The same picture again, after a repair of the page's own, is no new one.
      if (number !== null && frames.at(-1)?.number === number) return;
      const captured = this.reader ? (read === null ? null : epoch_ms + read * frame_interval_ms) : timed;
      const latencyMs = captured === null || nowMs === null ? null : nowMs - captured;
      const byTimestampMs = timed === null ? null : nowMs - timed;
      if (latencyMs !== null) this.tally.frame(captured, latencyMs);
      const at = shownAtMs / 1000 - this.clock.beganS;
      keep(frames, { at, number, shownAtMs, latencyMs, byTimestampMs, mediaTime, presentedFrames, width, height }, MAX_FRAMES);
    };
    this.video.requestVideoFrameCallback(shown);
  }

  // The charts and what they are drawn from.
  figures() {
    const mega = name => row => row[name] === null ? null : row[name] / 1e6;
    const kilo = name => row => row[name] === null ? null : row[name] / 1e3;
    const media = row => row.wire_bps === null ? null : (row.wire_bps - (row.padding_bps ?? 0) - (row.repair_bps ?? 0) - (row.audio_bps ?? 0)) / 1e6;
    const link = row => row.link?.capacity_bps == null ? null : row.link.capacity_bps / 1e6;
    return [
      { title: 'On the wire', unit: 'Mbps', height: 190, layers: [
        { name: '', colour: 'capacity', kind: 'area', of: link },
        { name: 'padding', colour: 'padding', kind: 'stack', of: mega('padding_bps') },
        { name: 'repair', colour: 'repair', kind: 'stack', of: mega('repair_bps') },
        { name: 'video', colour: 'video', kind: 'stack', of: media },
        { name: 'audio', colour: 'audio', kind: 'stack', of: mega('audio_bps') },
        { name: 'the path, as estimated', colour: 'second', kind: 'line', of: mega('capacity_bps') },
        { name: 'asked of the encoder', colour: 'target', kind: 'line', of: mega('target_bps') },
        { name: 'the link, in truth', colour: 'link', kind: 'step', of: link },
      ] },
      { title: 'Frame latency, camera to display', unit: 'ms', minTop: 100, rows: () => this.measured.frames, layers: [
        { name: 'each frame', colour: 'video', kind: 'dots', of: row => row.latencyMs },
      ] },
      { title: 'Round trip and queue', unit: 'ms', minTop: 50, layers: [
        { name: 'round trip', colour: 'video', kind: 'line', of: row => row.rtt_ms },
        { name: 'queue, as estimated', colour: 'repair', kind: 'line', of: row => row.queue_ms },
      ] },
      { title: 'Window and in flight', unit: 'kB', minTop: 10, layers: [
        { name: 'in flight', colour: 'padding', kind: 'area', of: kilo('in_flight_bytes') },
        { name: 'window', colour: 'target', kind: 'line', of: kilo('window_bytes') },
      ] },
      { title: 'Headroom factor alpha', unit: '', top: 1.05, layers: [
        { name: 'alpha', colour: 'second', kind: 'line', of: row => row.alpha },
      ] },
    ];
  }

  // The state in words.
  tell() {
    this.video.setAttribute('aria-label', `Video sent by ${this.name}`);
    for (const { figure } of this.charts) figure.querySelectorAll('.of').forEach(of => { of.textContent = this.name; });
    const figures = this.session ? this.latest : null;
    if (!figures) {
      this.find('.state').textContent = this.find('.detail').textContent = '';
      return;
    }
    const select = this.find('select');
    if (document.activeElement !== select && [...select.options].some(option => option.value === figures.scheme)) select.value = figures.scheme;
    const recent = this.measured.frames.slice(-500).filter(frame => frame.shownAtMs > performance.now() - 2000);
    const lates = recent.map(frame => frame.latencyMs).filter(latency => latency !== null).sort((a, b) => a - b);
    const mbps = bps => `${(bps / 1e6).toFixed(2)} Mbps`;
    const parts = [];
    if (figures.resolution && figures.encoder_bps !== null) parts.push(`${figures.resolution.replace('x', ' × ')} at ${mbps(figures.encoder_bps)}`);
    if (recent.length) parts.push(`${(recent.length / 2).toFixed(0)} fps`);
    if (lates.length) parts.push(`${lates[Math.floor(lates.length / 2)].toFixed(0)} ms after the camera`);
    const now = figures.waiting ? `waiting, ${figures.waiting}` : parts.join(', ');
    this.find('.state').textContent = [figures.scheme, now].filter(Boolean).join(': ') + (figures.paused ? ', encoding paused.' : '.');
    const detail = [
      `${figures.frames_sent} frames sent, ${figures.frames_skipped} skipped`,
      figures.keyframes === 1 ? '1 keyframe' : `${figures.keyframes} keyframes`,
    ];
    const asked = this.scheme ?? this.channel.scheme;
    if (figures.scheme === `${asked}:standard-decoder`) detail.unshift(`the form of ${asked} that browsers follow`);
    if (figures.asked_scheme) detail.unshift(`${figures.asked_scheme} needs more reports than this viewer sends`);
    if (figures.loss_ratio !== null) detail.push(`${(100 * figures.loss_ratio).toFixed(1)} % of packets lost`);
    if (figures.quantizer !== null) detail.push(`quantiser ${figures.quantizer.toFixed(0)} (lower is finer)`);
    if (figures.feedback_kind) detail.push(`reports: ${figures.feedback_kind}`);
    const complains = this.complaint?.untilMs > performance.now();
    this.find('.detail').textContent = complains ? this.complaint.sentence : `${detail.join(', ')}.`;
  }
}
