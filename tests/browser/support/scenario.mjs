// Links that no option of `publish` describes, as scenario files.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';

// A file with these hops ahead and 25 ms back; `use` gets its name, and the file is gone afterwards.
export async function withScenario(hops, use) {
  const folder = mkdtempSync(`${tmpdir()}/thalweg-scenario-`), file = `${folder}/scenario.toml`;
  writeFileSync(file, `name = "link"\nduration = "60s"\n[video]\nsource = "scene"\n[codec.model]\n${hops}[[reverse.hops]]\ndelay = { delay = "25ms" }\n`);
  try {
    return await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
