// The laboratory's report, opened from the disk: cursor, zoom, switches, themes, a telephone, paper, and what can be taken out.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { OUT, launch, open, screenshot } from './support/browser.mjs';
import { thalweg } from './support/programs.mjs';

const SCHEMES = ['gcc', 'copa', 'vidaptive', 'vidaptive:rocc'];
let browser, folder, address;
before(async () => {
  const program = thalweg();
  assert.ok(program, 'cargo build -p thalweg-cli');
  folder = mkdtempSync(`${tmpdir()}/thalweg-report-`);
  const args = ['compare', '--encoder', 'model', '--duration', '30s', '--size', '640x360', '--scheme', SCHEMES.join(','), '-o', `${folder}/out`];
  execFileSync(program, args, { stdio: 'pipe' });
  address = pathToFileURL(`${folder}/out/report.html`).href;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// The report in a window, with what it asks of the network: nothing.
async function reading(options, body) {
  const page = await open(browser, address, { width: 1400, ...options });
  const asked = [];
  page.on('request', request => { if (!/^(blob|data):/.test(request.url())) asked.push(request.url()); });
  await page.waitForFunction(() => window.report?.charts.length > 5);
  try {
    await body(page);
    assert.deepEqual(page.problems, []);
    assert.deepEqual(asked, []);
  } finally {
    await page.context().close();
  }
}

const ranges = page => page.evaluate(() => report.charts.filter(it => it.overTime).map(({ u }) => [u.scales.x.min, u.scales.x.max]));
// The middle of the first chart's plot, in the window.
async function plot(page) {
  await page.locator('.charts .u-over').first().scrollIntoViewIfNeeded();
  return page.locator('.charts .u-over').first().boundingBox();
}

test('the cursor shows the values of one moment in all charts over time', async () => {
  await reading({}, async page => {
    const box = await plot(page);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForFunction(() => document.querySelector('.values b').textContent !== '');
    const shown = await page.$$eval('.charts figure:not(.half)', figures => figures.map(figure => [...figure.querySelectorAll('.values b')].map(it => it.textContent)));
    assert.ok(shown.length >= 6, `${shown.length} charts`);
    shown.forEach((values, chart) => assert.ok(values.every(value => /^-?[\d.e-]+$/.test(value)), `chart ${chart}: ${values}`));
    const labels = await page.evaluate(() => report.charts.map(({ u }) => u.axes.map(axis => axis._values.filter(text => text).length)));
    assert.ok(labels.flat().every(count => count >= 2), `an axis without figures: ${JSON.stringify(labels)}`);
    await screenshot(page, 'report-hover');
  });
});

test('dragging zooms every chart over time to the same seconds, and a double click goes back', async () => {
  await reading({}, async page => {
    const box = await plot(page), y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width / 3, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, y, { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction(() => report.charts[0].u.scales.x.max < 29);
    const zoomed = await ranges(page);
    assert.ok(Math.abs(zoomed[0][0] - 10) < 0.2 && Math.abs(zoomed[0][1] - 15) < 0.2, `${zoomed[0]}`);
    zoomed.forEach(range => assert.deepEqual(range, zoomed[0]));
    await screenshot(page, 'report-zoomed');
    await page.mouse.dblclick(box.x + box.width / 2, y);
    await page.waitForFunction(() => report.charts[0].u.scales.x.max === 30);
    (await ranges(page)).forEach(range => assert.deepEqual(range, [0, 30]));
  });
});

test('a switch hides a scheme in every chart and shows it again', async () => {
  await reading({}, async page => {
    const visible = () => page.evaluate(() => report.charts.map(({ u }) => u.series.filter(it => it.label === 'copa').map(it => it.show)).flat());
    assert.ok((await visible()).length >= 6);
    await page.click('.toggle[data-entry="1"]');
    assert.ok((await visible()).every(show => !show));
    await page.click('.toggle[data-entry="1"]');
    assert.ok((await visible()).every(show => show));
  });
});

test('a worst moment is shown in the charts', async () => {
  await reading({}, async page => {
    const [from, until] = await page.$eval('.go', button => [Number(button.dataset.from), Number(button.dataset.until)]);
    await page.click('.go');
    const zoomed = await ranges(page);
    assert.ok(zoomed.every(([a, b]) => Math.abs(a - Math.min(from, 30 - (until - from))) < 0.01 && Math.abs(b - a - (until - from)) < 0.01), `${zoomed[0]}`);
  });
});

test('data and drawings can be taken out', async () => {
  await reading({}, async page => {
    const [csv, svg, results] = await page.evaluate(() => [report.csv(report.charts[0]), report.svg(report.charts[0]), report.results()]);
    const lines = csv.trim().split('\n');
    assert.equal(lines[0].match(/, ?Mbps/g).length, 5);
    assert.ok(lines.length > 290, `${lines.length} lines`);
    assert.match(svg, /^<svg [^]*copa[^]*<\/svg>$/);
    assert.equal(results.trim().split('\n').length, 5);
    const download = page.waitForEvent('download');
    await page.click('text=PNG >> nth=0');
    const path = await (await download).path();
    assert.equal(readFileSync(path).subarray(1, 4).toString(), 'PNG');
    await page.evaluate(svg => document.body.replaceChildren(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement), svg);
    await screenshot(page, 'report-svg');
  });
});

test('dark and light, by the system or by the button', async () => {
  const paper = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await reading({}, async page => {
    assert.equal(await paper(page), 'rgb(255, 255, 255)');
    await screenshot(page, 'report-light', { fullPage: true });
    await page.click('#theme');
    assert.equal(await paper(page), 'rgb(15, 19, 24)');
  });
  await reading({ dark: true }, async page => {
    assert.equal(await paper(page), 'rgb(15, 19, 24)');
    await screenshot(page, 'report-dark', { fullPage: true });
  });
});

test('on a telephone nothing but the table is wider than the screen, and it says so', async () => {
  for (const dark of [false, true]) {
    await reading({ width: 390, height: 844, dark }, async page => {
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      assert.ok(await page.isVisible('.hint'));
      const sizes = await page.evaluate(() => report.charts.flatMap(({ u }) => u.axes.map(axis => parseInt(axis.font[0]) / devicePixelRatio)));
      assert.ok(sizes.every(size => size >= 11), `${sizes}`);
      await screenshot(page, `report-telephone-${dark ? 'dark' : 'light'}`, { fullPage: true });
    });
  }
});

test('on paper it is light, with its legend and all columns', async () => {
  await reading({ dark: true }, async page => {
    await page.pdf({ path: `${OUT}/report.pdf`, format: 'A4', printBackground: false });
    assert.ok(statSync(`${OUT}/report.pdf`).size > 50_000);
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 720, height: 1000 });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    const wide = await page.evaluate(() => [document.querySelector('#results').scrollWidth, document.body.clientWidth]);
    assert.ok(wide[0] <= wide[1], `a table of ${wide[0]} on ${wide[1]}`);
    await screenshot(page, 'report-paper', { fullPage: true });
  });
});
