// The pictures of docs/, for .ci/pictures: `node pictures.mjs report REPORT.html PICTURE.png`, `node pictures.mjs duel PICTURE.png`.

import { fileURLToPath, pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { launch, open } from './support/browser.mjs';
import { serve } from './support/process.mjs';
import { thalweg } from './support/programs.mjs';

// A page of a README is about this wide; what is below the first charts is for the report itself.
const REPORT = { width: 1300, height: 1790 };
// Pictures, score, sliders, the wire and latency.
const DUEL = { width: 1400, height: 1280 };
// 2 Mbps, 500 kbps and 2 Mbps again, 15 s each: the charts show the drop and the way back.
const RATES = '2Mbps/500kbps@15s';
const SHOWN_AFTER_S = 48;
// What a machine of two cores encodes and plays twice, beside a browser that draws without a graphics card.
const VIDEO = ['--size', '480x270', '--frame-rate', '15'];

const [what, ...rest] = process.argv.slice(2);
const browser = await launch();
try {
  if (what === 'report') {
    const [report, picture] = rest;
    const page = await open(browser, pathToFileURL(resolve(report)).href, REPORT);
    await page.waitForTimeout(1000);
    const height = Math.min(REPORT.height, await page.evaluate(() => document.documentElement.scrollHeight));
    await page.screenshot({ path: picture, fullPage: true, clip: { x: 0, y: 0, width: REPORT.width, height } });
    complain(page);
  } else if (what === 'duel') {
    const [picture] = rest;
    const program = thalweg() ?? fail('no thalweg: cargo build --release -p thalweg-cli, or say where by THALWEG');
    const args = ['duel', 'gcc', 'thalweg', '--rate', RATES, '--delay', '25ms', ...VIDEO, '--listen', '127.0.0.1:0'];
    const running = await serve(program, args);
    try {
      const page = await open(browser, running.address, { ...DUEL, dark: true });
      await page.waitForFunction(() => [...document.querySelectorAll('video')].filter(video => video.currentTime > 1).length === 2);
      await page.waitForTimeout(SHOWN_AFTER_S * 1000);
      await page.screenshot({ path: picture });
      complain(page);
      // What a reader sees must be the schemes.
      const slow = await page.textContent('#slow');
      if (slow) fail(`no picture was made: ${slow} Try again when it has less to do.`);
    } finally {
      await running.stop();
    }
  } else {
    fail(`'${what}' is neither report nor duel (${fileURLToPath(import.meta.url)})`);
  }
} finally {
  await browser.close();
}

function complain(page) {
  if (page.problems.length) fail(page.problems.join('\n'));
}

function fail(why) {
  throw new Error(why);
}
