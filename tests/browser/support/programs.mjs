// Where cargo puts what the tests start.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const TARGET = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../../target', import.meta.url));

// A program of tools/peers, of the release build when there is one.
export function program(name) {
  const found = built(name);
  if (!found) throw new Error(`${name} is not in ${TARGET}: cargo build -p thalweg-peers`);
  return found;
}

// The program itself, from THALWEG or from where cargo puts it; null when it has not been built.
export function thalweg() {
  if (!process.env.THALWEG) return built('thalweg');
  return existsSync(process.env.THALWEG) ? process.env.THALWEG : null;
}

// A program that cargo built under this name, of the release build when there is one; null when it has not been built.
export function built(name) {
  return ['release', 'debug'].map(profile => `${TARGET}/${profile}/${name}`).find(place => existsSync(place)) ?? null;
}
