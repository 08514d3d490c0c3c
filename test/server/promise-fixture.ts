/** Servers that share a folder of sessions, and requests to them. */

import { expect } from "vitest";

import type { RunningServer } from "../../src/access/server/index.ts";
import { fileStore, type LoggedEvent } from "../../src/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { anyTool, call, gate, say } from "../contracts/session-fixture.ts";
import { ask, type Served, servedAlone, type ServedOptions } from "./server-fixture.ts";

export type Server = Omit<Served, "remote">;

export interface Asked {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function post(server: RunningServer, path: string, body: object = {}): Promise<Asked> {
  const answer = await ask(server, {
    method: "POST",
    path: `/api/sessions${path}`,
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: JSON.parse(answer.text) as Asked["body"] };
}

export async function get(server: RunningServer, path: string): Promise<Asked> {
  const answer = await ask(server, { path: `/api/sessions${path}` });
  return { status: answer.status, body: JSON.parse(answer.text) as Asked["body"] };
}

export const codeOf = ({ body }: Asked): unknown =>
  (body["error"] as { readonly code?: string } | undefined)?.code;
export const messageOf = ({ body }: Asked): string => (body["error"] as { readonly message: string }).message;
export const ended = (server: RunningServer, turn: string): Promise<Asked> =>
  get(server, `/s1/turns/${turn}?wait=30`);

/** A session whose first turn waits in a tool until `finish`. */
export async function busy(
  options: ServedOptions & { readonly folder?: string } = {},
): Promise<Server & { readonly folder: string; readonly finish: () => void }> {
  const { folder = temporaryFolder(), ...rest } = options;
  const [begun, wait] = [gate(), gate()];
  const hold = anyTool("hold", async (_input, { signal }) => {
    begun.open();
    await Promise.race([
      wait.promise,
      new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
      }),
    ]);
    return "held";
  });
  const there = await servedAlone({
    store: fileStore(folder),
    tools: [hold],
    permissions: "auto",
    script: [{ output: [call("hold")] }, { output: [say("First.")] }],
    ...rest,
  });
  expect((await post(there.server, "", { id: "s1" })).status).toBe(201);
  expect((await post(there.server, "/s1/turns", { input: "one", turn: "first" })).status).toBe(202);
  await begun.promise;
  return { ...there, folder, finish: () => wait.open() };
}

export const beside = (folder: string): Promise<Server> =>
  // A copy of a store is not known to be on the same folder, so only the lock decides, as between processes.
  servedAlone({ store: { ...fileStore(folder) }, script: [{ output: [say("Elsewhere.")] }] });

export async function logOf(folder: string): Promise<readonly LoggedEvent[]> {
  const log = await fileStore(folder).open("s1", { mode: "read" });
  await log.close();
  return log.events;
}

export const endsOf = async (folder: string): Promise<readonly (readonly [string, string])[]> =>
  (await logOf(folder)).flatMap((event) =>
    event.type === "turn_end" ? [[event.turn, event.status] as const] : [],
  );

export async function servedAt(options: ServedOptions = {}): Promise<Server & { readonly folder: string }> {
  const folder = temporaryFolder();
  const there = await servedAlone({ ...options, store: fileStore(folder) });
  expect((await post(there.server, "", { id: "s1" })).status).toBe(201);
  return { ...there, folder };
}
