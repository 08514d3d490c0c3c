/** Functions that the caller passes may fail. Their failure has a code of its own and is not taken for the network. */

import { once } from "node:events";

import { expect, test, vi } from "vitest";

import { afterTest } from "../../../test/contracts/file-fixture.ts";
import { history, ofType, say, scriptedSession } from "../../../test/contracts/session-fixture.ts";
import { startEmulator } from "../../emulator/index.ts";
import { openai } from "../models/index.ts";
import { createAgent } from "./index.ts";

test.for([
  ["throws", () => Promise.reject(new Error("vault is sealed")), "failed (vault is sealed)"],
  [
    "throws like a lost connection",
    () => Promise.reject(Object.assign(new Error("no"), { code: "ECONNREFUSED" })),
    "failed (no)",
  ],
  ["returns a number", () => 42 as unknown as string, "returned number instead of a string"],
] as const)("an apiKey function that %s fails the turn at once", async ([, apiKey, why]) => {
  const emulator = await startEmulator();
  afterTest(() => emulator.close());
  let calls = 0;
  const model = openai("emu-reasoner", {
    baseUrl: emulator.baseUrl,
    apiKey: () => {
      calls += 1;
      return apiKey();
    },
  });
  const session = await createAgent({ model }).open();
  const result = await session.send("Hello").result();
  expect(result).toMatchObject({
    status: "failed",
    error: { code: "api_key_failed", message: `the apiKey function ${why}, so the request was not sent` },
  });
  expect(calls).toBe(1);
  await session.close();
});

test.for([
  [
    "throws",
    () => {
      throw new Error("disk full");
    },
  ],
  ["rejects", () => Promise.reject(new Error("disk full"))],
] as readonly (readonly [string, unknown])[])(
  "a trace function that %s does not fail the turn, and the log says it once",
  async ([, trace]) => {
    const { session } = await scriptedSession([{ output: [say("one")] }, { output: [say("two")] }], {
      trace: trace as () => void,
    });
    expect((await session.send("a").result()).status).toBe("completed");
    expect((await session.send("b").result()).status).toBe("completed");
    expect(ofType(await history(session), "notice")).toEqual([
      expect.objectContaining({
        code: "trace_failed",
        message: "the trace function failed, so the trace is not complete: disk full",
      }),
    ]);
  },
);

test("createAgent warns once per process of a tool that the defaults deny", async () => {
  vi.resetModules(); // another test of this process may have caused the warning
  const fresh = await import("../../index.ts");
  const seen: (Error & { readonly code?: string })[] = [];
  const onWarning = (warning: Error): void => void seen.push(warning);
  process.on("warning", onWarning);
  afterTest(() => void process.off("warning", onWarning));
  const warned = once(process, "warning");
  const model = fresh.openai("gpt-5.6", { apiKey: "k" });
  const plain = fresh.tool({ name: "add", description: "Adds", input: { type: "object" }, run: () => 3 });
  fresh.createAgent({ model, tools: [plain], permissions: "auto" });
  fresh.createAgent({ model, tools: [plain] });
  fresh.createAgent({ model, tools: [plain] });
  await warned;
  await new Promise((done) => setImmediate(done));
  expect(seen).toEqual([
    expect.objectContaining({
      name: "ThroughlineWarning",
      code: "tool_denied_by_default",
      message: expect.stringContaining('the tool "add" will be denied by default') as unknown,
    }),
  ]);
});
