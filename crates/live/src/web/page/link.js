// The sliders of the emulated link, which follow it: any viewer may change it.

import { ask } from './whep.js';

const mbps = bps => `${(bps / 1e6).toPrecision(3)} Mbps`;
// The least and the most that the slider offers, in bps: from what audio needs to what no scheme here fills.
const RATES = [1e5, 2e7];
// Finer than half a step of the slider at its least rate: otherwise a step would be rounded back to where it began.
const ROUNDED_TO = 5e3;
// How long a slider stays where a viewer put it: the change comes back with the figures, later than it was asked for.
const SETTLING_MS = 1000;

// A change of the link between two figures, in words; null if there is none.
export function changed(before, link) {
  if (!before || !link) return null;
  const parts = [];
  if (before.rate_bps !== link.rate_bps) parts.push(link.rate_bps === null ? 'own rate' : mbps(link.rate_bps));
  if (before.delay_ms !== link.delay_ms) parts.push(`${link.delay_ms} ms`);
  if (before.loss !== link.loss) parts.push(`${+(100 * link.loss).toFixed(1)} % loss`);
  return parts.join(', ') || null;
}

export class LinkPanel {
  // `viewer()` is any that watches: its id is what allows the change.
  constructor(viewer) {
    const panel = this.panel = document.getElementById('link');
    Object.assign(this, { viewer, untilMs: 0 });
    [this.rate, this.delay, this.loss] = ['rate', 'delay', 'loss'].map(name => panel.querySelector(`.${name}`));
    this.own = panel.querySelector('.own');
    this.input(this.rate).min = Math.log10(RATES[0]);
    panel.addEventListener('input', () => this.say(this.wanted()));
    panel.addEventListener('change', ({ target }) => {
      const name = ['rate', 'delay', 'loss'].find(name => this.input(this[name]) === target), key = { rate: 'rate_bps', delay: 'delay_ms', loss: 'loss' }[name];
      this.untilMs = performance.now() + SETTLING_MS;
      this.send({ [key]: this.wanted()[key] });
    });
    this.own.addEventListener('click', () => this.send({ rate_bps: null }));
  }

  input(label) {
    return label.querySelector('input');
  }

  wanted() {
    const [rate, delay, loss] = [this.rate, this.delay, this.loss].map(label => Number(this.input(label).value));
    return { rate_bps: Math.round(10 ** rate / ROUNDED_TO) * ROUNDED_TO, delay_ms: delay, loss: loss / 100 };
  }

  say({ rate_bps, delay_ms, loss }) {
    const say = (label, text) => { label.querySelector('output').textContent = text; };
    if (rate_bps !== null) say(this.rate, mbps(rate_bps));
    say(this.delay, `${+delay_ms.toFixed(1)} ms each way`);
    say(this.loss, `${+(100 * loss).toFixed(2)} %`);
  }

  // What is not in `change` stays as it is.
  async send(change) {
    const status = this.panel.querySelector('[role=status]');
    try {
      const { session } = this.viewer();
      if (session) await ask(`viewers/${session.id}/link`, null, { method: 'POST', body: JSON.stringify(change) });
      status.textContent = '';
    } catch (error) {
      status.textContent = error.message;
    }
  }

  // Shows the link as it is, unless a slider is being moved or was just now.
  follow(link) {
    this.panel.hidden = !link;
    if (!link) return;
    this.own.hidden = link.rate_bps === null;
    this.rate.hidden = link.capacity_bps === null;
    if (this.panel.matches(':has(input:active)') || performance.now() < this.untilMs) return;
    this.input(this.rate).max = Math.log10(Math.max(RATES[1], link.capacity_bps ?? 0));
    this.input(this.rate).value = Math.log10(link.capacity_bps ?? RATES[0]);
    this.input(this.delay).value = link.delay_ms;
    this.input(this.loss).value = 100 * link.loss;
    this.say({ ...link, rate_bps: link.capacity_bps });
  }
}
