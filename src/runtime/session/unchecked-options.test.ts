/** Options that the types allow or that come from JavaScript: no turn fails because the log cannot hold them. */

import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { fileStore } from "../log/index.ts";
import { emulator } from "../models/index.ts";
import { createAgent } from "./agent.ts";
import type { AgentOptions } from "./types.ts";

test.for([
  ["a context without an end", { limits: { contextTokens: Infinity } }],
  ["any number of thoughts", { replay: { reasoning: { maxItems: Infinity } } }],
  ["no instructions, as null", { system: null }],
  ["no directory, as null", { cwd: null }],
] as unknown as readonly (readonly [string, Partial<AgentOptions>])[])(
  "%s: the session runs, logs its settings once and opens again",
  async ([, options]) => {
    const store = fileStore(temporaryFolder());
    const agent = createAgent({ model: emulator(), ...options });
    const session = await agent.open({ store });
    const statuses = [];
    for (const message of ["Hello", "Hello again"])
      statuses.push((await session.send(message).result()).status);
    await session.close();
    const again = await agent.open({ store, id: session.id, mode: "read" });
    const types = [];
    for await (const { type } of again.events()) types.push(type);
    expect(statuses).toEqual(["completed", "completed"]);
    expect(types.filter((type) => type === "settings")).toHaveLength(1);
  },
);

test("a turn whose first events are refused leaves nothing behind, and the session still begins with its start", async () => {
  const store = fileStore(temporaryFolder());
  const options = { model: emulator(), cwd: "/" };
  const agent = createAgent(options);
  options.cwd = 7 as unknown as string; // after the check
  const session = await agent.open({ store });
  expect(await session.send("Hello").result()).toMatchObject({
    status: "failed",
    error: { code: "event_invalid" },
  });
  expect(session.lastSeq).toBe(-1);
  await session.close();
  const next = await createAgent({ model: emulator() }).open({ store, id: session.id });
  await next.send("Hello").result();
  for await (const { type } of next.events()) {
    expect(type).toBe("session_start");
    break;
  }
  await next.close();
});
