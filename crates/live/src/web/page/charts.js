// Live charts on canvases: the latest minute, one time axis and one cursor for all of a page.

const SECONDS = 60, LEFT = 38, BOTTOM = 17, TOP = 6, RIGHT = 2;

// Where the pointer is, in seconds of the page's clock; null when it is on no chart.
let cursor = null;
let colours = {};
const dark = matchMedia('(prefers-color-scheme: dark)');
function readColours() {
  const style = getComputedStyle(document.documentElement);
  colours = new Proxy({}, { get: (_, name) => style.getPropertyValue(`--${name}`).trim() || '#888' });
}
dark.addEventListener('change', readColours);

// Round values to mark from 0 to `top`.
export function ticks(top, count) {
  const rough = top / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find(factor => factor * power >= rough * 0.999) ?? 10);
  return Array.from({ length: Math.floor(top / step * 1.0001) + 1 }, (_, index) => index * step);
}

const shown = value => value === null || value === undefined ? '–'
  : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

export class Chart {
  // An `optional` chart is shown when it has something to show. `layers`: { name, colour (a variable of the style), kind: 'area' | 'stack' | 'line' | 'dots', points() -> [[seconds, value or null]] }.
  constructor({ title, unit, layers, height = 130, minTop = 1, ceiling = null, optional = false }) {
    if (!colours.ink) readColours();
    Object.assign(this, { layers, height, minTop, ceiling, optional });
    this.figure = document.createElement('figure');
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `${title}, ${unit || 'no unit'}, over the latest minute`);
    this.canvas.style.height = `${height}px`;
    const caption = document.createElement('figcaption');
    caption.append(title, ' ', Object.assign(document.createElement('span'), { className: 'unit', textContent: unit }));
    const legend = Object.assign(document.createElement('div'), { className: 'legend' });
    this.values = layers.map(layer => {
      const entry = document.createElement('span'), key = document.createElement('span'), value = document.createElement('b');
      Object.assign(key, { className: 'key' }).dataset.colour = layer.colour;
      key.style.background = `var(--${layer.colour})`;
      entry.append(key, layer.name, value);
      legend.append(entry);
      return value;
    });
    this.figure.append(caption, legend, this.canvas);
    this.canvas.addEventListener('pointermove', event => { cursor = this.secondsAt(event.offsetX); });
    this.canvas.addEventListener('pointerleave', () => { cursor = null; });
  }

  secondsAt(x) {
    const width = this.canvas.clientWidth - LEFT - RIGHT;
    return this.now - SECONDS + Math.max(0, (x - LEFT) / width) * SECONDS;
  }

  // What the layers have in the latest minute, and how high it reaches: two charts side by side are drawn to the same height.
  prepare(now) {
    this.now = now;
    // Stacked layers are of the same figures: the same place in their lists is the same moment.
    const base = [];
    this.highest = this.minTop;
    this.drawn = this.layers.map(layer => {
      let points = layer.points().filter(([at]) => at >= now - SECONDS - 1);
      if (layer.kind === 'stack') {
        points = points.map(([at, value], place) => {
          const from = base[place] ?? 0;
          base[place] = from + Math.max(0, value ?? 0);
          return [at, value === null ? null : base[place], from];
        });
      }
      for (const [, value] of points) if (value > this.highest) this.highest = value;
      return points;
    });
    return this.highest;
  }

  get empty() {
    return this.drawn.every(points => points.every(([, value]) => value === null));
  }

  draw(highest = this.highest) {
    const top = this.ceiling ?? highest * 1.08;
    const width = this.canvas.clientWidth, height = this.height, scale = devicePixelRatio || 1;
    if (!width) return;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      Object.assign(this.canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
    }
    const paper = this.canvas.getContext('2d');
    paper.setTransform(scale, 0, 0, scale, 0, 0);
    paper.clearRect(0, 0, width, height);
    const x = at => LEFT + (at - this.now + SECONDS) / SECONDS * (width - LEFT - RIGHT);
    const y = value => height - BOTTOM - Math.min(value / top, 1.02) * (height - BOTTOM - TOP);
    this.axes(paper, width, height, top, x, y);
    paper.save();
    paper.beginPath();
    paper.rect(LEFT, 0, width - LEFT - RIGHT, height - BOTTOM + 1);
    paper.clip();
    this.layers.forEach((layer, index) => this.layer(paper, layer, this.drawn[index], x, y));
    if (cursor !== null) {
      paper.fillStyle = colours.faint;
      paper.fillRect(x(cursor), 0, 1, height - BOTTOM);
    }
    paper.restore();
    this.legend();
  }

  axes(paper, width, height, top, x, y) {
    paper.font = '11px system-ui, sans-serif';
    paper.textBaseline = 'middle';
    paper.textAlign = 'right';
    for (const value of ticks(top, Math.max(2, Math.round(height / 42)))) {
      paper.fillStyle = colours.grid;
      paper.fillRect(LEFT, Math.round(y(value)), width - LEFT - RIGHT, 1);
      paper.fillStyle = colours.faint;
      paper.fillText(String(+value.toPrecision(3)), LEFT - 6, y(value));
    }
    paper.textBaseline = 'bottom';
    for (let ago = 0; ago <= SECONDS; ago += 15) {
      paper.textAlign = ago === 0 ? 'right' : ago === SECONDS ? 'left' : 'center';
      paper.fillText(ago === 0 ? 'now' : `−${ago} s`, x(this.now - ago), height);
    }
  }

  layer(paper, { kind, colour }, points, x, y) {
    paper.fillStyle = paper.strokeStyle = colours[colour];
    paper.lineWidth = 1.6;
    paper.lineJoin = 'round';
    if (kind === 'dots') {
      for (const [at, value] of points) if (value !== null) paper.fillRect(x(at) - 1, y(value) - 1, 2, 2);
      return;
    }
    // Where nothing is known there is a gap, not a zero.
    for (const run of runs(points)) {
      paper.beginPath();
      run.forEach(([at, value]) => paper.lineTo(x(at), y(value)));
      if (kind === 'line') {
        paper.stroke();
      } else {
        run.reverse().forEach(([at, , from]) => paper.lineTo(x(at), y(from ?? 0)));
        paper.fill();
      }
    }
  }

  // Each layer's value under the cursor, or its latest.
  legend() {
    this.layers.forEach((layer, index) => {
      const points = this.drawn[index];
      let at = points.length - 1;
      if (cursor !== null) while (at >= 0 && points[at][0] > cursor) at--;
      const [, value, from] = points[at] ?? [];
      this.values[index].textContent = shown(value === null || value === undefined ? null : value - (from ?? 0));
    });
  }
}

// The stretches without a gap, of values or of time.
export function runs(points) {
  const all = [];
  let last = null;
  for (const point of points) {
    if (point[1] === null || point[1] === undefined) { last = null; continue; }
    if (last === null || point[0] - last > 1.5) all.push([]);
    all.at(-1).push(point);
    last = point[0];
  }
  return all;
}
