/** Images in results: what each dialect of the emulator accepts, and the messages with which it refuses the rest. */

import { describe, expect, test } from "vitest";

import { tokensIn } from "../../src/emulator/output/usage.ts";
import { GIF, PNG, pngOf } from "../support/pictures.ts";
import { chat, toolResult, user as chatUser } from "./chat-client.ts";
import { base, emulatorFor, errorOf, type Json, post, user } from "./emulator-client.ts";
import { adaptive, assistant, expectRefused, expectTaken, says } from "./messages-client.ts";

const inputImage = (more: Json): readonly Json[] => [
  { type: "input_text", text: "seen" },
  { type: "input_image", ...more },
];

describe("Responses", () => {
  const called = { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" };
  const request = (output: unknown): Json => ({
    ...base,
    model: "emu-plain",
    reasoning: undefined,
    include: [],
    input: [user("go"), called, { type: "function_call_output", call_id: "call_1", output }],
  });
  const AT = "input[2].output[1]";
  const expected = (got: string): string =>
    `Invalid '${AT}.image_url'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got ${got}.`;

  test.for([
    ["a data URL", { image_url: `data:image/png;base64,${PNG}`, detail: "auto" }],
    ["no detail", { image_url: `data:image/gif;base64,${GIF}` }],
    ["a URL", { image_url: "https://example.org/a.png", detail: "low" }],
    ["a file", { file_id: "file_1", image_url: null, detail: null }],
  ] as const)("accepts an image in an output: %s", async ([, more]) => {
    const reply = await post(await emulatorFor(), request(inputImage(more)));
    expect([reply.status, reply.json["error"] ?? null]).toEqual([200, null]);
  });

  test.for([
    ["no address", {}, "X-missing", `Missing required parameter: '${AT}.image_url'.`],
    [
      "an unknown field",
      { image_url: "https://a.test/x", alt: "x" },
      "X-unknown",
      `Unknown parameter: '${AT}.alt'.`,
    ],
    [
      "the address of chat completions",
      { image_url: { url: "https://a.test/x" } },
      "X-type",
      `Invalid type for '${AT}.image_url': expected a string, but got an object instead.`,
    ],
    [
      "another detail",
      { image_url: "https://a.test/x", detail: "sharp" },
      "X-value",
      "Invalid value: 'sharp'. Supported values are: 'low', 'high', 'auto', and 'original'.",
    ],
    [
      "bare base64",
      { image_url: PNG },
      "X-image",
      `Invalid '${AT}.image_url'. Expected a valid URL, but got a value with an invalid format.`,
    ],
    ["no bytes", { image_url: "data:image/png;base64," }, "X-image", expected("empty base64-encoded bytes")],
    [
      "another type",
      { image_url: "data:image/svg+xml;base64,PHN2Zz4=" },
      "X-image",
      expected("unsupported MIME type 'image/svg+xml'"),
    ],
    [
      "bytes that are not base64",
      { image_url: "data:image/png;base64,a%20b" },
      "X-image",
      expected("an invalid base64-encoded value"),
    ],
    [
      "no base64",
      { image_url: "data:image/png,abc" },
      "X-image",
      expected("a value without base64-encoded bytes"),
    ],
  ] as const)("refuses %s", async ([, more, rule, message]) => {
    const emulator = await emulatorFor();
    const reply = await post(emulator, request(inputImage(more)));
    expect([reply.status, errorOf(reply)["message"]]).toEqual([400, message]);
    expect(emulator.report().requests.at(-1)?.rule).toBe(rule);
  });
});

const answered = (content: unknown, more: Json = {}): Json => ({
  ...adaptive,
  thinking: { type: "disabled" },
  messages: [
    says("go"),
    assistant([{ type: "tool_use", id: "toolu_1", name: "look", input: {} }]),
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content, ...more }] },
  ],
  tools: [{ name: "look", input_schema: { type: "object" } }],
});
const imageOf = (source: unknown): readonly Json[] => [
  { type: "text", text: "seen" },
  { type: "image", source },
];
const base64 = (media_type: string, data: string): Json => ({ type: "base64", media_type, data });

describe("Messages", () => {
  const AT = "messages.2.content.0.tool_result";
  const SOURCE = `${AT}.content.1.image.source`;

  test.for([
    ["a PNG", base64("image/png", PNG)],
    ["a GIF", base64("image/gif", GIF)],
    ["a URL", { type: "url", url: "https://example.org/a.png" }],
    ["a file", { type: "file", file_id: "file_1" }],
  ] as const)("accepts an image in a result: %s", async ([, source]) => {
    await expectTaken(await emulatorFor(), answered(imageOf(source)));
  });

  test("accepts the other blocks that a result may have, and text in a failed one", async () => {
    const emulator = await emulatorFor();
    await expectTaken(emulator, answered([{ type: "document", source: { type: "text" } }]));
    await expectTaken(emulator, answered([{ type: "text", text: "no" }], { is_error: true }));
  });

  test.for([
    ["no source", undefined, "X-missing", `${SOURCE}: Field required`],
    [
      "an unknown source",
      { type: "blob" },
      "X-value",
      `${SOURCE}: Input tag 'blob' found using 'type' does not match any of the expected tags: 'base64', 'file', 'url'`,
    ],
    [
      "no data",
      { type: "base64", media_type: "image/png" },
      "X-missing",
      `${SOURCE}.base64.data: Field required`,
    ],
    [
      "another type",
      base64("image/svg+xml", "PHN2Zz4="),
      "X-value",
      `${SOURCE}.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
    ],
    [
      "an unknown field",
      { ...base64("image/png", PNG), name: "x" },
      "X-unknown",
      `${SOURCE}.base64.name: Extra inputs are not permitted`,
    ],
    [
      "data that is not base64",
      base64("image/png", "a b"),
      "X-image",
      `${SOURCE}.base64: invalid base64 data`,
    ],
    [
      "a GIF as PNG",
      base64("image/png", GIF),
      "X-image",
      `${SOURCE}.base64: The image was specified using the image/png media type, but the image appears to be a image/gif image`,
    ],
    ["what is no image", base64("image/png", btoa("<html></html>")), "X-image", "Could not process image"],
    [
      "more than 5 MiB of base64",
      base64("image/png", pngOf(4 * 1024 * 1024)),
      "X-image",
      `${SOURCE}.base64: image exceeds 5 MB maximum: 5592408 bytes > 5242880 bytes`,
    ],
  ] as const)("refuses %s", async ([, source, rule, message]) => {
    await expectRefused(await emulatorFor(), answered(imageOf(source)), { rule, message });
  });

  test("refuses an image in a failed result, an unknown block and an empty text", async () => {
    const emulator = await emulatorFor();
    await expectRefused(emulator, answered(imageOf(base64("image/png", PNG)), { is_error: true }), {
      rule: "X-image",
      message: `${AT}: all content must be type \`text\` if \`is_error\` is true`,
    });
    await expectRefused(emulator, answered([{ type: "input_image" }]), {
      rule: "X-value",
      message: `${AT}.content.0: Input tag 'input_image' found using 'type' does not match any of the expected tags: 'document', 'image', 'search_result', 'text', 'tool_reference'`,
    });
    await expectRefused(emulator, answered([{ type: "text", text: "" }]), {
      rule: "X-empty-text",
      message: "messages: text content blocks must be non-empty",
    });
  });
});

test("chat completions refuse an image in a tool message", async () => {
  const emulator = await emulatorFor();
  const called = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
  const request = (content: unknown): Json => ({
    model: "emu-chat",
    messages: [
      chatUser("go"),
      { role: "assistant", content: null, tool_calls: [called] },
      { ...toolResult("call_1"), content },
    ],
  });
  const text = { type: "text", text: "seen" };
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
  expect((await chat(emulator, request([text]))).status).toBe(200);
  const reply = await chat(emulator, request([text, image]));
  expect([reply.status, errorOf(reply)["message"]]).toEqual([
    400,
    "Invalid value: 'image_url'. Supported values are: 'text'.",
  ]);
  expect(emulator.report().requests.at(-1)?.rule).toBe("X-part");
});

test("an image costs the same number of tokens, whatever its size", () => {
  const small = tokensIn(`{"image_url":"data:image/png;base64,${pngOf(50_000)}"}`);
  const large = tokensIn(`{"image_url":"data:image/png;base64,${pngOf(5_000_000)}"}`);
  const source = tokensIn(
    JSON.stringify({ source: { type: "base64", media_type: "image/png", data: pngOf(5_000_000) } }),
  );
  expect([small, large, source > 1600 && source < 1700]).toEqual([1610, 1610, true]);
});
