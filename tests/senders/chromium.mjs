// Debian's Chromium sends a camera, which is a file, by the receiver's page: `chromium.mjs PAGE CLIP SECONDS`.

import { setTimeout } from 'node:timers/promises';
import { open } from '../browser/support/browser.mjs';
import { launchPlaying } from '../browser/support/camera.mjs';

const [address, clip, seconds] = process.argv.slice(2);
const browser = await launchPlaying(clip);
console.log(`Chromium ${browser.version()}`);
const page = await open(browser, address);
await page.waitForFunction(() => document.getElementById('state').textContent === 'Sending.', null, { timeout: 30_000 });
await setTimeout(1000 * Number(seconds));
await page.click('#send');
// Saying goodbye is a request of the page's, which ends with it.
await setTimeout(500);
await browser.close();
if (page.problems.length) throw new Error(page.problems.join('\n'));
