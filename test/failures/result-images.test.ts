/**
 * T16: an API refuses the image of a result. The runtime checks images before it logs them, so these logs come from
 * elsewhere. The refusal is healed once: from then on that origin gets the text alone, and no call is lost.
 */

import { expect, test } from "vitest";

import type { EventDraft } from "../../src/base/events/index.ts";
import { loadScenario, startEmulator } from "../../src/emulator/index.ts";
import { anthropic, createAgent, memoryStore, type Model, openai, type Store } from "../../src/index.ts";
import { toolOutcome } from "../../src/runtime/tools/index.ts";
import { afterTest } from "../contracts/file-fixture.ts";
import { anyTool, call, history, KEY, ofType, say } from "../contracts/session-fixture.ts";
import { PNG } from "../support/pictures.ts";

/** The same session, with other bytes or another type in place of the image. */
async function changed(
  store: Store,
  from: { readonly mediaType: string; readonly bytes: Buffer },
): Promise<Store> {
  const log = await store.open("s", { mode: "read" });
  const elsewhere = memoryStore();
  const draft = await elsewhere.open("blobs", { mode: "write" });
  const blob = await draft.putBlob(from.bytes);
  await draft.close();
  const events = log.events.flatMap((event): readonly EventDraft[] => {
    if (event.type === "unknown") return [];
    if (event.type !== "tool_result") return [event];
    return [{ ...event, parts: [{ type: "image", mediaType: from.mediaType, blob, bytes: 1 }] }];
  });
  await elsewhere.create("s", { events, blobs: new Map([[blob, from.bytes]]) });
  await log.close();
  return elsewhere;
}

test.for([
  ["Responses", "image/png", Buffer.alloc(0), /empty base64-encoded bytes/],
  ["Messages", "image/jpeg", Buffer.from(PNG, "base64"), /appears to be a image\/png/],
  ["Messages", "image/png", Buffer.from("<html></html>"), /Could not process image/],
] as const)(
  "T16 an image that %s refuses is left out from then on, and its result stays",
  async ([dialect, mediaType, bytes, refusal]) => {
    const scenario = loadScenario(
      JSON.stringify({
        steps: [{ output: [call("look")] }, { output: [say("done")] }],
        afterwards: "repeat",
      }),
      "test.json",
    );
    const emulator = await startEmulator({ scenario });
    afterTest(() => emulator.close());
    const model: Model =
      dialect === "Messages"
        ? anthropic("emu-claude", { apiKey: KEY, baseUrl: emulator.baseUrl.replace(/\/v1$/, "") })
        : openai("emu-reasoner", { apiKey: KEY, baseUrl: emulator.baseUrl });
    const image = { mediaType: "image/png", data: PNG };
    const look = anyTool("look", () => toolOutcome({ status: "ok", text: "seen", images: [image] }));
    const agent = createAgent({ model, tools: [look] });
    const store = memoryStore();
    const first = await agent.open({ id: "s", store });
    expect((await first.send("go").result()).status).toBe("completed");
    await first.close();

    const session = await agent.open({ id: "s", store: await changed(store, { mediaType, bytes }) });
    const before = emulator.exchanges.length;
    expect((await session.send("and?").result()).status).toBe("completed");
    expect((await session.send("and then?").result()).status).toBe("completed");
    const verdicts = emulator.exchanges.slice(before).map(({ report }) => report?.verdict);
    expect(verdicts.filter((verdict) => verdict === "refused")).toHaveLength(1);
    const events = await history(session);
    expect(ofType(events, "replay_override")).toMatchObject([
      {
        what: { kind: "field", itemType: "tool_result", field: "image" },
        action: "strip_field",
        cause: { message: expect.stringMatching(refusal) },
      },
    ]);
    expect(ofType(events, "notice").at(-1)?.message).toMatch(
      /sent again with the text of each result, without its images$/,
    );
    const last = emulator.exchanges.at(-1)?.requestText ?? "";
    expect(last).toContain('"seen"');
    expect(last).not.toMatch(/input_image|"type":"image"/);
    await session.close();
  },
);
