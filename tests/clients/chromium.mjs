// Debian's Chromium on the page: `chromium.mjs PAGE SECONDS`.

import { setTimeout } from 'node:timers/promises';
import { launch, open } from '../browser/support/browser.mjs';

const [address, seconds] = process.argv.slice(2);
const browser = await launch();
const page = await open(browser, `${address}#token=${process.env.THALWEG_TOKEN}`);
await setTimeout(1000 * Number(seconds));
const frames = await page.evaluate(() => {
  const { viewers: [viewer], clock } = window.thalweg;
  return viewer.frames.map(({ shownAtMs, number }) => [clock.publisher(shownAtMs), number]);
});
console.log(JSON.stringify({ version: `Chromium ${browser.version()}`, frames }));
await browser.close();
