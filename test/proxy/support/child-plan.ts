/** What a proxy in its own process is to do, and how a test starts one. */

import type { ProxyOptions } from "../../../src/proxy/relay/index.ts";
import { type Child, startChild } from "../../contracts/file-fixture.ts";

export interface ChildPlan {
  readonly options: ProxyOptions;
  /** Dies by SIGKILL at this point: a write to a socket or a system call of the ledger, before or after it, or torn. */
  readonly dieAt?: number;
  /** Dies right after the nth write to a client that holds the end of an answer. */
  readonly dieAtEnd?: number;
  /** Counts points without dying. */
  readonly counts?: boolean;
  /** System calls of the ledger that fail: open, mkdir, write, "short write", sync, close. */
  readonly fail?: { readonly calls: readonly string[]; readonly code: string };
  /** How long a write to the ledger takes. */
  readonly slowMs?: number;
}

export interface ChildProxy extends Child {
  readonly port: number;
}

export async function startChildProxy(plan: ChildPlan): Promise<ChildProxy> {
  const child = startChild("proxy-child", [
    JSON.stringify({ ...plan, options: { port: 0, ...plan.options } }),
  ]);
  const url = await child.line("url");
  return Object.assign(child, { port: Number(new URL(url).port) });
}
