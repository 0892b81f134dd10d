// Who is better so far: the same counts of each channel over the same time.

// Captured and not shown within this time is late: the deadline of `thalweg watch`, and of conversation (FBRA section 5).
const DEADLINE_MS = 400;
// A picture that stands for longer is a freeze.
export const FREEZE_MS = 500;

// The counts of one viewer from a moment on.
export class Tally {
  constructor(about, sinceMs) {
    Object.assign(this, { about, sinceMs, inTime: 0, recent: [], shownMs: sinceMs, freezes: 0, frozenMs: 0, sums: { quantizer: [0, 0], lines: [0, 0] }, firstBytes: null, bytes: 0, timed: false });
  }

  // A frame was shown; times are of the publisher's clock.
  frame(capturedMs, latencyMs) {
    this.timed = true;
    if (capturedMs >= this.sinceMs && latencyMs <= DEADLINE_MS) this.recent.push(capturedMs);
  }

  // A picture was shown, whether its capture time is known or not.
  shown(nowMs) {
    const { count, ms } = this.frozen(nowMs);
    Object.assign(this, { freezes: count, frozenMs: ms, shownMs: nowMs });
  }

  // The freezes until `nowMs`, with the one that lasts: otherwise a picture that stands for ever would be the best.
  frozen(nowMs) {
    const stands = nowMs - this.shownMs, more = stands > FREEZE_MS;
    return { count: this.freezes + (more ? 1 : 0), ms: this.frozenMs + (more ? stands : 0) };
  }

  figures({ quantizer, resolution, sent_bytes }) {
    const add = (sum, value) => { if (value !== null && !Number.isNaN(value)) { sum[0] += value; sum[1]++; } };
    add(this.sums.quantizer, quantizer);
    add(this.sums.lines, resolution ? Number(resolution.split('x')[1]) : null);
    this.firstBytes ??= sent_bytes;
    // Another viewing counts from zero.
    if (sent_bytes < this.firstBytes + this.bytes) this.firstBytes = sent_bytes - this.bytes;
    this.bytes = sent_bytes - this.firstBytes;
  }

  // Frames captured until the deadline before `nowMs`, and how many of them were late; null where capture times are unknown.
  late(nowMs) {
    const { epoch_ms, frame_interval_ms } = this.about, until = nowMs - DEADLINE_MS;
    while (this.recent.length && this.recent[0] <= until) { this.recent.shift(); this.inTime++; }
    if (!this.timed) return null;
    const number = ms => (ms - epoch_ms) / frame_interval_ms;
    const all = Math.max(0, Math.floor(number(until)) - Math.ceil(number(this.sinceMs)) + 1);
    return { late: Math.max(0, all - this.inTime), all };
  }

  mean(name) {
    const [sum, count] = this.sums[name];
    return count ? sum / count : null;
  }
}

const ROWS = [
  { name: 'Late frames', value: (tally, now) => { const it = tally.late(now); return it?.all ? it.late / it.all : null; }, best: Math.min,
    text: (tally, now) => { const { late, all } = tally.late(now); return `${late} (${(100 * late / all).toFixed(1)} %)`; } },
  { name: 'Freezes', value: (tally, now) => tally.frozen(now).ms, best: Math.min,
    text: (tally, now) => { const { count, ms } = tally.frozen(now); return `${count} (${(ms / 1000).toFixed(1)} s)`; } },
  { name: 'Quality: quantiser', value: tally => tally.mean('quantizer'), best: Math.min, text: tally => tally.mean('quantizer').toFixed(0) },
  { name: 'Quality: lines', value: tally => tally.mean('lines'), best: Math.max, text: tally => tally.mean('lines').toFixed(0) },
  { name: 'Data', value: tally => tally.bytes, best: Math.min, text: tally => `${(tally.bytes / 1e6).toFixed(1)} MB` },
];

export class Score {
  constructor(viewers) {
    this.viewers = viewers;
    this.table = document.getElementById('score');
    this.table.hidden = false;
    this.heads = viewers.map(viewer => {
      const head = Object.assign(document.createElement('th'), { scope: 'col' });
      head.append(viewer.key());
      return head;
    });
    this.table.tHead.rows[0].append(...this.heads);
    this.cells = ROWS.map(({ name }) => {
      const row = this.table.tBodies[0].insertRow();
      row.append(Object.assign(document.createElement('th'), { scope: 'row', textContent: name }));
      return viewers.map(() => row.insertCell());
    });
  }

  show(tallies, nowMs) {
    const seconds = Math.max(0, (nowMs - tallies[0].sinceMs) / 1000);
    this.table.caption.textContent = `Score of ${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
    this.heads.forEach((head, index) => { head.querySelector('.of').textContent = this.viewers[index].name; });
    ROWS.forEach(({ value, best, text }, row) => {
      const values = tallies.map(tally => value(tally, nowMs)), known = values.filter(value => value !== null);
      this.cells[row].forEach((cell, index) => {
        cell.textContent = values[index] === null ? '–' : text(tallies[index], nowMs);
        cell.classList.toggle('best', known.length > 1 && values[index] === best(...known) && new Set(known).size > 1);
      });
    });
  }
}
