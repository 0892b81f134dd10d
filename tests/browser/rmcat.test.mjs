// The page of `thalweg bench rmcat`, opened from the disk: a telephone, dark and light, paper, and values under the pointer.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { OUT, launch, open, screenshot } from './support/browser.mjs';
import { thalweg } from './support/programs.mjs';

const CASES = ['5.1', '5.3', '5.6', '6.1'], SCHEMES = ['gcc', 'nada', 'copa'];
let browser, folder, address;
before(async () => {
  const program = thalweg();
  assert.ok(program, 'cargo build -p thalweg-cli');
  folder = mkdtempSync(`${tmpdir()}/thalweg-rmcat-`);
  execFileSync(program, ['bench', 'rmcat', '--case', CASES.join(','), '--scheme', SCHEMES.join(','), '--runs', '2', '-o', folder], { stdio: 'pipe' });
  address = pathToFileURL(`${folder}/rmcat.html`).href;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// The page in a window, with what it asks of the network: nothing.
async function reading(options, body) {
  const page = await open(browser, address, { width: 1400, ...options });
  const asked = [];
  page.on('request', request => asked.push(request.url()));
  try {
    await body(page);
    assert.deepEqual(page.problems, []);
    assert.deepEqual(asked, []);
  } finally {
    await page.context().close();
  }
}

const paper = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

test('a verdict of the matrix leads to its charts, which have lines within their plots', async () => {
  await reading({}, async page => {
    assert.equal(await page.locator('.matrix tbody td a').count(), CASES.length * SCHEMES.length);
    await screenshot(page, 'rmcat-light', { fullPage: true });
    await page.click('.matrix tbody tr:nth-child(2) td:nth-of-type(3) a');
    assert.equal(await page.evaluate(() => document.querySelector(':target').id), '5.3/copa');
    const outside = await page.$$eval('svg.chart', charts => charts.flatMap(chart => {
      const box = chart.getBoundingClientRect();
      // The box of a text is as tall as its line, its figures are not.
      const beyond = (it, room) => it.left < box.left - 1 || it.right > box.right + 1 || it.top < box.top - room || it.bottom > box.bottom + room;
      return [...chart.querySelectorAll('path, text')].filter(it => beyond(it.getBoundingClientRect(), it.localName === 'text' ? 6 : 1)).map(it => it.outerHTML);
    }));
    assert.deepEqual(outside, []);
    const lines = await page.$$eval('svg.chart path.f, svg.chart path.m', paths => paths.map(path => path.getTotalLength()));
    assert.ok(lines.length >= CASES.length * SCHEMES.length * 2 - 2 && lines.every(length => length > 50), `${lines}`);
  });
});

test('the pointer shows a moment in every chart of its row, and its values', async () => {
  await reading({}, async page => {
    const chart = page.locator('#case-0 svg.chart').first();
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    await page.mouse.move(box.x + box.width * (30 + 220 * 0.305) / 260, box.y + box.height / 2);
    assert.match(await page.textContent('#case-0 output'), /^gcc at 30 s: flow 0 \d\.\d\d Mbps, delay \d+ ms$/);
    assert.equal(await page.locator('#case-0 .cursor').count(), SCHEMES.length * 2);
    await page.mouse.move(2, 2);
    assert.equal(await page.locator('.cursor').count(), 0);
  });
});

test('on a telephone nothing but a row is wider than the screen, and texts can be read', async () => {
  for (const dark of [false, true]) {
    await reading({ width: 390, height: 844, dark }, async page => {
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      const row = await page.$eval('.row', row => [row.scrollWidth, row.clientWidth]);
      assert.ok(row[0] > row[1], `a row of ${row[0]} in ${row[1]}`);
      const sizes = await page.$$eval('svg.chart text', texts => texts.map(text => text.getBoundingClientRect().height));
      assert.ok(Math.min(...sizes) >= 10, `${Math.min(...sizes)} px`);
      await screenshot(page, `rmcat-telephone-${dark ? 'dark' : 'light'}`);
    });
  }
});

test('dark and light by the system, and light on paper', async () => {
  await reading({}, async page => assert.equal(await paper(page), 'rgb(255, 255, 255)'));
  await reading({ dark: true }, async page => {
    assert.equal(await paper(page), 'rgb(15, 19, 24)');
    await screenshot(page, 'rmcat-dark', { fullPage: true });
    await page.pdf({ path: `${OUT}/rmcat.pdf`, format: 'A4' });
    assert.ok(statSync(`${OUT}/rmcat.pdf`).size > 50_000);
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 720, height: 1000 });
    assert.equal(await paper(page), 'rgb(255, 255, 255)');
    const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide[0] <= wide[1], `a page of ${wide[0]} on ${wide[1]}`);
  });
});

test('without JavaScript everything is there but the values under the pointer', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(address);
  assert.equal(await page.locator('svg.chart path.m').count(), await page.locator('svg.chart').count() / 2);
  await context.close();
});
