// A program that serves something and says where.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

// Starts it and waits for an address of HTTP, or what else `says` finds in what it writes. `errors` are its last words on standard error,
// `output` is all of standard output, `input` where it reads from: first what is `given`.
export async function serve(program, args, { timeoutMs = 30_000, env = {}, says = /http:\/\/[^\s]+/, given = null } = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  // A program that has ended reads no more.
  child.stdin.on('error', () => {});
  if (given) child.stdin.write(given);
  const exited = once(child, 'exit').catch(() => {});
  let output = '', errors = '', written = '';
  child.stderr.on('data', data => { errors = (errors + data).slice(-4000); });
  const address = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${program} named no address within ${timeoutMs} ms: ${errors}`)), timeoutMs);
    child.on('error', error => { clearTimeout(late); reject(new Error(`${program} does not start: ${error.message}`)); });
    child.on('exit', code => { clearTimeout(late); reject(new Error(`${program} ended with ${code}: ${errors}`)); });
    const look = data => {
      written += data;
      const found = written.match(says);
      if (found) { clearTimeout(late); resolve(found[0]); }
    };
    child.stdout.on('data', data => { output += data; look(data); });
    child.stderr.on('data', look);
  });
  return {
    address,
    errors: () => errors,
    output: () => output,
    input: child.stdin,
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
