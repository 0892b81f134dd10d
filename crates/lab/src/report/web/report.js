// Draws the page's data: one cursor and one time range for all charts over time, one switch for each scheme.
(() => {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const root = document.documentElement;
  // Until so many seconds are in view, lines are means; below, every point.
  const DETAILED = 20;
  const FONT = '12px system-ui, sans-serif';
  const hidden = new Set();
  const charts = [];
  let range = [0, data.seconds];

  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const css = name => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  const isDark = () => root.dataset.theme === 'dark';
  const colour = place => data.entries[place][isDark() ? 'dark' : 'light'];
  const number = value => value === null || value === undefined ? '–' : String(+value.toPrecision(value >= 1000 ? 5 : 3));

  // A short piece of an entry's line.
  const sample = place => {
    const { light, dark, dash } = data.entries[place];
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('width', 22);
    svg.setAttribute('height', 8);
    svg.innerHTML = `<path d="M0 4h22" stroke-width="3" stroke-dasharray="${dash.join(' ')}"/>`;
    svg.firstChild.style.stroke = `light-dark(${light}, ${dark})`;
    return svg;
  };

  // ---- data

  const times = data.times.map(deltas => { let at = 0; return deltas.map(delta => (at += delta) / 1000); });
  const xOf = line => typeof line.x === 'number' ? times[line.x] : line.x;

  // A line's columns: mean, and the band's ends if it has one; as means over windows of `width` seconds unless that is zero.
  function columns(line, width) {
    const x = xOf(line), all = line.low ? [line.y, line.low, line.high] : [line.y];
    if (!width) return [x, ...all];
    const starts = [], sums = all.map(() => []), counts = [];
    x.forEach((at, index) => {
      const start = Math.floor(at / width + 1e-6) * width;
      if (starts.at(-1) !== start) { starts.push(start); counts.push(0); sums.forEach(sum => sum.push(0)); }
      counts[counts.length - 1]++;
      sums.forEach((sum, column) => { sum[sum.length - 1] += all[column][index]; });
    });
    return [starts, ...sums.map(sum => sum.map((value, index) => value / counts[index]))];
  }

  // Says that a table scrolls where it does.
  document.querySelectorAll('.hint').forEach(hint => new ResizeObserver(([{ target }]) => {
    hint.style.display = target.scrollWidth > target.clientWidth ? 'block' : 'none';
  }).observe(hint.nextElementSibling));

  const linesOf = chart => chart.area ? [chart.area[1], ...chart.lines] : chart.lines;
  const tables = (chart, width) => uPlot.join(linesOf(chart).map(line => columns(line, width)));

  // ---- charts

  const axis = (label, size) => ({
    label, labelSize: 18, labelFont: FONT, font: FONT, size, stroke: () => css('quiet'),
    grid: { stroke: () => css('grid'), width: 1 }, ticks: { stroke: () => css('grid'), width: 1, size: 4 },
  });
  const plain = (_, values) => values.map(value => value === null ? null : String(+value.toPrecision(6)));

  // The last value at or before the cursor, or the nearest, where others have points and this one has none.
  function nearest(u, series, index, at, steps) {
    const values = u.data[series], x = u.data[0];
    if (values[index] != null && (!steps || x[index] <= at)) return index;
    let left = index, right = index;
    if (steps && x[left] > at) left--;
    while (left >= 0 && values[left] == null) left--;
    while (right < values.length && values[right] == null) right++;
    if (left < 0) return right < values.length && !steps ? right : null;
    if (steps || right >= values.length) return left;
    return at - x[left] <= x[right] - at ? left : right;
  }

  function add(chart, place) {
    const overTime = !chart.x;
    const items = [];
    const series = [{}], bands = [];
    const path = chart.steps ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear();
    if (chart.area) {
      const fill = () => css('area');
      series.push({ label: chart.area[0], stroke: fill, fill, width: 0, spanGaps: true, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } });
      items.push({ at: 1, name: chart.area[0], entry: null });
    }
    for (const line of chart.lines) {
      const { entry } = line, { name, dash } = data.entries[entry];
      const at = series.length;
      const common = { label: name, entry, spanGaps: true, paths: path, points: { show: false } };
      series.push({ ...common, stroke: () => colour(entry), width: 1.6, dash });
      items.push({ at, name, entry });
      if (line.low) {
        series.push({ ...common, width: 0, isBand: true }, { ...common, width: 0, isBand: true });
        bands.push({ series: [at + 2, at + 1], fill: () => colour(entry) + '33' });
      }
    }
    const logX = !overTime && chart.log, logY = overTime && chart.log;
    const values = make('div', { className: 'values' });
    items.forEach(item => {
      item.value = make('b');
      const swatch = item.entry === null
        ? Object.assign(make('span', { className: 'key' }), { style: '--light:#c9d0d8;--dark:#4a5561' }) : sample(item.entry);
      item.element = make('span', {}, swatch, item.name, item.value);
      values.append(item.element);
    });
    const unit = chart.unit + (logY ? ', log scale' : '');
    const caption = make('figcaption', {}, make('b', { textContent: chart.title }));
    const body = make('div');
    const figure = make('figure', { className: overTime ? '' : 'half' }, caption, values, body);
    if (chart.marks) caption.append(make('span', { className: 'unit', textContent: chart.marks[0] }));
    document.querySelector(`.charts[data-cell="${place}"]`).append(figure);
    const known = linesOf(chart).flatMap(xOf);
    const lowX = overTime ? 0 : known.reduce((a, b) => Math.min(a, b), Infinity);
    const highX = overTime ? data.seconds : known.reduce((a, b) => Math.max(a, b), -Infinity);
    const whole = overTime ? [0, data.seconds] : [logX ? Math.max(lowX, 1) : lowX, highX > lowX ? highX : lowX + 1];
    const kept = { chart, figure, overTime, items, place, whole, width: overTime ? chart.coarse : 0 };
    const options = {
      width: Math.max(figure.clientWidth, 200), height: chart.height + 26, bands, series,
      legend: { show: false },
      scales: {
        x: { time: false, distr: logX ? 3 : 1, range: (u, min, max) => min == null ? whole : [min, max] },
        y: {
          distr: logY ? 3 : 1,
          range: (u, min, max) => {
            if (min == null) return logY ? [1, 10] : [0, 1];
            if (!overTime) return [0, 100];
            if (logY) return [Math.max(min * 0.9, 0.1), Math.max(max * 1.1, min * 1.5)];
            const top = Math.min(max, chart.top ?? Infinity), low = chart.zero ? 0 : min - 0.05 * (max - min || 1);
            return [low, (top > low ? top : low + 1) + 0.05 * (top - low)];
          },
        },
      },
      axes: [
        { ...axis(overTime ? 'time, s' : chart.x + (logX ? ', log scale' : ''), 34), ...(logX ? logs : { values: plain }) },
        { ...axis(unit, 56), ...(logY ? logs : { values: plain }) },
      ],
      cursor: {
        y: false, points: { size: 6 },
        drag: { x: true, y: false, uni: 10 },
        sync: overTime ? { key: 'time', filters: { pub: type => type === 'mousemove' || type === 'mouseleave' } } : undefined,
        dataIdx: (u, at, index, x) => at === 0 ? index : nearest(u, at, index, x, chart.steps),
        bind: { dblclick: u => () => { if (overTime) zoom(0, data.seconds); else u.setScale('x', { min: whole[0], max: whole[1] }); } },
      },
      hooks: {
        setCursor: [u => show(kept, u)],
        setScale: [(u, key) => { if (key === 'x' && overTime && !zooming) zoom(u.scales.x.min, u.scales.x.max); }],
        draw: [u => ticks(u, chart)],
      },
    };
    kept.u = new uPlot(options, tables(chart, kept.width), body);
    caption.append(make('span', { className: 'out' },
      make('button', { textContent: 'CSV', title: 'the points of this chart', onclick: () => save(chart.title, 'csv', 'text/csv', csv(kept)) }),
      ' ', make('button', { textContent: 'PNG', title: 'what is seen, as pixels', onclick: () => png(kept) }),
      ' ', make('button', { textContent: 'SVG', title: 'what is seen, as lines', onclick: () => save(chart.title, 'svg', 'image/svg+xml', svg(kept)) })));
    new ResizeObserver(() => fit(kept)).observe(figure);
    charts.push(kept);
    show(kept, kept.u);
  }

  // A logarithmic axis with lines at 1, 2 and 5 of each decade, or at decades alone over more than four of them.
  const logs = {
    splits: (u, side, min, max) => {
      const all = [];
      for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); power++) {
        for (const lead of max / min > 1e4 ? [1] : max / min > 100 ? [1, 3] : [1, 2, 5]) all.push(lead * 10 ** power);
      }
      return all.filter(value => value >= min && value <= max);
    },
    filter: (u, splits) => splits,
    values: plain,
  };

  const fit = kept => {
    const width = Math.floor(kept.figure.clientWidth);
    if (width > 0 && width !== kept.u.width) kept.u.setSize({ width, height: kept.u.height });
  };

  // Each line's value under the cursor.
  function show({ items }, u) {
    for (const { at, value } of items) {
      const index = u.cursor.idxs?.[at];
      value.textContent = u.cursor.left >= 0 && index != null ? number(u.data[at][index]) : '';
    }
  }

  function ticks(u, chart) {
    if (!chart.marks) return;
    const { ctx, bbox } = u;
    for (const [entry, at] of chart.marks[1]) {
      if (hidden.has(entry)) continue;
      ctx.fillStyle = colour(entry);
      for (const time of at) {
        const x = u.valToPos(time, 'x', true);
        if (x >= bbox.left && x <= bbox.left + bbox.width) ctx.fillRect(x, bbox.top, 2, 8 * devicePixelRatio);
      }
    }
  }

  // ---- one range, one switch, one theme

  let zooming = false;
  function zoom(from, until) {
    const span = Math.min(Math.max(until - from, 0.1), data.seconds);
    from = Math.min(Math.max(from, 0), data.seconds - span);
    range = [from, from + span];
    zooming = true;
    for (const kept of charts.filter(kept => kept.overTime)) {
      const width = span > DETAILED ? kept.chart.coarse : 0;
      kept.u.batch(() => {
        if (width !== kept.width) { kept.width = width; kept.u.setData(tables(kept.chart, width), false); }
        kept.u.setScale('x', { min: range[0], max: range[1] });
      });
    }
    // Hooks of uPlot's batches run after this.
    setTimeout(() => { zooming = false; });
    document.querySelector('#bar .range').textContent = `${range[0].toFixed(1)} to ${range[1].toFixed(1)} s`;
  }

  function toggle(entry) {
    hidden.has(entry) ? hidden.delete(entry) : hidden.add(entry);
    const off = hidden.has(entry);
    for (const { u, items } of charts) {
      u.batch(() => u.series.forEach((series, at) => { if (series.entry === entry) u.setSeries(at, { show: !off }); }));
      items.forEach(item => { if (item.entry === entry) item.element.classList.toggle('off', off); });
    }
    document.querySelectorAll(`tr[data-entry="${entry}"], .moment[data-entry="${entry}"]`).forEach(it => it.classList.toggle('off', off));
    document.querySelector(`.toggle[data-entry="${entry}"]`).setAttribute('aria-pressed', String(!off));
    scatters();
  }

  const focus = entry => charts.forEach(({ u }) => {
    const at = entry === null ? -1 : u.series.findIndex(series => series.entry === entry);
    u.series.forEach((series, index) => { series.alpha = at < 0 || index === at || series.entry === undefined ? 1 : 0.25; });
    u.redraw(false);
  });

  function theme(name) {
    root.dataset.theme = name;
    document.getElementById('theme').textContent = name === 'dark' ? 'Light' : 'Dark';
    charts.forEach(({ u }) => u.redraw(false));
    scatters();
  }

  function bar() {
    const nav = document.getElementById('bar');
    data.entries.forEach(({ name }, entry) => {
      const button = make('button', { className: 'toggle', title: 'show or hide in all charts', onclick: () => toggle(entry) }, sample(entry), name);
      button.dataset.entry = entry;
      button.setAttribute('aria-pressed', 'true');
      button.onmouseenter = button.onfocus = () => focus(entry);
      button.onmouseleave = button.onblur = () => focus(null);
      nav.append(button);
    });
    const by = (text, title, change) => make('button', { textContent: text, title, onclick: () => zoom(...change(range[0], range[1], range[1] - range[0])) });
    nav.append(
      make('span', { className: 'range' }),
      by('◀', 'earlier', (from, until, span) => [from - span / 2, until - span / 2]),
      by('▶', 'later', (from, until, span) => [from + span / 2, until + span / 2]),
      by('+', 'zoom in; or drag over a chart', (from, until, span) => [from + span / 4, until - span / 4]),
      by('−', 'zoom out', (from, until, span) => [from - span / 2, until + span / 2]),
      by('All', 'the whole run; or double-click a chart', () => [0, data.seconds]),
      make('button', { textContent: 'Table as CSV', onclick: () => save('results', 'csv', 'text/csv', results()) }));
  }

  // ---- taking data out

  const quoted = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const rows = table => table.map(row => row.map(cell => quoted(String(cell ?? ''))).join(',')).join('\n') + '\n';

  function csv({ chart, u }) {
    const all = tables(chart, 0);
    const names = [chart.x ?? 'time, s', ...u.series.slice(1).map((series, at) =>
      `${series.label}${series.isBand ? (u.series[at].isBand ? ' 95th percentile' : ' 5th percentile') : ''}, ${chart.unit}`)];
    return rows([names, ...all[0].map((_, index) => all.map(column => column[index]))]);
  }

  function results() {
    const table = document.getElementById('results');
    const heads = [...table.tHead.rows[0].cells].map(cell => cell.innerText.replace(/\s+/g, ' ').trim());
    return rows([heads, ...[...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.dataset.value ?? cell.textContent))]);
  }

  function save(title, ending, type, content) {
    const link = make('a', { href: URL.createObjectURL(new Blob([content], { type })), download: `${title.replace(/[^\w-]+/g, '-').toLowerCase()}.${ending}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  const visible = items => items.filter(item => item.entry === null || !hidden.has(item.entry));

  function png({ chart, u, items }) {
    const scale = devicePixelRatio || 1, head = 44 * scale, source = u.ctx.canvas;
    const canvas = make('canvas', { width: source.width, height: source.height + head }), paper = canvas.getContext('2d');
    paper.fillStyle = css('paper');
    paper.fillRect(0, 0, canvas.width, canvas.height);
    paper.drawImage(source, 0, head);
    paper.scale(scale, scale);
    paper.fillStyle = css('ink');
    paper.font = '600 14px system-ui, sans-serif';
    paper.fillText(chart.title, 8, 17);
    paper.font = FONT;
    let x = 8;
    for (const { name, entry } of visible(items)) {
      paper.strokeStyle = entry === null ? css('area') : colour(entry);
      paper.setLineDash(entry === null ? [] : data.entries[entry].dash);
      paper.lineWidth = 3;
      paper.beginPath();
      paper.moveTo(x, 33);
      paper.lineTo(x + 22, 33);
      paper.stroke();
      paper.fillText(name, x + 27, 37);
      x += 44 + paper.measureText(name).width;
    }
    canvas.toBlob(blob => save(chart.title, 'png', 'image/png', blob));
  }

  // What the chart shows, as lines and texts.
  function svg({ chart, u, items }) {
    const text = value => String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const head = 44, ratio = devicePixelRatio || 1;
    const box = { left: u.bbox.left / ratio, top: u.bbox.top / ratio + head, width: u.bbox.width / ratio, height: u.bbox.height / ratio };
    const x = value => box.left + u.valToPos(value, 'x'), y = value => box.top + u.valToPos(value, 'y');
    const parts = [`<rect width="100%" height="100%" fill="${css('paper')}"/>`,
      `<text x="8" y="17" font-weight="600" fill="${css('ink')}">${text(chart.title)}</text>`,
      `<clipPath id="box"><rect x="${box.left}" y="${box.top}" width="${box.width}" height="${box.height}"/></clipPath>`];
    u.axes.forEach((of, side) => (of._splits ?? []).forEach((split, index) => {
      const label = of._values[index], at = side === 0 ? x(split) : y(split);
      const line = side === 0 ? `M${at} ${box.top}v${box.height}` : `M${box.left} ${at}h${box.width}`;
      parts.push(`<path d="${line}" stroke="${css('grid')}"/>`);
      if (label !== null && label !== '') parts.push(side === 0
        ? `<text x="${at}" y="${box.top + box.height + 15}" text-anchor="middle">${text(label)}</text>`
        : `<text x="${box.left - 6}" y="${at + 4}" text-anchor="end">${text(label)}</text>`);
    }));
    parts.push(`<text x="${box.left + box.width / 2}" y="${box.top + box.height + 32}" text-anchor="middle">${text(u.axes[0].label)}</text>`,
      `<text transform="translate(13 ${box.top + box.height / 2}) rotate(-90)" text-anchor="middle">${text(u.axes[1].label)}</text>`);
    const path = (at, stepped) => {
      let d = '', last = null;
      u.data[at].forEach((value, index) => {
        if (value == null) return;
        const [px, py] = [x(u.data[0][index]).toFixed(1), y(value).toFixed(1)];
        d += last === null ? `M${px} ${py}` : stepped ? `H${px}V${py}` : `L${px} ${py}`;
        last = px;
      });
      return [d, last];
    };
    let key = 8;
    for (const { at, name, entry } of visible(items)) {
      const area = entry === null, paint = area ? css('area') : colour(entry), dash = area ? '' : data.entries[entry].dash.join(' ');
      const [d, last] = path(at, chart.steps || area);
      if (d) parts.push(area
        ? `<path clip-path="url(#box)" fill="${paint}" d="M${d.slice(1).replace(' ', ` ${box.top + box.height}V`)}V${box.top + box.height}Z"/>`
        : `<path clip-path="url(#box)" fill="none" stroke="${paint}" stroke-width="1.6" stroke-dasharray="${dash}" d="${d}"/>`);
      parts.push(`<path d="M${key} 33h22" stroke="${paint}" stroke-width="3" stroke-dasharray="${dash}"/><text x="${key + 27}" y="37">${text(name)}</text>`);
      key += 44 + 7 * name.length;
    }
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${u.width}" height="${u.height + head}" font-family="system-ui,sans-serif" font-size="12" fill="${css('quiet')}">${parts.join('')}</svg>`;
  }

  // ---- delay against quality, or against the rate of video

  function scatters() {
    const all = document.getElementById('scatters');
    all.replaceChildren(...data.scatters.filter(chart => chart.points.length).map(chart => make('figure', {},
      make('figcaption', {}, make('b', { textContent: chart.title })), make('div', {}))));
    data.scatters.filter(chart => chart.points.length).forEach((chart, index) => scatter(chart, all.children[index]));
  }

  function scatter({ points, front, y, zero, curve }, figure) {
    const sorted = [...points].filter(point => !hidden.has(point.entry)).sort((a, b) => a.x - b.x);
    if (!sorted.length) return;
    const line = curve && !hidden.has(curve[0]) ? curve[1] : [];
    const x = sorted.map(point => Math.max(point.x, 1)), all = [...x, ...line.map(place => place[0])];
    const left = Math.max(...all) * 1.8, right = Math.min(...all) / 2;
    const ends = [...sorted.flatMap(point => [point.y, ...(point.range ?? [])]), ...line.map(place => place[1])];
    const low = zero ? 0 : Math.floor(Math.min(...ends) - 0.5), high = zero ? Math.max(...ends) * 1.15 : Math.ceil(Math.max(...ends) + 0.5);
    const paint = point => point.entry === null ? css('quiet') : colour(point.entry);
    const draw = u => {
      const { ctx } = u, scale = devicePixelRatio || 1;
      const at = (vx, vy) => [u.valToPos(vx, 'x', true), u.valToPos(vy, 'y', true)];
      ctx.save();
      ctx.font = `${12 * scale}px system-ui, sans-serif`;
      // The axes leave it centred.
      ctx.textAlign = 'left';
      ctx.lineWidth = scale;
      if (front.length > 1) {
        ctx.strokeStyle = css('quiet');
        ctx.setLineDash([3 * scale, 3 * scale]);
        ctx.beginPath();
        front.forEach(([vx, vy]) => ctx.lineTo(...at(vx, vy)));
        ctx.stroke();
        ctx.setLineDash([]);
      }
      const taken = [];
      if (line.length) {
        // More latency than the last place has brings no more.
        const [last, most] = line.at(-1);
        ctx.strokeStyle = ctx.fillStyle = colour(curve[0]);
        ctx.setLineDash(data.entries[curve[0]].dash.map(length => length * scale));
        ctx.lineWidth = 1.6 * scale;
        ctx.beginPath();
        [...line, [left, most]].forEach(([vx, vy]) => ctx.lineTo(...at(vx, vy)));
        ctx.stroke();
        ctx.setLineDash([]);
        const { name } = data.entries[curve[0]], [px, py] = at(Math.sqrt(last * left), most), width = ctx.measureText(name).width;
        ctx.fillText(name, px, py - 5 * scale);
        taken.push({ left: px, right: px + width, top: py - 5 * scale });
      }
      for (const point of sorted) {
        const [px, py] = at(Math.max(point.x, 1), point.y);
        ctx.strokeStyle = paint(point);
        ctx.fillStyle = point.ours ? paint(point) : css('paper');
        if (point.range) {
          ctx.globalAlpha = 0.5;
          ctx.beginPath();
          ctx.moveTo(px, at(point.x, point.range[0])[1]);
          ctx.lineTo(px, at(point.x, point.range[1])[1]);
          ctx.stroke();
          ctx.globalAlpha = 1;
        }
        ctx.lineWidth = 2 * scale;
        ctx.beginPath();
        ctx.arc(px, py, 5 * scale, 0, 7);
        ctx.fill();
        ctx.stroke();
        ctx.lineWidth = scale;
        ctx.fillStyle = css('ink');
        const width = ctx.measureText(point.label).width, left = px + 9 * scale + width > u.bbox.left + u.bbox.width ? px - 9 * scale - width : px + 9 * scale;
        // Down or up until no other label is in the way.
        let top = py + 4 * scale;
        for (let row = 1; row < 12 && taken.some(other => Math.abs(other.top - top) < 13 * scale && left < other.right && other.left < left + width); row++) {
          top = py + 4 * scale + (row % 2 ? 1 : -1) * Math.ceil(row / 2) * 13 * scale;
        }
        taken.push({ left, right: left + width, top });
        ctx.fillText(point.label, left, top);
      }
      ctx.restore();
    };
    new uPlot({
      width: Math.max(figure.clientWidth, 200), height: 360, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false, distr: 3, dir: -1, range: () => [right, left] }, y: { range: () => [low, high] } },
      series: [{}, { paths: () => null, points: { show: false } }],
      axes: [{ ...axis('P95 latency, ms, log scale: quicker to the right', 34), ...logs }, { ...axis(y, 50), values: plain }],
      hooks: { draw: [draw] },
    }, [x, sorted.map(point => point.y)], figure.lastChild);
  }

  // ---- start

  const wishes = matchMedia('(prefers-color-scheme: dark)');
  root.dataset.theme = wishes.matches ? 'dark' : 'light';
  wishes.addEventListener('change', () => theme(wishes.matches ? 'dark' : 'light'));
  document.getElementById('theme').onclick = () => theme(isDark() ? 'light' : 'dark');
  bar();
  data.cells.forEach((cell, place) => cell.charts.forEach(chart => add(chart, place)));
  theme(root.dataset.theme);
  zoom(0, data.seconds);
  document.querySelectorAll('.go').forEach(button => {
    button.onclick = () => {
      zoom(Number(button.dataset.from), Number(button.dataset.until));
      document.querySelector(`.charts[data-cell="${button.dataset.cell}"]`).scrollIntoView({ behavior: 'smooth' });
    };
  });
  // Paper is white and as wide as a page of it.
  let before = null;
  addEventListener('beforeprint', () => {
    before = root.dataset.theme;
    theme('light');
    document.querySelectorAll('details').forEach(notes => { notes.open = true; });
    charts.forEach(({ u, overTime }) => u.setSize({ width: overTime ? 680 : 330, height: u.height }));
  });
  addEventListener('afterprint', () => { theme(before); charts.forEach(fit); });
  window.report = { charts, zoom, toggle, csv, svg, results };
})();
