// A browser for the tests of one file, and pages of a fake hub in it: figures of a program, pictures of a second connection in the same
// browser.

import { after, before } from 'node:test';
import { launch, open } from './browser.mjs';
import { loopback } from './loopback.mjs';
import { serve } from './process.mjs';
import { program } from './programs.mjs';

export let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

// A fake hub and a page of it, for as long as `body` takes.
export async function watching({ args = ['--answer'], answered = true, query = '', ...options }, body) {
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

export const frames = (page, count, viewer = 0) =>
  page.waitForFunction(([count, viewer]) => window.thalweg?.viewers[viewer]?.frames.length >= count, [count, viewer], { timeout: 30_000 });
export const notice = (page, pattern) =>
  page.waitForFunction(pattern => new RegExp(pattern).test(document.querySelector('.notice')?.textContent ?? ''), pattern, { timeout: 30_000 });
