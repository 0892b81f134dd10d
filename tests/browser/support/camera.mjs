// Debian's Chromium with a file for its camera.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { launch } from './browser.mjs';
import { program } from './programs.mjs';

// A browser whose camera plays this file.
export const launchPlaying = file =>
  launch(['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream', `--use-file-for-fake-video-capture=${file}`]);

// A browser whose camera plays ten seconds of numbered pictures again and again; a folder, which goes when it is closed.
export async function launchWithCamera() {
  const folder = mkdtempSync(`${tmpdir()}/thalweg-camera-`), camera = `${folder}/camera.y4m`;
  writeFileSync(camera, execFileSync(program('barcodes'), ['640x360', '0', '300'], { maxBuffer: 1 << 30 }));
  const browser = await launchPlaying(camera);
  const close = async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { browser, folder, close };
}
