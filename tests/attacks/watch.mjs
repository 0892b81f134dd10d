// A viewer who means no harm: the page in Chromium. `node watch.mjs ADDRESS` writes one line of JSON a second, with the wall clock's
// milliseconds of each frame that was shown; the first has the publisher's ICE user name for it. Ends with its standard input.

import { launch, open } from '../browser/support/browser.mjs';

const browser = await launch();
let over = false;
process.stdin.on('end', () => { over = true; }).resume();

// Runs in the page before its scripts.
function keepAnswers() {
  const real = window.fetch;
  window.answers = [];
  window.fetch = async (...request) => {
    const response = await real(...request);
    if (response.status === 201) window.answers.push(await response.clone().text());
    return response;
  };
}

const page = await open(browser, process.argv[2], { width: 640, height: 480, before: keepAnswers });
await page.waitForFunction(() => window.thalweg?.viewers[0].frames.length > 30, null, { timeout: 40_000 });
const ufrag = await page.evaluate(() => window.answers[0].match(/a=ice-ufrag:(\S+)/)[1]);
console.log(JSON.stringify({ ufrag }));

for (let since = -Infinity, states = 0; !over;) {
  const seen = await page.evaluate(([since, states]) => {
    const viewer = window.thalweg.viewers[0];
    const shown = viewer.frames.map(({ shownAtMs }) => shownAtMs).filter(at => at > since);
    return { shown, origin: performance.timeOrigin, states: viewer.states.slice(states).map(({ state }) => state) };
  }, [since, states]);
  since = seen.shown.at(-1) ?? since;
  states += seen.states.length;
  console.log(JSON.stringify({ shown: seen.shown.map(at => seen.origin + at), states: seen.states }));
  await page.waitForTimeout(1000);
}
await browser.close();
