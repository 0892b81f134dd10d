// A program that serves a page and says where on standard output.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

// Starts it and waits for a line with an address of HTTP; `errors` are its last words on standard error.
export async function serve(program, args, { timeoutMs = 30_000, env = {} } = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const exited = once(child, 'exit').catch(() => {});
  let output = '', errors = '';
  child.stderr.on('data', data => { errors = (errors + data).slice(-4000); });
  const address = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${program} named no address within ${timeoutMs} ms: ${errors}`)), timeoutMs);
    child.on('error', error => { clearTimeout(late); reject(new Error(`${program} does not start: ${error.message}`)); });
    child.on('exit', code => { clearTimeout(late); reject(new Error(`${program} ended with ${code}: ${errors}`)); });
    const look = data => {
      output += data;
      const found = output.match(/http:\/\/[^\s]+/);
      if (found) { clearTimeout(late); resolve(found[0]); }
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
  });
  return {
    address,
    errors: () => errors,
    // Gently, as Ctrl-C does; by force when that takes longer than it may.
    async stop({ withinMs = 5000 } = {}) {
      child.stdin.end();
      child.kill('SIGINT');
      const force = setTimeout(() => child.kill('SIGKILL'), withinMs);
      await exited;
      clearTimeout(force);
      return { code: child.exitCode, signal: child.signalCode };
    },
  };
}
