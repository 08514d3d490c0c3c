/** A server process with its own home, and the terminal interface on its sessions from another home. */

import { type ChildProcess, spawn } from "node:child_process";

import { CLI, environment, newPlace, type Place } from "../cli/harness.ts";
import { afterFile } from "../support/clean-up.ts";
import { ownPort } from "../support/own-port.ts";
import { onScreen, type ScreenOptions, type ScreenRun } from "./screen-harness.ts";

export const TOKEN = "0123456789abcdef0123456789abcdef";

export interface Server {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  readonly url: string;
  readonly link: string;
}

/** Starts a server. Default port: one on which the server can restart. */
export async function serve(
  place: Place,
  env: Readonly<Record<string, string>>,
  port?: number,
): Promise<Server> {
  const child = spawn(process.execPath, [CLI, "serve", "--port", String(port ?? (await ownPort()))], {
    cwd: place.work,
    env: environment(place, { THROUGHLINE_TOKEN: TOKEN, ...env }),
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = new Promise((resolve) => void child.on("exit", resolve));
  afterFile(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let link = "";
  for await (const chunk of child.stdout) {
    link += String(chunk);
    if (link.includes("\n")) break;
  }
  return { child, exited, link: link.trim(), url: new URL(link.trim()).origin };
}

/** A terminal on another home: nothing it shows can come from files. */
export function onServer(
  server: Pick<Server, "url">,
  args: readonly string[],
  options: ScreenOptions = {},
): ScreenRun & { readonly place: Place } {
  const place = newPlace();
  const screen = onScreen(place, ["--server", server.url, ...args], {
    ...options,
    env: { THROUGHLINE_TOKEN: TOKEN, ...options.env },
  });
  return Object.assign(screen, { place });
}
