// Live charts by uPlot: one time axis, one cursor and one height for all of a kind, because they are to be compared.

import uPlot from './uplot.js';

const FONT = '11px system-ui, sans-serif';
// The axis has the latest minute, and grows to it from ten seconds while there is less.
const SHORTEST = 10, LONGEST = 60;

export function span(now, began) {
  const from = Math.max(began, now - LONGEST);
  return [from, Math.max(now, from + SHORTEST)];
}

const shown = value => value === null || value === undefined ? '–'
  : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

let style = null;
const css = name => (style ??= getComputedStyle(document.documentElement)).getPropertyValue(`--${name}`).trim();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { style = null; });

export class Chart {
  // `layers`: { name, colour (a variable of the style), kind: 'area' | 'stack' | 'line' | 'step' | 'dots', of(row) -> number or null };
  // stacked ones stand on those after them, and one without a name is not in the legend. `rows()` are what is drawn, each with `at` in seconds; `marks()` are [{ at, text }].
  constructor({ of, title, unit, layers, rows, marks, height = 130, minTop = 1, top = null, zoom }) {
    Object.assign(this, { title, unit, layers, rows, marks, minTop, top, range: [0, SHORTEST], highest: minTop });
    const make = (name, properties = {}, ...children) => {
      const element = Object.assign(document.createElement(name), properties);
      element.append(...children);
      return element;
    };
    const legend = make('div', { className: 'legend' });
    this.entries = layers.map(({ name, colour }) => {
      const key = make('span', { className: 'key' }), value = make('b');
      key.dataset.colour = colour;
      key.style.background = `var(--${colour})`;
      const entry = make('span', { className: name ? '' : 'unnamed' }, key, name, value);
      legend.append(entry);
      return { entry, value };
    });
    this.figure = make('figure', {}, make('figcaption', {}, of, title, ' ', make('span', { className: 'unit', textContent: unit })), legend);
    const axis = size => ({ font: FONT, size, stroke: () => css('quiet'), gap: 4,
      grid: { stroke: () => css('grid'), width: 1 }, ticks: { show: false } });
    const paths = { step: uPlot.paths.stepped({ align: 1 }), area: uPlot.paths.stepped({ align: 1 }), dots: () => null };
    const series = layers.map(({ name, colour, kind }) => {
      const filled = kind === 'area' || kind === 'stack', paint = () => css(colour);
      return { label: name, stroke: paint, fill: filled ? paint : null, width: filled ? 0 : 1.6, spanGaps: kind === 'dots',
        paths: paths[kind] ?? uPlot.paths.linear(), points: { show: kind === 'dots', size: 3, width: 0, fill: paint } };
    });
    this.u = new uPlot({
      width: 300, height, series: [{}, ...series], legend: { show: false },
      scales: { x: { time: false, range: () => this.range }, y: { range: () => [0, this.highest] } },
      axes: [
        { ...axis(20), values: (_, values) => values.map(value => `${+value.toFixed(3)} s`) },
        { ...axis(38), space: 26, values: (_, values) => values.map(value => String(+value.toPrecision(3))) },
      ],
      cursor: { y: false, points: { show: false }, sync: { key: 'time', setSeries: false }, drag: { x: true, y: false, uni: 10, setScale: false } },
      hooks: {
        setSelect: [u => {
          if (u.select.width > 0) zoom(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'));
          u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        }],
        setCursor: [() => this.show()],
        draw: [u => this.drawMarks(u)],
      },
      padding: [6, 8, 0, 0],
    }, [[], ...layers.map(() => [])], this.figure);
    this.canvas = this.u.ctx.canvas;
    this.canvas.setAttribute('role', 'img');
    new ResizeObserver(() => {
      const width = Math.floor(this.figure.clientWidth);
      if (width > 0 && width !== this.u.width) this.u.setSize({ width, height });
    }).observe(this.figure);
  }

  // What there is between the ends of `range`; returns how high it reaches.
  prepare(range) {
    this.range = range;
    // One before and one after, for lines that cross the edges.
    const all = this.rows(), after = (at, other) => { const found = all.findIndex(row => row.at > at); return found < 0 ? other : found; };
    const rows = all.slice(Math.max(0, after(range[0], all.length) - 1), after(range[1], all.length) + 1);
    this.values = this.layers.map(layer => rows.map(row => layer.of(row) ?? null));
    const stacked = this.layers.map(({ kind }) => kind === 'stack');
    this.drawn = this.values.map((values, index) => !stacked[index] ? values : values.map((value, row) =>
      value === null ? null : this.values.reduce((sum, other, at) => at >= index && stacked[at] ? sum + (other[row] ?? 0) : sum, 0)));
    this.times = rows.map(row => row.at);
    return this.top ?? 1.08 * this.drawn.flat().reduce((most, value) => Math.max(most, value ?? 0), this.minTop);
  }

  // Nothing but gaps and zeros is nothing to show.
  get empty() {
    return this.values.every(values => values.every(value => !value));
  }

  draw(highest) {
    this.highest = highest;
    this.u.setData([this.times, ...this.drawn]);
    this.entries.forEach(({ entry }, index) => { entry.hidden = this.values[index].every(value => value === null); });
    this.show();
  }

  // Each layer's value under the cursor, or its latest.
  show() {
    const { left, idx } = this.u.cursor, latest = this.times ? this.times.findLastIndex(at => at <= this.range[1]) : -1;
    const row = left >= 0 && idx !== null ? idx : latest;
    this.entries.forEach(({ value }, index) => { value.textContent = shown(this.values?.[index][row]); });
    const words = this.entries.filter(({ entry }) => !entry.hidden && !entry.className).map(({ entry }) => entry.textContent.replace(/(–|[\d.]+)$/, ' $1'));
    this.canvas.setAttribute('aria-label', `${this.title}, ${this.unit || 'no unit'}: ${words.join(', ')}`);
  }

  drawMarks(u) {
    const { ctx, bbox } = u, scale = devicePixelRatio || 1;
    ctx.save();
    ctx.font = `${10 * scale}px system-ui, sans-serif`;
    ctx.fillStyle = css('ink');
    ctx.textAlign = 'left';
    ctx.textBaseline = 'top';
    // How far each row of labels is taken.
    const rows = [0, 0, 0];
    for (const { at, text } of this.marks()) {
      const x = Math.round(u.valToPos(at, 'x', true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      for (let y = bbox.top; y < bbox.top + bbox.height; y += 5 * scale) ctx.fillRect(x, y, scale, 3 * scale);
      const width = ctx.measureText(text).width, left = Math.min(x + 3 * scale, bbox.left + bbox.width - width);
      const row = rows.findIndex(until => until <= left);
      // Where there is no room for its label, the line is enough.
      if (row < 0) continue;
      ctx.fillText(text, left, bbox.top + 11 * scale * row);
      rows[row] = left + width + 4 * scale;
    }
    ctx.restore();
  }
}
