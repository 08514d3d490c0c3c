/** Tools that providers run: pairs of calls and results, containers, pauses, and what they report about the request. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { towards } from "../../test/support/earlier-logs.ts";
import { call, messages, responses, say, session, thought } from "./session.mjs";

const item = (one) => ({ item: one });
const use = (id, name) => item({ type: "server_tool_use", id, name, input: { query: "x" } });
const result = (id, type) => item({ type, tool_use_id: id, content: [] });
const search = use("srvtoolu_search", "web_search");
const found = result("srvtoolu_search", "web_search_tool_result");
const paused = { status: "incomplete", reason: "pause_turn" };
const hosted = ["web_search_20250305"];

/** Code by Claude that calls our tool and waits for the result. */
const waits = {
  output: [
    thought("**Code**\n\nIt asks for itself."),
    use("srvtoolu_code", "code_execution"),
    item({
      type: "tool_use",
      id: "toolu_by_code",
      name: "get_weather",
      input: { city: "Paris" },
      caller: { type: "code_execution_20260120", tool_id: "srvtoolu_code" },
    }),
  ],
};
const ran = { output: [result("srvtoolu_code", "code_execution_tool_result"), say("It ran.")] };

const asks =
  (...words) =>
  async (_, { ask }) => {
    for (const one of words) await ask(one);
  };

/** The emulator's answers with one text of the stream replaced by another, which no scenario can express. */
export const retold = (changes) => (emulator) => async (input, init) => {
  const answer = await towards(emulator)(input, init);
  let text = await answer.text();
  for (const [from, to] of changes) text = text.replace(from, to);
  return new Response(text, {
    status: answer.status,
    headers: { "content-type": answer.headers.get("content-type") },
  });
};

const claude = {
  "messages-container": (id, folder) =>
    session(
      id,
      folder,
      {
        model: messages("emu-claude", "anthropic", { providerTools: ["code_execution_20260120"] }),
        steps: [
          { ...waits, container: { id: "container_1" } },
          { ...ran, container: { id: "container_1" } },
        ],
      },
      asks("Run it.", "Thanks", "Thanks again"),
    ),
  // No answer names a container: the code is omitted, and a notice says so.
  "messages-container-unnamed": (id, folder) =>
    session(
      id,
      folder,
      {
        model: messages("emu-claude", "anthropic", { providerTools: ["code_execution_20260120"] }),
        steps: [waits, { output: [say("It did not run.")] }],
      },
      asks("Run it.", "Thanks"),
    ),
  "messages-paused": (id, folder) =>
    session(
      id,
      folder,
      {
        model: messages("emu-claude", "anthropic", { providerTools: hosted }),
        steps: [
          { output: [thought("**Looking**\n\nOnce."), say("Looking."), search], ...paused },
          { output: [found, thought("**Found**\n\nAll."), say("Found.")] },
        ],
      },
      asks("Look it up.", "Thanks"),
    ),
  // The settings contain the tool as it was given.
  "messages-hosted-as-objects": (id, folder) =>
    session(
      id,
      folder,
      {
        model: messages("emu-claude", "anthropic", {
          providerTools: [
            {
              type: "web_search_20250305",
              name: "web_search",
              max_uses: 3,
              allowed_domains: ["example.com"],
            },
          ],
        }),
      },
      asks("Search the web for release notes.", "Thanks"),
    ),
  "messages-compaction": (id, folder) =>
    session(
      id,
      folder,
      {
        model: messages(),
        fetch: retold([['"stop_reason":"max_tokens"', '"stop_reason":"compaction"']]),
        steps: [
          {
            output: [item({ type: "compaction", content: "They greeted." })],
            status: "incomplete",
            reason: "max_output_tokens",
          },
          { output: [thought("**On**\n\nFrom the summary."), say("Going on.")] },
        ],
      },
      asks("Hello", "Thanks"),
    ),
  // What the API cleared from the request, and the content of its last pass.
  "messages-edits-and-passes": (id, folder) =>
    session(
      id,
      folder,
      {
        model: messages("emu-claude", "anthropic", { providerTools: hosted }),
        steps: [{ output: [thought("**Looking**\n\nOnce."), search, found, say("Found.")] }],
        fetch: retold([
          [
            /("type":"message_delta",)("delta":.*?"usage":\{)/,
            '$1"context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_input_tokens":900,"cleared_tool_uses":2},{"type":"clear_thinking_20251015","cleared_thinking_turns":1}]},$2"iterations":[{"type":"message","input_tokens":60,"output_tokens":9},{"type":"message","input_tokens":90,"output_tokens":12}],',
          ],
        ]),
      },
      asks("Look it up.", "Thanks"),
    ),
  // Deltas that have no place in a block are kept next to its fields.
  "messages-unknown-deltas": (id, folder) =>
    session(
      id,
      folder,
      {
        model: messages(),
        fetch: retold([
          [
            /(event: content_block_stop\ndata: \{"type":"content_block_stop","index":(\d+))/,
            'event: content_block_delta\ndata: {"type":"content_block_delta","index":$2,"delta":{"type":"tomorrow_delta","big":12345678901234567890}}\n\n$1',
          ],
        ]),
      },
      asks("Think of a number.", "Thanks"),
    ),
};

const program = {
  id: "cm_1",
  type: "program",
  call_id: "call_p",
  code: "text(1)",
  fingerprint: "gAAAprint==",
};
const shell = {
  id: "sh_1",
  type: "shell_call",
  status: "completed",
  action: { commands: ["ls"], max_output_length: null, timeout_ms: null },
  call_id: "call_s",
  environment: { type: "container_reference", container_id: "cntr_1" },
};
const shellOutput = {
  id: "sho_1",
  type: "shell_call_output",
  status: "completed",
  call_id: "call_s",
  max_output_length: null,
  output: [{ outcome: { type: "exit", exit_code: 0 }, stdout: "a\n", stderr: "" }],
};

const openai = {
  // Outputs name their call. If half a pair is missing, only the thought before it is omitted with it.
  "responses-server-pairs": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses("emu-reasoner", "openai", {
          providerTools: [{ type: "shell", environment: { type: "container_auto" } }],
        }),
        steps: [
          {
            output: [
              thought("**A program**\n\nOf its own."),
              item(program),
              item({
                id: "cmo_1",
                type: "program_output",
                status: "completed",
                call_id: "call_p",
                result: "1",
              }),
              thought("**A shell**\n\nIn a container."),
              item(shell),
              item(shellOutput),
              say("Both ran."),
            ],
          },
          {
            output: [
              thought("**Again**\n\nHalf of it."),
              say("Once more."),
              thought("**Lost**\n\nIt never ended."),
              item({ ...shell, id: "sh_2", call_id: "call_s2" }),
            ],
          },
        ],
      },
      asks("Run both.", "Run it again.", "Thanks"),
    ),
  // An item of an unknown type is omitted. Thoughts before other items stay.
  "responses-omits-alone": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses(),
        steps: [
          {
            output: [
              thought("**One**\n\nTo words."),
              say("A word."),
              thought("**Two**\n\nTo a surprise."),
              item({ id: "sur_1", type: "surprise", n: 1 }),
              thought("**Three**\n\nTo more words."),
              say("Another."),
            ],
          },
        ],
      },
      asks("Surprise me.", "Thanks"),
    ),
  // `include` and `reasoning` of the parameters are added to our own.
  "responses-united-parameters": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses("emu-reasoner", "openai", {
          effort: "high",
          parameters: { include: ["web_search_call.action.sources"], reasoning: { summary: "detailed" } },
        }),
      },
      asks("What is the weather in Paris?", "Thanks"),
    ),
  // xAI runs custom calls that are not ours. The emulator is not xAI and requires an output, which is healed once.
  "responses-server-custom-calls": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses("emu-reasoner", "xai"),
        steps: [
          {
            output: [
              thought("**Searching**\n\nPosts."),
              {
                custom_tool_call: {
                  name: "x_keyword_search",
                  input: '{"query":"from:xai"}',
                  call_id: "xs_call_1",
                },
              },
              thought("**Read**\n\nThem all."),
              say("They post a lot."),
            ],
          },
          { output: [thought("**Ours**\n\nA call."), call("get_weather", { city: "Rome" })] },
        ],
      },
      asks("What do they post?", "What is the weather in Rome?", "Thanks"),
    ),
};

/** Like `torn-in-a-tool-loop`, for a turn that the provider paused. */
const torn = {
  "torn-behind-a-pause": (id, folder) => {
    const lines = readFileSync(join(folder, "messages-paused.jsonl"), "utf8").split("\n");
    const at = lines.findIndex((line) => JSON.parse(line).type === "response_end");
    writeFileSync(join(folder, `${id}.jsonl`), `${lines.slice(0, at + 1).join("\n")}\n`);
  },
};

export const serverTools = { ...claude, ...openai, ...torn };
