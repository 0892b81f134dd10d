// How the page connects, waits and comes back; a fake hub answers, refuses, or has left.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, screenshot } from './support/browser.mjs';
import { browser, frames, notice, watching } from './support/hub.mjs';
import { loopback } from './support/loopback.mjs';
import { percentile } from './support/measure.mjs';
import { serve } from './support/process.mjs';
import { program } from './support/programs.mjs';

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
