/** Blocks by themselves: which texts, types and tools `/v1/messages` takes, in the words of the API. */

import { describe, test } from "vitest";

import { emulatorFor, type Json } from "./emulator-client.ts";
import { adaptive, assistant, expectRefused, expectTaken, says } from "./messages-client.ts";

const text = (words: string): Json => ({ type: "text", text: words });

const search: readonly Json[] = [
  { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: { query: "news" } },
  { type: "web_search_tool_result", tool_use_id: "srvtoolu_01", content: [] },
];

const said = (content: unknown): Json => ({
  ...adaptive,
  messages: [says("go"), { role: "assistant", content }, says("and now?")],
});

describe("text of white space", () => {
  const refused = {
    rule: "X-blank-text",
    message: "messages: text content blocks must contain non-whitespace text",
  };

  test("X-blank-text: the live table of four shapes", async () => {
    const emulator = await emulatorFor();
    await expectRefused(emulator, said([text(""), text("real")]), {
      rule: "X-empty-text",
      message: "messages: text content blocks must be non-empty",
    });
    await expectRefused(emulator, said([text(" ")]), refused);
    await expectTaken(emulator, said([text(" "), text("real")]));
    await expectRefused(emulator, said([text("\n")]), refused);
  });

  test("X-blank-text: other blocks are no text, and a person's words are judged alike", async () => {
    const emulator = await emulatorFor();
    await expectRefused(emulator, said([...search, text("\n\n")]), refused);
    await expectTaken(emulator, said([text("\n\n"), ...search, text("\n\n"), text("Found.")]));
    await expectRefused(emulator, said("\t"), refused);
    await expectRefused(emulator, { ...adaptive, messages: [says(" ")] }, refused);
    await expectRefused(emulator, { ...adaptive, messages: [{ role: "user", content: " " }] }, refused);
  });

  test("switch blankText: with any, no other text helps", async () => {
    const emulator = await emulatorFor({ switches: { blankText: "any" } });
    await expectRefused(emulator, said([text(" "), text("real")]), refused);
    await expectTaken(emulator, {
      ...adaptive,
      messages: [says("go"), assistant([text("real")]), says("so?")],
    });
  });
});
