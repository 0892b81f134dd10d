// The page without a publisher: figures of a fake hub, pictures of a second connection in the same browser.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { launch, open, screenshot } from './support/browser.mjs';
import { loopback } from './support/loopback.mjs';
import { percentile } from './support/measure.mjs';
import { program } from './support/programs.mjs';
import { serve } from './support/process.mjs';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

// A fake hub and a page of it, for as long as `body` takes.
async function watching({ args = ['--answer'], answered = true, query = '', ...options }, body) {
  const server = await serve(program('fake_hub'), ['--listen', '127.0.0.1:0', ...args]);
  let page;
  try {
    page = await open(browser, server.address + query, { before: answered ? loopback : null, ...options });
    await body(page, server);
  } finally {
    await page?.context().close();
    await server.stop();
  }
}

const frames = (page, count, viewer = 0) =>
  page.waitForFunction(([count, viewer]) => window.thalweg?.viewers[viewer]?.frames.length >= count, [count, viewer], { timeout: 30_000 });
const notice = (page, pattern) =>
  page.waitForFunction(pattern => new RegExp(pattern).test(document.querySelector('.notice')?.textContent ?? ''), pattern, { timeout: 30_000 });

test('a picture is shown and its barcodes say how late it is', async () => {
  await watching({}, async page => {
    await frames(page, 150);
    const { frames: shown, unread } = await page.evaluate(() => window.thalweg.viewers[0]);
    const read = shown.filter(frame => frame.number !== null);
    assert.ok(read.length > 0.9 * (read.length + unread), `${read.length} read, ${unread} not`);
    read.slice(1).forEach((frame, index) => assert.ok(frame.number > read[index].number, 'pictures are shown in their order'));
    const median = percentile(read.map(frame => frame.latencyMs), 0.5);
    // More than nothing: it is encoded, sent and decoded. A loaded machine may take long.
    assert.ok(median > 1 && median < 1000, `half of all pictures are ${median} ms late`);
    assert.deepEqual(page.problems, []);
    await screenshot(page, 'single');
  });
});

test('the offer asks for feedback on request, and for video and audio without sending any', async () => {
  await watching({}, async page => {
    await frames(page, 1);
    const [offer] = await page.evaluate(() => window.offers);
    assert.equal(offer.match(/transport-wide-cc-02/g).length, 2);
    assert.doesNotMatch(offer, /transport-wide-cc-extensions-01/);
    assert.equal(offer.match(/a=recvonly/g).length, 2);
    assert.match(offer, /m=video[^]*m=audio/);
  });
});

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

test('schemes are grouped by family and each says what it is', async () => {
  await watching({}, async page => {
    await page.waitForSelector('optgroup', { state: 'attached' });
    const groups = await page.$$eval('optgroup', groups => groups.map(group => [group.label, ...[...group.children].map(option => option.textContent)]));
    assert.deepEqual(groups, [
      ['gcc', 'gcc – WebRTC today', 'gcc:2017 – WebRTC of Chrome 62'],
      ['others', 'vidaptive – Vidaptive over Copa', 'camel – frames leave in bursts'],
    ]);
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

test('a page whose sender has left says that it waits', async () => {
  await watching({ args: ['--answer', '--waiting'] }, async page => {
    await page.waitForFunction(() => /^gcc: waiting, the sender has left or pauses\.$/.test(document.querySelector('.state').textContent));
  });
});

test('a machine that is too slow is named with what it is too slow for', async () => {
  await watching({}, async page => {
    await page.waitForFunction(() => window.thalweg?.viewers[0].figures.length > 5);
    assert.equal(await page.textContent('#slow'), '');
  });
  await watching({ args: ['--answer', '--slow'] }, async page => {
    await page.waitForFunction(() => document.getElementById('slow').textContent !== '');
    assert.match(await page.textContent('#slow'), /^This machine is too slow: the encoder took longer than a frame lasts \(33 ms\) for 41 % of frames\. .*--size/);
    assert.ok(await page.isVisible('#slow'));
    // It is said once: what is written again would be read out again.
    const written = await page.evaluate(() => new Promise(resolve => {
      let count = 0;
      new MutationObserver(changes => { count += changes.length; }).observe(document.getElementById('slow'), { childList: true, characterData: true, subtree: true });
      setTimeout(() => resolve(count), 1000);
    }));
    assert.equal(written, 0);
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

for (const dark of [false, true]) {
  test(`words are legible on ${dark ? 'dark' : 'light'} ground`, async () => {
    await watching({ dark, args: ['--answer', '--duel', '--slow'] }, async page => {
      await frames(page, 5);
      const worst = await page.evaluate(() => {
        // WCAG 2.2, contrast ratio: 4.5 at least.
        const luminance = colour => {
          const [red, green, blue] = colour.match(/[\d.]+/g).map(Number).map(value => value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const ground = element => { const { backgroundColor } = getComputedStyle(element); return /, 0\)$/.test(backgroundColor) ? ground(element.parentElement) : backgroundColor; };
        return [...document.querySelectorAll('.unit, .quiet, .legend span:not(.key), .legend b, figcaption, #score th, #score td, #slow, .state, button, caption, output')].map(element => {
          const [one, other] = [getComputedStyle(element).color, ground(element)].map(luminance).sort((a, b) => b - a);
          return [(one + 0.05) / (other + 0.05), element.outerHTML.slice(0, 80)];
        }).sort(([a], [b]) => a - b)[0];
      });
      assert.ok(worst[0] >= 4.5, worst.join(' '));
    });
  });
}

test('audio is off until it is asked for', async () => {
  await watching({}, async page => {
    await page.waitForSelector('video');
    const muted = () => page.$eval('video', video => video.muted);
    assert.equal(await muted(), true);
    await page.click('.audio');
    assert.deepEqual([await muted(), await page.textContent('.audio')], [false, 'Audio off']);
    await page.click('.audio');
    assert.deepEqual([await muted(), await page.textContent('.audio')], [true, 'Audio on']);
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
    assert.deepEqual(Object.keys(table), ['Late frames', 'Freezes', 'Quality: quantizer', 'Quality: lines', 'Data']);
    assert.deepEqual(table['Late frames'].map(({ best }) => best), [false, true]);
    assert.deepEqual(table['Quality: lines'].map(({ text, best }) => [text, best]), [['720', false], ['720', false]]);
    table.Data.forEach(({ text }) => assert.match(text, /^\d+\.\d MB$/));
    assert.match(await page.textContent('#score caption'), /^Score of 0:\d\d$/);
    assert.deepEqual(page.problems, []);
    await screenshot(page, 'duel', { fullPage: true });
  });
});

test('on a telephone both pictures of a duel come before the charts', async () => {
  await watching({ args: ['--answer', '--duel'], width: 390, height: 844 }, async page => {
    await frames(page, 10, 1);
    const [videos, charts] = await page.evaluate(() => ['video', 'figure:not(.vacant) canvas'].map(what => [...document.querySelectorAll(what)].map(it => it.getBoundingClientRect().top)));
    assert.ok(Math.max(...videos) < Math.min(...charts), `${videos}; ${charts}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await screenshot(page, 'telephone-duel', { fullPage: true });
  });
});

test('on a telephone nothing is wider than the screen', async () => {
  await watching({ width: 390, height: 844 }, async page => {
    await frames(page, 30);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await screenshot(page, 'telephone', { fullPage: true });
  });
});

test('who is refused reads why and when it is tried again', async () => {
  await watching({ args: ['--refuse'] }, async page => {
    await notice(page, '^There are 4 viewers, as many as may be at one time\\. Trying again in \\d s\\.$');
    await screenshot(page, 'refused');
  });
});

test('a wrong token is said once and not tried again', async () => {
  const args = ['--answer', '--token', '0123456789abcdef'];
  await watching({ args, query: '' }, async (page, server) => {
    await frames(page, 1);
    assert.ok(server.address.endsWith('#token=0123456789abcdef'));
    const other = await open(browser, server.address.replace(/#.*/, '#token=wrong'));
    let asked = 0;
    other.on('request', () => { asked++; });
    await other.waitForFunction(() => /needs the token/.test(document.getElementById('about').textContent));
    // Longer than it would take to ask again, as is done when nobody answers.
    await other.waitForTimeout(2500);
    assert.equal(asked, 0);
    await other.context().close();
  });
});

test('a publisher that restarts is found again', async () => {
  const first = await serve(program('fake_hub'), ['--listen', '127.0.0.1:0', '--answer']);
  const page = await open(browser, first.address, { before: loopback });
  try {
    await frames(page, 10);
    await first.stop();
    // With the publisher its pictures end.
    await page.evaluate(() => window.loopback.forEach(peer => peer.close()));
    await notice(page, '^The publisher does not answer\\. Trying again|^The connection is interrupted');
    await screenshot(page, 'interrupted');
    const { host } = new URL(first.address);
    const second = await serve(program('fake_hub'), ['--listen', host, '--answer']);
    const before = await page.evaluate(() => window.thalweg.viewers[0].figures.length);
    await page.waitForFunction(before => window.thalweg.viewers[0].figures.length > before + 10, before, { timeout: 30_000 });
    await notice(page, '^$');
    assert.equal(await page.evaluate(() => window.offers.length), 2);
    // The second counts its frames from another moment, and so does the page.
    const known = await page.evaluate(() => window.thalweg.viewers[0].frames.length);
    await frames(page, known + 5);
    const { ours, theirs, latest } = await page.evaluate(async () => ({
      ours: window.thalweg.about.epoch_ms, theirs: (await (await fetch('/about')).json()).epoch_ms,
      latest: window.thalweg.viewers[0].frames.slice(-5).map(({ latencyMs }) => latencyMs),
    }));
    assert.equal(ours, theirs);
    assert.ok(percentile(latest, 0.5) > 0 && percentile(latest, 0.5) < 1000, `${latest} ms`);
    await second.stop();
  } finally {
    await page.context().close();
    await first.stop();
  }
});

test('who closes the page has left', async () => {
  await watching({}, async (page, server) => {
    await frames(page, 1);
    const viewers = async () => (await (await fetch(new URL('/metrics', server.address))).text()).trim();
    assert.equal(await viewers(), 'thalweg_viewers 1');
    await page.goto('about:blank');
    const until = Date.now() + 10_000;
    while (await viewers() !== 'thalweg_viewers 0' && Date.now() < until) await page.waitForTimeout(50);
    assert.equal(await viewers(), 'thalweg_viewers 0');
  });
});

test('an answer takes the ICE half that a fragment brings', async () => {
  await watching({}, async page => {
    const merged = await page.evaluate(async () => {
      const { merged } = await import('/whep.js');
      const answer = ['v=0', 'm=video 9', 'a=ice-ufrag:old', 'a=ice-pwd:old', 'a=candidate:1 old', 'm=audio 9', 'a=ice-ufrag:old', 'a=ice-pwd:old', ''];
      return merged(answer.join('\r\n'), 'a=ice-ufrag:new\r\na=ice-pwd:secret\r\nm=video 9\r\na=candidate:2 new\r\na=end-of-candidates\r\n');
    });
    assert.deepEqual(merged.split('\r\n'), [
      'v=0', 'm=video 9', 'a=ice-ufrag:new', 'a=ice-pwd:secret', 'a=candidate:2 new', 'a=end-of-candidates',
      'm=audio 9', 'a=ice-ufrag:new', 'a=ice-pwd:secret', '',
    ]);
  });
});
