/**
 * Clients that are programs: run in the client's folder, with what they print.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Resolves to what it printed; rejects with both of its outputs if it ends with anything but 0. */
export function runProgram(command, args, { env, cwd, timeoutMs = 120_000 } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    let out = "";
    let errors = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (errors += chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.stdout.write(`${out}${errors}`);
      if (code === 0) return resolve(out);
      const said = `${out}\n${errors}`.trim().slice(-1200);
      return reject(new Error(`${signal ?? `exit ${code}`}: ${said}`));
    });
  });
}

/** A file inside an installed package whose folder begins with these words, such as the binary for this machine. */
export function packageFile(dir, begins, path) {
  const scope = begins.includes("/") ? begins.slice(0, begins.indexOf("/")) : "";
  const folder = join(dir, "node_modules", scope);
  const name = readdirSync(folder).find((one) => join(scope, one).startsWith(begins));
  if (name === undefined) throw new Error(`no package ${begins}… was installed for this machine`);
  return join(folder, name, path);
}
