/**
 * What stands between the client and the emulator: nothing, the proxy, or a proxy that remembers by call id, which
 * the judge must catch.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startProxy } from "../../../src/proxy/relay/index.ts";
import { startNaiveProxy } from "./naive-proxy.ts";

/** `killed`: the proxy in a process that dies by SIGKILL where others are closed. */
export const TARGETS = ["direct", "observe", "repair", "killed", "naive"] as const;
export type TargetName = (typeof TARGETS)[number];

export interface Target {
  readonly name: TargetName;
  readonly url: string;
  /** Ends it and starts it again on the same ledger. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

interface Running {
  readonly url: string;
  close(): Promise<void>;
}

export async function openTarget(name: TargetName, to: string): Promise<Target> {
  if (name === "direct") return { name, url: to, restart: async () => {}, close: async () => {} };
  if (name === "naive") {
    const naive = await startNaiveProxy(to);
    return { name, url: naive.url, restart: async () => {}, close: () => naive.close() };
  }
  const ledger = await mkdtemp(join(tmpdir(), "lossy-client-"));
  const start = (): Promise<Running> =>
    name === "killed" ? startProcess(to, ledger) : startProxy({ to, port: 0, mode: name, ledger });
  let running = await start();
  return {
    name,
    get url() {
      return running.url;
    },
    restart: async () => {
      await running.close();
      running = await start();
    },
    close: async () => {
      await running.close();
      await rm(ledger, { recursive: true, force: true });
    },
  };
}

async function startProcess(to: string, ledger: string): Promise<Running> {
  const program = join(import.meta.dirname, "proxy-process.ts");
  const child = spawn(process.execPath, ["--import", "tsx", program, to, ledger], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const [line] = (await once(child.stdout, "data")) as readonly unknown[];
  return {
    url: String(line).trim(),
    close: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
