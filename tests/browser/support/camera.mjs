// Debian's Chromium with a file for its camera.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { launch } from './browser.mjs';
import { program } from './programs.mjs';

// A browser whose camera plays this file; `args` are further options of its command line.
export const launchPlaying = (file, args = []) =>
  launch(['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream', `--use-file-for-fake-video-capture=${file}`, ...args]);

// Numbered pictures as a file of a camera (y4m): ten seconds of them.
export const numbered = () => execFileSync(program('barcodes'), ['640x360', '0', '300'], { maxBuffer: 1 << 30 });

// A browser whose camera plays numbered pictures again and again; a folder, which goes when it is closed.
export async function launchWithCamera(args = []) {
  const folder = mkdtempSync(`${tmpdir()}/thalweg-camera-`), camera = `${folder}/camera.y4m`;
  writeFileSync(camera, numbered());
  const browser = await launchPlaying(camera, args);
  const close = async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { browser, folder, close };
}
