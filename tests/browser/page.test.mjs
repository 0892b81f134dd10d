// The page without a publisher: figures of a fake hub, pictures of a second connection in the same browser.

import assert from 'node:assert/strict';
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
    assert.equal(colours.length, 5, 'gcc has no alpha, and so no chart of it');
    colours.forEach(count => assert.ok(count > 5, `a canvas of ${count} colours`));
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
    await page.waitForFunction(() => document.querySelectorAll('figure:not([hidden])').length === 6);
    await page.waitForFunction(() => document.querySelector('.state').textContent.startsWith('vidaptive'));
  });
});

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

test('two channels are side by side, each with its picture and its charts', async () => {
  await watching({ args: ['--answer', '--duel'], dark: true, height: 1300 }, async page => {
    await frames(page, 60, 0);
    await frames(page, 60, 1);
    const boxes = await page.$$eval('video', videos => videos.map(video => video.getBoundingClientRect().toJSON()));
    assert.equal(boxes[0].top, boxes[1].top);
    assert.ok(boxes[0].right <= boxes[1].left);
    assert.deepEqual(await page.$$eval('.name', names => names.map(name => name.textContent)), ['gcc', 'vidaptive']);
    assert.deepEqual(page.problems, []);
    await screenshot(page, 'duel');
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
    assert.ok(server.address.endsWith('?token=0123456789abcdef'));
    const other = await open(browser, server.address.replace(/\?.*/, '?token=wrong'));
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
