// Debian's Chromium, with nothing but the pages of the tests to talk to.

import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
// Where screenshots and figures go.
export const OUT = process.env.BROWSER_OUT ?? fileURLToPath(new URL('../out', import.meta.url));

// `args` are further options of its command line.
export async function launch(args = []) {
  return chromium.launch({
    executablePath: EXECUTABLE,
    headless: true,
    args: [
      '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
      '--autoplay-policy=no-user-gesture-required',
      // Candidates with addresses in the place of names that only multicast could resolve.
      '--disable-features=WebRtcHideLocalIpsWithMdns',
      ...args,
    ],
  });
}

// A page that remembers what went wrong in it: `page.problems`, without what the test expects.
export async function open(browser, address, { width = 1280, height = 900, dark = false, before = null } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
  const page = await context.newPage();
  page.problems = [];
  page.on('pageerror', error => page.problems.push(`exception: ${error.message}`));
  page.on('console', message => { if (message.type() === 'error') page.problems.push(message.text()); });
  if (before) await page.addInitScript(before);
  await page.goto(address);
  return page;
}

export async function screenshot(page, name, options = {}) {
  await mkdir(OUT, { recursive: true });
  const path = `${OUT}/${name}.png`;
  await page.screenshot({ path, ...options });
  return path;
}
