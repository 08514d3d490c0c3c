/** Images of results in whole sessions: every dialect, a model without vision, a restart, forks and bundles. */

import { rmSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { afterTest } from "../../../test/contracts/file-fixture.ts";
import { anyTool, call, history, KEY, ofType, say, think } from "../../../test/contracts/session-fixture.ts";
import { PNG, pngOf } from "../../../test/support/pictures.ts";
import { type Emulator, loadScenario, startEmulator } from "../../emulator/index.ts";
import { bundleText, fileStore, memoryStore, parseBundle, readBundle, type Store } from "../log/index.ts";
import { anthropic, openai, openaiChat } from "../models/index.ts";
import type { Model } from "../providers/index.ts";
import { type OutcomeImage, type Tool, toolOutcome } from "../tools/index.ts";
import { type Agent, createAgent, rebuildRequest, type Session } from "./index.ts";

type DialectName = "openai-responses" | "anthropic-messages" | "openai-chat";

const look = (images: readonly OutcomeImage[], status: "ok" | "error" = "ok"): Tool =>
  anyTool("look", () =>
    toolOutcome({ status, text: "[image image/png, 70 bytes]", images, forPerson: "a secret for you" }),
  );

const PICTURE = { mediaType: "image/png", data: PNG };

async function emulated(): Promise<Emulator> {
  const steps = [
    { output: [think("Look"), call("look")] },
    ...["one", "two", "three", "four"].map((word) => ({ output: [say(word)] })),
  ];
  const scenario = loadScenario(JSON.stringify({ steps, afterwards: "repeat" }), "test.json");
  const emulator = await startEmulator({ scenario });
  afterTest(() => emulator.close());
  return emulator;
}

function modelOf(dialect: DialectName, { baseUrl }: Emulator, vision = true): Model {
  const options = { apiKey: KEY, ...(vision ? {} : { capabilities: { vision } }) };
  const other = vision ? "" : "-plain";
  if (dialect === "anthropic-messages")
    return anthropic(`emu-claude${other}`, { ...options, baseUrl: baseUrl.replace(/\/v1$/, "") });
  if (dialect === "openai-chat") return openaiChat(`emu-chat${other}`, { ...options, baseUrl });
  return openai(vision ? "emu-reasoner" : "emu-plain", { ...options, baseUrl });
}

const agentOf = (model: Model, images: readonly OutcomeImage[] = [PICTURE]): Agent =>
  createAgent({ model, tools: [look(images)] });

const bodiesOf = ({ exchanges }: Emulator): readonly string[] => exchanges.map((one) => one.requestText);

/** What the last request says about the result. */
function resultIn(emulator: Emulator): unknown {
  const body = JSON.parse(bodiesOf(emulator).at(-1) ?? "{}") as Readonly<Record<string, unknown>>;
  const list = (body["input"] ?? body["messages"]) as readonly Readonly<Record<string, unknown>>[];
  for (const one of list) {
    if (one["type"] === "function_call_output") return one["output"];
    if (one["role"] === "tool") return one["content"];
    const blocks = Array.isArray(one["content"])
      ? (one["content"] as readonly Record<string, unknown>[])
      : [];
    const block = blocks.find(({ type }) => type === "tool_result");
    if (block !== undefined) return block["content"];
  }
  return undefined;
}

const TEXT = "[image image/png, 70 bytes]";
const SENT: Readonly<Record<DialectName, unknown>> = {
  "openai-responses": [
    { type: "input_text", text: TEXT },
    { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" },
  ],
  "anthropic-messages": [
    { type: "text", text: TEXT },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
  ],
  "openai-chat": TEXT,
};

const DIALECTS = Object.keys(SENT) as readonly DialectName[];

async function expectRebuilt(store: Store, emulator: Emulator): Promise<void> {
  const log = await store.open("s", { mode: "read" });
  for (const [index, sent] of bodiesOf(emulator).entries()) {
    const { proof, body } = await rebuildRequest(log, index + 1);
    expect({ request: index + 1, proof }).toEqual({ request: index + 1, proof: "same" });
    expect(body).toBe(sent);
  }
  await log.close();
}

const said = async (session: Session, text: string): Promise<string> =>
  (await session.send(text).result()).status;

describe.for(DIALECTS)("%s", (dialect) => {
  test("sends the image of a result, and the same bytes after a restart", async () => {
    const emulator = await emulated();
    const store = fileStore(temporaryFolder());
    const session = await agentOf(modelOf(dialect, emulator)).open({ id: "s", store });
    expect(await said(session, "Look.")).toBe("completed");
    expect(resultIn(emulator)).toEqual(SENT[dialect]);
    await session.close();
    const again = await agentOf(modelOf(dialect, emulator)).open({ id: "s", store });
    expect(await said(again, "And?")).toBe("completed");
    expect(resultIn(emulator)).toEqual(SENT[dialect]);
    const [, before = "", after = ""] = bodiesOf(emulator);
    // The list of items or messages grows at its end (law 4); a short tail may follow it.
    const listOf = (body: string): string =>
      JSON.stringify(
        (JSON.parse(body) as Record<string, unknown>)[dialect === "openai-responses" ? "input" : "messages"],
      );
    expect(listOf(withoutCacheMarks(after)).startsWith(listOf(withoutCacheMarks(before)).slice(0, -1))).toBe(
      true,
    );
    await again.close();
    await expectRebuilt(store, emulator);
    expect(emulator.report().totals.refused).toBe(0);
    expect(bodiesOf(emulator).join("")).not.toContain("a secret for you");
  });

  test("sends exactly the text to a model without vision, and the image again to one that sees", async () => {
    const emulator = await emulated();
    const store = memoryStore();
    const session = await agentOf(modelOf(dialect, emulator)).open({ id: "s", store });
    expect(await said(session, "Look.")).toBe("completed");
    await session.setModel(modelOf(dialect, emulator, false));
    expect(await said(session, "And?")).toBe("completed");
    expect(resultIn(emulator)).toBe(TEXT);
    await session.setModel(modelOf(dialect, emulator));
    expect(await said(session, "And now?")).toBe("completed");
    expect(resultIn(emulator)).toEqual(SENT[dialect]);
    await session.close();
    await expectRebuilt(store, emulator);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("says that an image is gone if its blob is", async () => {
    const emulator = await emulated();
    const folder = temporaryFolder();
    const session = await agentOf(modelOf(dialect, emulator)).open({ id: "s", store: fileStore(folder) });
    expect(await said(session, "Look.")).toBe("completed");
    await session.close();
    rmSync(join(folder, "s.blobs"), { recursive: true });
    const again = await agentOf(modelOf(dialect, emulator)).open({ id: "s", store: fileStore(folder) });
    expect(await said(again, "And?")).toBe("completed");
    const gone = dialect === "openai-chat" ? TEXT : `${TEXT}\n\n[image no longer available]`;
    expect(resultIn(emulator)).toBe(gone);
    await again.close();
  });

  test("a fork and a bundle keep the image", async () => {
    const emulator = await emulated();
    const store = memoryStore();
    const agent = agentOf(modelOf(dialect, emulator));
    const session = await agent.open({ id: "s", store });
    expect(await said(session, "Look.")).toBe("completed");
    const fork = await session.fork();
    expect(await said(fork, "And?")).toBe("completed");
    expect(resultIn(emulator)).toEqual(SENT[dialect]);
    await fork.close();
    await session.close();

    const log = await store.open("s", { mode: "read" });
    const parsed = parseBundle(Buffer.concat([...bundleText(await readBundle(log))]));
    await log.close();
    const elsewhere = fileStore(temporaryFolder());
    await elsewhere.create("s", { events: [], lines: parsed.lines, blobs: parsed.blobs });
    const moved = await agent.open({ id: "s", store: elsewhere });
    expect(await said(moved, "And?")).toBe("completed");
    expect(resultIn(emulator)).toEqual(SENT[dialect]);
    await moved.close();
  });
});

/** A moving cache mark is the only thing that may differ in what was sent before. */
function withoutCacheMarks(body: string): string {
  return body.replaceAll(/,"cache_control":\{[^}]*\}/g, "");
}

test("Messages sends no image with a failed result, which may have text only", async () => {
  const emulator = await emulated();
  const agent = createAgent({
    model: modelOf("anthropic-messages", emulator),
    tools: [look([PICTURE], "error")],
  });
  const session = await agent.open({ id: "s", store: memoryStore() });
  expect(await said(session, "Look.")).toBe("completed");
  expect(ofType(await history(session), "tool_result")).toMatchObject([{ status: "error", parts: [{}] }]);
  expect(resultIn(emulator)).toBe(TEXT);
  expect(emulator.report().totals.refused).toBe(0);
  await session.close();
});

test("an image that is too large for Messages is left out there, and sent to Responses", async () => {
  const emulator = await emulated();
  const large = { mediaType: "image/png", data: pngOf(4 * 1024 * 1024) };
  const agent = agentOf(modelOf("anthropic-messages", emulator), [large, PICTURE]);
  const session = await agent.open({ id: "s", store: memoryStore() });
  expect(await said(session, "Look.")).toBe("completed");
  expect(resultIn(emulator)).toMatchObject([
    { type: "text", text: TEXT },
    { type: "text", text: "[image left out: it is too large for this API]" },
    { type: "image" },
  ]);
  await session.setModel(modelOf("openai-responses", emulator));
  expect(await said(session, "And?")).toBe("completed");
  expect(resultIn(emulator)).toMatchObject([
    { type: "input_text" },
    { type: "input_image" },
    { type: "input_image" },
  ]);
  expect(emulator.report().totals.refused).toBe(0);
  await session.close();
});

test("explain says which results go with images", async () => {
  const emulator = await emulated();
  const session = await agentOf(modelOf("openai-responses", emulator)).open({
    id: "s",
    store: memoryStore(),
  });
  expect(await said(session, "Look.")).toBe("completed");
  const why = async (): Promise<readonly string[]> =>
    (await session.explain()).filter(({ type }) => type === "tool_result").map((one) => one.why);
  expect(await why()).toEqual([expect.stringMatching(/^result of \S+, with an image$/)]);
  await session.setModel(modelOf("openai-responses", emulator, false));
  expect(await why()).toEqual([expect.stringMatching(/^result of \S+$/)]);
  await session.close();
});
