// The page's charts, what changes them, and what is read from them; figures of a fake hub.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { screenshot } from './support/browser.mjs';
import { frames, watching } from './support/hub.mjs';

test('the charts are drawn and the state is shown in words', async () => {
  await watching({}, async page => {
    await frames(page, 60);
    await page.waitForFunction(() => window.thalweg.viewers[0].figures.length > 20);
    await page.waitForTimeout(500);
    const colours = await page.$$eval('figure:not([hidden]) canvas', canvases => canvases.map(canvas => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    }));
    assert.equal(colours.length, 4, 'gcc has no alpha, and so no chart of it');
    colours.forEach(count => assert.ok(count > 5, `a canvas of ${count} colours`));
    const { range: [from, until], first, last } = await page.evaluate(() => {
      const { figures } = window.thalweg.viewers[0];
      return { range: window.thalweg.charts[0][0].range, first: figures[0].at, last: figures.at(-1).at };
    });
    // What there is, and at least ten seconds; drawn five times a second.
    assert.ok(from === first && until >= from + 10 && until < Math.max(from + 10, last) + 2, `from ${from} to ${until} s: there is ${first} to ${last} s`);
    assert.match(await page.textContent('.state'), /^gcc: 1280 × 720 at \d\.\d\d Mbps, \d+ fps, \d+ ms after the camera\.$/);
    assert.match(await page.textContent('.detail'), /1 keyframe, 0\.4 % of packets lost/);
    assert.match(await page.textContent('#about'), /30 fps; over an emulated link/);
  });
});

test('a switch of scheme reaches the publisher and shows', async () => {
  await watching({}, async page => {
    await frames(page, 1);
    await page.selectOption('select', 'vidaptive');
    await page.waitForFunction(() => window.thalweg.viewers[0].figures.at(-1)?.scheme === 'vidaptive');
    await page.waitForFunction(() => document.querySelectorAll('figure:not([hidden])').length === 5);
    await page.waitForFunction(() => document.querySelector('.state').textContent.startsWith('vidaptive'));
    const { marks, title, label } = await page.evaluate(() => ({
      marks: window.thalweg.viewers[0].marks, title: document.title, label: document.querySelector('video').getAttribute('aria-label'),
    }));
    assert.deepEqual(marks.map(({ text }) => text), ['vidaptive']);
    assert.match(title, /^vidaptive: built-in scene, over an emulated link/);
    assert.equal(label, 'Video sent by vidaptive');
    // A dashed line of the ink's colour at that time, from top to bottom, in every chart.
    await page.waitForFunction(() => window.thalweg.charts[0][0].range[1] > window.thalweg.viewers[0].marks[0].at + 0.5);
    await page.click('#pause');
    const inked = await page.evaluate(() => window.thalweg.charts[0].filter(({ figure }) => !figure.hidden).map(({ u }) => {
      const [{ at }] = window.thalweg.viewers[0].marks, { top, height } = u.bbox;
      const { data } = u.ctx.getImageData(Math.round(u.valToPos(at, 'x', true)), top, 1, height);
      const ink = getComputedStyle(document.body).color.match(/\d+/g).map(Number);
      return [...Array(height).keys()].filter(row => ink.every((value, channel) => data[4 * row + channel] === value)).length / height;
    }));
    assert.equal(inked.length, 5);
    inked.forEach(share => assert.ok(share > 0.4, `${share} of a mark's line is drawn`));
  });
});

test('what the link carries in truth is drawn beside what the path is taken for', async () => {
  await watching({}, async page => {
    await page.waitForFunction(() => window.thalweg?.viewers[0].figures.length > 30);
    await page.click('#pause');
    const found = await page.evaluate(() => {
      const { u, layers, figure } = window.thalweg.charts[0][0], { figures } = window.thalweg.viewers[0];
      const of = name => u.data[1 + layers.findIndex(layer => layer.name === name)];
      const css = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
      const pixel = (x, y) => '#' + [...u.ctx.getImageData(x, y, 1, 1).data].slice(0, 3).map(value => value.toString(16).padStart(2, '0')).join('');
      // Where nothing else is: gcc of the fake hub begins far below, and its estimate stays within a tenth of the truth.
      // It has the same truth before and after: at a step the edge of a pixel would decide.
      const truth = of('the link, in truth'), row = [...truth.keys()].find(row => row >= 10 && truth[row - 1] === truth[row] && truth[row] === truth[row + 1]);
      const x = Math.round(u.valToPos(u.data[0][row], 'x', true));
      const line = [-2, -1, 0, 1, 2].map(by => pixel(x, Math.round(u.valToPos(truth[row], 'y', true)) + by));
      const full = css('capacity').replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3');
      return {
        truth, sent: figures.map(({ link }) => link.capacity_bps / 1e6), estimates: of('the path, as estimated').filter(value => value !== null).length,
        area: pixel(x, Math.round(u.valToPos(truth[row] * 0.8, 'y', true))), full, line, colour: css('link'), legend: figure.querySelector('.legend').innerText,
      };
    });
    assert.deepEqual(found.truth.slice(0, 20), found.sent.slice(0, 20));
    assert.ok(found.estimates > 20 && [1, 3].includes(found.truth[5]), JSON.stringify(found.truth));
    assert.equal(found.area, found.full);
    assert.ok(found.line.includes(found.colour), `${found.colour} is not among ${found.line}`);
    assert.match(found.legend, /the link, in truth\s*[13]\.00/);
  });
});

test('the sliders of the link change it for all viewers, and are marked', async () => {
  await watching({ args: ['--answer', '--duel'] }, async page => {
    // Of both: a change is marked where there are figures from before.
    await page.waitForFunction(() => window.thalweg?.viewers.every(({ figures }) => figures.length > 0));
    await page.waitForSelector('#link .rate input');
    const set = (name, value) => page.$eval(`#link .${name} input`, (input, value) => {
      input.value = value;
      for (const kind of ['input', 'change']) input.dispatchEvent(new Event(kind, { bubbles: true }));
    }, value);
    assert.equal(await page.isVisible('#link .own'), false);
    await set('rate', Math.log10(5e5));
    const link = wanted => page.waitForFunction(wanted => window.thalweg.viewers.every(({ figures }) => {
      const { rate_bps, delay_ms, loss } = figures.at(-1).link;
      return JSON.stringify([rate_bps, delay_ms, loss]) === wanted;
    }), JSON.stringify(wanted));
    await link([500_000, 25, 0]);
    await set('delay', 80);
    await link([500_000, 80, 0]);
    await set('loss', 3);
    await link([500_000, 80, 0.03]);
    await page.click('#link .own');
    await link([null, 80, 0.03]);
    const marks = await page.evaluate(() => window.thalweg.viewers.map(({ marks }) => marks.map(({ text }) => text)));
    marks.forEach(texts => assert.deepEqual(texts, ['0.500 Mbps', '80 ms', '3 % loss', 'own rate']));
    assert.match(await page.textContent('#link .delay output'), /^80 ms each way$/);
    // By the keyboard, from the least rate: each step is one, though the figures follow later than the keys.
    await set('rate', 5);
    await link([100_000, 80, 0.03]);
    await page.focus('#link .rate input');
    for (let step = 0; step < 10; step++) {
      await page.keyboard.press('ArrowRight');
      await page.waitForTimeout(50);
    }
    await link([160_000, 80, 0.03]);
    assert.deepEqual(page.problems, []);
  });
});

test('charts pause, zoom by dragging, and show values under the pointer', async () => {
  await watching({}, async page => {
    await page.waitForFunction(() => window.thalweg?.viewers[0].figures.length > 40);
    const range = () => page.evaluate(() => window.thalweg.charts[0][0].range);
    const last = () => page.evaluate(() => window.thalweg.charts[0][0].u.data[0].at(-1));
    await page.click('#pause');
    const before = await last(), paused = await range();
    await page.waitForTimeout(600);
    assert.deepEqual(await range(), paused);
    const beyond = await page.evaluate(() => window.thalweg.charts[0][0].u.data[0].filter(at => at > window.thalweg.charts[0][0].range[1]).length);
    assert.ok(beyond <= 1, `${beyond} points beyond the edge: one, for the line that crosses it`);
    const box = await page.locator('#charts figure:not([hidden]) .u-over').first().boundingBox();
    const at = share => [box.x + share * box.width, box.y + box.height / 2];
    // The values of the same time in all charts; of the truth it is one of two.
    await page.mouse.move(...at(0.2));
    const expected = await page.evaluate(() => {
      const { u, layers } = window.thalweg.charts[0][0], other = window.thalweg.charts[0][2].u;
      const of = name => u.data[1 + layers.findIndex(layer => layer.name === name)][u.cursor.idx];
      return { target: of('asked of the encoder').toFixed(2), same: Math.abs(u.data[0][u.cursor.idx] - other.data[0][other.cursor.idx]) };
    });
    const legend = await page.locator('#charts figure .legend').first().innerText();
    assert.match(legend.replace(/\s+/g, ' '), new RegExp(`asked of the encoder ?${expected.target.replace('.', '\\.')}`));
    assert.ok(expected.same < 0.01, `${expected.same} s apart`);
    await page.click('#pause');
    await page.waitForFunction(before => window.thalweg.charts[0][0].u.data[0].at(-1) > before + 0.5, before);
    const [from, until] = await range();
    await page.mouse.move(...at(0.2));
    await page.mouse.down();
    await page.mouse.move(...at(0.5), { steps: 5 });
    await page.mouse.up();
    const [zoomedFrom, zoomedUntil] = await range();
    assert.ok(Math.abs((zoomedUntil - zoomedFrom) / (until - from) - 0.3) < 0.05, `${from} to ${until}, then ${zoomedFrom} to ${zoomedUntil}`);
    assert.equal(await page.textContent('#pause'), 'Go on');
  });
});

test('figures come out as CSV, a line for each with what was changed', async () => {
  await watching({ args: ['--answer', '--duel'] }, async page => {
    await page.waitForFunction(() => window.thalweg?.viewers.every(({ figures }) => figures.length > 10));
    await page.click('#link .delay input', { position: { x: 60, y: 8 } });
    await page.waitForFunction(() => window.thalweg.viewers.every(({ marks }) => marks.length === 1));
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#csv')]);
    assert.equal(download.suggestedFilename(), 'thalweg.csv');
    const lines = readFileSync(await download.path(), 'utf8').trim().split('\n').map(line => line.split(','));
    const [names, ...rows] = lines, column = name => { assert.ok(names.includes(name), name); return rows.map(row => row[names.indexOf(name)]); };
    assert.deepEqual([...new Set(column('channel'))], ['gcc', 'vidaptive']);
    assert.ok(column('wire_bps').every(value => Number(value) > 0) && column('link_capacity_bps').every(value => ['1000000', '3000000'].includes(value)));
    assert.equal(column('mark').filter(Boolean).length, 2);
    assert.ok(rows.every(row => row.length === names.length));
  });
});

test('two channels are side by side, their charts line up, and a score counts both alike', async () => {
  await watching({ args: ['--answer', '--duel'], dark: true, height: 1300 }, async page => {
    await frames(page, 60, 0);
    await frames(page, 60, 1);
    const boxes = await page.$$eval('video', videos => videos.map(video => video.getBoundingClientRect().toJSON()));
    assert.equal(boxes[0].top, boxes[1].top);
    assert.ok(boxes[0].right <= boxes[1].left);
    assert.deepEqual(await page.$$eval('.stage .name', names => names.map(name => name.textContent)), ['gcc', 'vidaptive']);
    const charts = await page.evaluate(() => window.thalweg.charts[0].map((chart, kind) => [chart, window.thalweg.charts[1][kind]]
      .map(({ u, canvas }) => ({ top: canvas.getBoundingClientRect().top, scales: [u.scales.x, u.scales.y].map(({ min, max }) => [min, max]) }))));
    assert.equal(charts.length, 5);
    charts.forEach(([left, right]) => assert.deepEqual(left, right));
    // Only the right has alpha; the left leaves its place free.
    assert.deepEqual(await page.$$eval('#charts figure:nth-last-child(-n+2)', all => all.map(figure => getComputedStyle(figure).visibility)), ['hidden', 'visible']);

    // One freezes: its frames are late and nothing else changes.
    await page.evaluate(() => { window.frozen = 'gcc'; });
    await page.waitForTimeout(3000);
    const score = () => page.$$eval('#score tbody tr', rows => Object.fromEntries(rows.map(row => [row.cells[0].textContent, [row.cells[1], row.cells[2]].map(cell => ({ text: cell.textContent, best: cell.className === 'best' }))])));
    // A freeze counts while it lasts.
    const standing = (await score()).Freezes;
    assert.ok(Number(standing[0].text.match(/\(([\d.]+) s\)/)[1]) > 1.5 && !standing[0].best, JSON.stringify(standing));
    const before = await page.evaluate(() => { window.frozen = null; return window.thalweg.viewers[0].frames.length; });
    await frames(page, before + 10);
    const tallies = await page.evaluate(() => {
      const nowMs = window.thalweg.clock.publisher(performance.now());
      return window.thalweg.tallies().map((tally, viewer) => ({ ...tally.late(nowMs), freezes: tally.frozen(nowMs).count, bytes: tally.bytes, seconds: (nowMs - tally.sinceMs) / 1000, frames: window.thalweg.viewers[viewer].frames.length }));
    });
    const [left, right] = tallies;
    assert.ok(Math.abs(left.all - 30 * (left.seconds - 0.4)) <= 2 && left.all === right.all, JSON.stringify(tallies));
    assert.ok(left.freezes >= 1 && left.late > 60 && left.late > right.late + 30, JSON.stringify(tallies));
    const table = await score();
    assert.deepEqual(Object.keys(table), ['Late frames', 'Freezes', 'Quality: quantiser', 'Quality: lines', 'Data']);
    assert.deepEqual(table['Late frames'].map(({ best }) => best), [false, true]);
    assert.deepEqual(table['Quality: lines'].map(({ text, best }) => [text, best]), [['720', false], ['720', false]]);
    table.Data.forEach(({ text }) => assert.match(text, /^\d+\.\d MB$/));
    assert.match(await page.textContent('#score caption'), /^Score of 0:\d\d$/);
    assert.deepEqual(page.problems, []);
    await screenshot(page, 'duel', { fullPage: true });
  });
});
