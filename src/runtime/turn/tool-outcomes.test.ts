import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import {
  anyTool,
  call,
  gate,
  history,
  inputOf,
  KEY,
  ofType,
  play,
  say,
  scriptedSession,
} from "../../../test/contracts/session-fixture.ts";
import { GIF, PNG, pngOf } from "../../../test/support/pictures.ts";
import type { ToolResult } from "../../base/events/index.ts";
import { fileStore } from "../log/index.ts";
import { type OutcomeImage, type Tool, type ToolContext, toolOutcome } from "../tools/index.ts";

const MIB = 1024 * 1024;

/** Runs one call of a tool that returns this; returns its result and what the model read. */
async function resultOf(
  returned: unknown,
  options: Parameters<typeof scriptedSession>[1] = {},
): Promise<{ readonly result: ToolResult; readonly output: unknown }> {
  const { session, emulator } = await scriptedSession(
    [{ output: [call("look")] }, { output: [say("done")] }],
    {
      tools: [anyTool("look", () => returned)],
      ...options,
    },
  );
  const turn = await play(session.send("go"));
  expect(turn.result).toMatchObject({ status: "completed", text: "done" });
  expect(emulator.report().totals.refused).toBe(0);
  const [result] = ofType(await history(session), "tool_result");
  if (result === undefined) throw new Error("there is no result");
  const output = inputOf(emulator, 1).find((item) => item["type"] === "function_call_output")?.["output"];
  return { result, output };
}

const withImages = (images: readonly OutcomeImage[], text = "seen"): unknown =>
  toolOutcome({ status: "ok", text, images });

const leftOutOf = async (...images: readonly unknown[]): Promise<string> => {
  const { result } = await resultOf(withImages(images as readonly OutcomeImage[]));
  expect(result.parts).toBeUndefined();
  return result.text;
};

const part = (mediaType: string, data: string): object => ({
  type: "image",
  mediaType,
  blob: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  bytes: Buffer.from(data, "base64").length,
});

const large = (data: string): OutcomeImage => ({ mediaType: "image/png", data });

const several = (...names: readonly string[]): object =>
  call("multi_tool_use.parallel", {
    tool_uses: names.map((name) => ({ recipient_name: `functions.${name}`, parameters: {} })),
  });

const imageOf = (data: string, mediaType: string): readonly OutcomeImage[] => [{ mediaType, data }];

const ofServer = (run: (signal: AbortSignal) => unknown, timeoutMs?: number): Tool => ({
  ...anyTool(
    "mcp__db__drop",
    (_input, { signal }: ToolContext) => run(signal),
    timeoutMs === undefined ? {} : { timeoutMs },
  ),
  mcp: { server: "db", tool: "drop" },
});

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => signal.addEventListener("abort", () => done()));

async function wrapped(tools: readonly Tool[]): Promise<ToolResult> {
  const { session } = await scriptedSession(
    [{ output: [several(...tools.map(({ name }) => name))] }, { output: [say("done")] }],
    { tools },
  );
  expect((await play(session.send("go"))).result).toMatchObject({ status: "completed" });
  const [result] = ofType(await history(session), "tool_result");
  if (result === undefined) throw new Error("there is no result");
  return result;
}

describe("a tool that returns an outcome", () => {
  test.for(["ok", "error", "outcome_unknown"] as const)("decides its status: %s", async (status) => {
    const { result, output } = await resultOf(toolOutcome({ status, text: "as given" }));
    expect(result).toMatchObject({ status, text: "as given" });
    expect(result).not.toHaveProperty("parts");
    expect(result).not.toHaveProperty("forPerson");
    expect(output).toBe("as given");
  });

  test("has its text redacted, and cut to size with the whole as a blob", async () => {
    const { result } = await resultOf(
      toolOutcome({ status: "error", text: `${KEY} ${"x".repeat(100_000)}`, forPerson: `key ${KEY}` }),
    );
    expect(result.status).toBe("error");
    expect(result.text).not.toContain(KEY);
    expect(result.text).toContain("bytes left out here");
    expect(result.blob).toMatch(/^[0-9a-f]{64}$/);
    expect(result.forPerson).toMatch(/^key /);
    expect(result.forPerson).not.toContain(KEY);
  });

  test("says to the person what the model never reads, however long", async () => {
    const outcome = toolOutcome({ status: "ok", text: "done", forPerson: "y".repeat(200_000) });
    const { result, output } = await resultOf(outcome);
    expect(output).toBe("done");
    expect(Buffer.byteLength(result.forPerson ?? "")).toBeLessThanOrEqual(64 * 1024);
  });

  test.for([
    ["a status of another version", { status: "paused", text: "t", images: [] }, "outcome_unknown", "t"],
    ["no text and no images", { status: "ok" }, "ok", ""],
    ["a text that is an object", { status: "error", text: { a: 1 }, images: "x" }, "error", '{"a":1}'],
  ] as const)("may be made by hand: %s", async ([, fields, status, text]) => {
    const handmade = { ...fields, [Symbol.for("throughline.outcome/1")]: true };
    expect((await resultOf(handmade)).result).toMatchObject({ status, text });
  });
});

describe("the images of an outcome", () => {
  test("are blobs next to the log, and the model gets them after the text", async () => {
    const images = [
      { mediaType: "image/png", data: PNG },
      { mediaType: "image/gif", data: GIF },
    ];
    const { result, output } = await resultOf(withImages(images));
    expect(result).toMatchObject({ status: "ok", text: "seen" });
    expect(result.parts).toEqual([part("image/png", PNG), part("image/gif", GIF)]);
    expect(output).toEqual([
      { type: "input_text", text: "seen" },
      { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" },
      { type: "input_image", image_url: `data:image/gif;base64,${GIF}`, detail: "auto" },
    ]);
  });

  test("stand alone if there is no text", async () => {
    const { output } = await resultOf(withImages([{ mediaType: "image/png", data: PNG }], ""));
    expect(output).toEqual([
      { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" },
    ]);
  });

  test.for([
    ["SVG", "image/svg+xml", "image/svg+xml"],
    ["HTML", "text/html", "text/html"],
    ["a type in capitals", "IMAGE/PNG", "IMAGE/PNG"],
    ["a type with a parameter", "image/png;charset=x", "image/png;charset=x"],
    ["no type", "", ""],
  ] as const)("are left out, and the text says why: %s", async ([, mediaType, shown]) => {
    expect(await leftOutOf({ mediaType, data: PNG })).toBe(
      `seen\n[image 1 of 1 left out: its type is "${shown}"; models accept image/png, image/jpeg, image/gif, image/webp]`,
    );
  });

  test("never write control characters of their type into the log, nor a type of any length", async () => {
    const text = await leftOutOf({
      mediaType: `image/png\u001b[2J\r\n\u202e${"z".repeat(10_000)}`,
      data: PNG,
    });
    expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}|\u202E/u);
    expect(text.length).toBeLessThan(300);
  });

  test.for([
    ["not base64", { mediaType: "image/png", data: `${PNG.slice(0, -4)}<b>!` }, "its data is not base64"],
    ["base64 of a URL", { mediaType: "image/png", data: "_-_-" }, "its data is not base64"],
    ["white space", { mediaType: "image/png", data: `${PNG}\n` }, "its data is not base64"],
    ["nothing", { mediaType: "image/png", data: "" }, "it is empty"],
    ["no data", { mediaType: "image/png" }, "it is empty"],
    ["another type", { mediaType: "image/jpeg", data: PNG }, "its bytes are not image/jpeg"],
    ["a page", { mediaType: "image/png", data: btoa("<html></html>") }, "its bytes are not image/png"],
    ["no object", null, "it is not an image"],
  ] as const)("are left out if the data is %s", async ([, image, why]) => {
    expect(await leftOutOf(image)).toBe(`seen\n[image 1 of 1 left out: ${why}]`);
  });

  test("are left out if they are too large, one byte over the limit or 50 MiB", async () => {
    expect(await leftOutOf(large(pngOf(5 * MIB + 1)), large(pngOf(50 * MIB)))).toBe(
      "seen\n[image 1 of 2 left out: it has 5.0 MiB; an image may have at most 5 MiB]\n[image 2 of 2 left out: it has 50.0 MiB; an image may have at most 5 MiB]",
    );
  });

  test("are at most 20, and good ones stay next to bad ones", async () => {
    const good = { mediaType: "image/png", data: PNG };
    const bad = { mediaType: "image/bmp", data: "Qk0=" };
    const { result } = await resultOf(withImages([bad, ...Array.from({ length: 24 }, () => good)]));
    expect(result.parts).toHaveLength(19);
    expect(result.text.split("\n")).toEqual([
      "seen",
      expect.stringContaining('[image 1 of 25 left out: its type is "image/bmp"'),
      "[5 more images left out: a result has at most 20]",
    ]);
  });

  test("that cannot be stored cost the image, not the result", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "s1.blobs"), "");
    const outcome = withImages([{ mediaType: "image/png", data: PNG }]);
    const { session } = await scriptedSession([{ output: [call("look")] }, { output: [say("done")] }], {
      tools: [anyTool("look", () => outcome)],
      store: fileStore(folder),
    });
    const { result, events } = await play(session.send("go"));
    expect(result).toMatchObject({ status: "completed", text: "done" });
    expect(ofType(events, "tool_result")).toMatchObject([
      { status: "ok", text: "seen\n[image 1 of 1 left out: it could not be stored]" },
    ]);
    expect(ofType(events, "notice")).toMatchObject([
      { code: "blob_write_failed", message: expect.stringMatching(/^an image of "look" .* is not kept: /) },
    ]);
  });
});

describe("a call that wraps several", () => {
  test("joins the texts, the images and what is for the person", async () => {
    const result = await wrapped([
      anyTool("a", () =>
        toolOutcome({ status: "ok", text: "A", images: imageOf(PNG, "image/png"), forPerson: "p" }),
      ),
      anyTool("b", () =>
        toolOutcome({ status: "error", text: "B", images: imageOf(GIF, "image/gif"), forPerson: "q" }),
      ),
      anyTool("c", () => ({ n: 1 })),
    ]);
    expect(result).toMatchObject({
      status: "ok",
      forPerson: "p\n\nq",
      parts: [{ mediaType: "image/png" }, { mediaType: "image/gif" }],
    });
    expect(JSON.parse(result.text)).toEqual(["A", 'the tool "b" failed: B', { n: 1 }]);
  });

  test("is unknown if one of them is", async () => {
    const result = await wrapped([
      anyTool("a", () => toolOutcome({ status: "outcome_unknown", text: "A" })),
      anyTool("b", () => "B"),
    ]);
    expect(result).toMatchObject({ status: "outcome_unknown", text: JSON.stringify(["A", "B"]) });
  });
});

describe("a tool of an MCP server is never said to have stopped", () => {
  const MAY_HAVE = 'the MCP server "db" may have done what was asked, so the outcome is unknown';

  test("after a time-out", async () => {
    const { session } = await scriptedSession(
      [{ output: [call("mcp__db__drop")] }, { output: [say("done")] }],
      { tools: [ofServer(untilAborted, 5)] },
    );
    const { events } = await play(session.send("go"));
    expect(ofType(events, "tool_result")).toMatchObject([
      { status: "timeout", text: `the tool "mcp__db__drop" gave no answer within 5 ms; ${MAY_HAVE}` },
    ]);
  });

  test("after a cancellation, and a late end says how it ended", async () => {
    const began = gate();
    const answer = gate<unknown>();
    const { session } = await scriptedSession([{ output: [call("mcp__db__drop")] }], {
      tools: [
        ofServer(() => {
          began.open();
          return answer.promise;
        }),
      ],
      limits: { toolGraceMs: 1 },
    });
    const turn = session.send("go");
    await began.promise;
    turn.cancel();
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    const [result] = ofType(await history(session), "tool_result");
    expect(result).toMatchObject({ status: "cancelled", text: expect.stringMatching(/^cancelled: /) });
    expect(result?.text).toContain(MAY_HAVE);
    answer.open(toolOutcome({ status: "error", text: "no such table" }));
    await new Promise((done) => setImmediate(done));
    const late = ofType(await history(session), "notice").filter(({ code }) => code === "late_result");
    expect(late).toMatchObject([
      { message: expect.stringMatching(/after its result was recorded: it failed$/) },
    ]);
  });
});
