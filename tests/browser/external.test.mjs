// A program outside the workspace publishes with a congestion controller of its own (tests/external): stock Chromium plays it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launch, open, screenshot } from './support/browser.mjs';
import { built } from './support/programs.mjs';
import { serve } from './support/process.mjs';

const PROGRAM = built('external-publish');
const skip = PROGRAM ? false : 'external-publish has not been built: make programs';

test('Chromium plays what a controller from outside sends', { skip }, async () => {
  const server = await serve(PROGRAM, []);
  const browser = await launch();
  try {
    const page = await open(browser, server.address);
    const decoded = () => page.evaluate(() => window.thalweg.viewers[0].statistics.at(-1)?.video?.framesDecoded ?? 0);
    await page.waitForFunction(() => window.thalweg?.viewers[0]?.frames.length > 30, null, { timeout: 40_000 });
    const before = await decoded(), begun = Date.now();
    await page.waitForTimeout(10_000);
    const frames = await decoded() - before, fps = frames / ((Date.now() - begun) / 1000);
    await screenshot(page, 'external');
    const figures = await page.evaluate(() => window.thalweg.viewers[0].figures.at(-1));
    console.log(`${frames} frames decoded in 10 s, ${fps.toFixed(1)} fps; scheme ${figures.scheme}`);
    assert.equal(figures.scheme, 'aimd');
    assert.ok(fps > 15 && fps < 35, `${fps} frames a second`);
    assert.deepEqual(page.problems, []);
  } finally {
    await browser.close();
    const { code } = await server.stop();
    assert.equal(code, 0, server.errors());
  }
});
