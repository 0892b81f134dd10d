// Values under the pointer: one moment in all charts of a row, in words for the cell under it. The page is whole without this.
'use strict';
const SVG = 'http://www.w3.org/2000/svg';
// Where charts.rs puts a plot, in units of the drawing, and the units of its height.
const [WIDTH, LEFT, PLOT, UNITS] = [260, 30, 220, 200];

// The value of a line at a second: a path of relative steps, with gaps.
function at(path, second) {
  for (const piece of path.getAttribute('d').split('M').slice(1)) {
    let [x, y, ...steps] = piece.match(/-?[\d.]+/g).map(Number);
    if (second < x - 0.5) return null;
    for (let i = 0; i < steps.length && x + 0.5 <= second; i += 2) [x, y] = [x + steps[i], y + steps[i + 1]];
    if (Math.abs(x - second) <= 0.5) return y;
  }
  return null;
}

function words(article, { above, below, delay }, second) {
  const parts = [];
  for (const line of article.querySelectorAll('path.f')) {
    const y = at(line, second);
    const rate = Number(above) - y / UNITS * (Number(above) + Number(below));
    if (y !== null) parts.push(`flow ${line.dataset.flow} ${Math.abs(rate).toFixed(2)} Mbps`);
  }
  const median = article.querySelector('path.m'), y = median && at(median, second);
  if (y !== null) parts.push(`delay ${((1 - y / UNITS) * Number(delay)).toFixed(0)} ms`);
  return `${article.querySelector('h3').firstChild.textContent.trim()} at ${Math.floor(second)} s: ${parts.join(', ')}`;
}

for (const row of document.querySelectorAll('.row')) {
  const output = row.parentElement.querySelector('output');
  const clear = () => { output.textContent = ''; row.querySelectorAll('.cursor').forEach(line => line.remove()); };
  row.addEventListener('pointerleave', clear);
  row.addEventListener('pointermove', event => {
    const chart = event.target.closest('svg.chart');
    clear();
    if (!chart) return;
    const box = chart.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * WIDTH;
    const second = (x - LEFT) / PLOT * Number(row.dataset.seconds);
    if (second < 0 || second > Number(row.dataset.seconds)) return;
    for (const other of row.querySelectorAll('svg.chart')) {
      const cursor = document.createElementNS(SVG, 'path');
      cursor.setAttribute('class', 'cursor');
      cursor.setAttribute('d', `M${x} 0V${other.viewBox.baseVal.height}`);
      other.append(cursor);
    }
    output.textContent = words(chart.closest('article'), row.dataset, second);
  });
}
