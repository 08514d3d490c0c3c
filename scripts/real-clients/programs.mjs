/**
 * Runs clients that are programs, in the client's folder, and returns their output.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * Resolves to its output. Rejects with both outputs if the exit code is not 0. `killWhen` names a file in `cwd`: the program
 * is killed once it exists.
 */
export function runProgram(command, args, { env, cwd, timeoutMs = 120_000, killWhen } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    const watch =
      killWhen && setInterval(() => existsSync(join(cwd, killWhen)) && child.kill("SIGKILL"), 100);
    let out = "";
    let errors = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (errors += chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearInterval(watch);
      process.stdout.write(`${out}${errors}`);
      if (code === 0) return resolve(out);
      const said = `${out}\n${errors}`.trim().slice(-1200);
      return reject(new Error(`${signal ?? `exit ${code}`}: ${said}`));
    });
  });
}

/** A file in an installed package whose folder name begins with this text, such as the binary for this machine. */
export function packageFile(dir, begins, path) {
  const scope = begins.includes("/") ? begins.slice(0, begins.indexOf("/")) : "";
  const folder = join(dir, "node_modules", scope);
  const name = readdirSync(folder).find((one) => join(scope, one).startsWith(begins));
  if (name === undefined) throw new Error(`no package ${begins}… was installed for this machine`);
  return join(folder, name, path);
}
