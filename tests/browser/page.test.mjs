// What the page shows of a publisher that is a fake hub: pictures, words, sound, on a telephone too.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { screenshot } from './support/browser.mjs';
import { frames, watching } from './support/hub.mjs';
import { percentile } from './support/measure.mjs';

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
