/** Random answers of Claude: blocks of every kind in any order, with results now, in a later answer or never. */

import fc from "fast-check";

import { message } from "../../recordings/odd-answers/claude.ts";
import type { AnswerSpec, Built, Maker } from "./maker.ts";
import { HOW_IT_ARRIVES, TOOL_NAMES } from "./maker.ts";

type Block = Readonly<Record<string, unknown>>;

const SERVER_NAMES = [
  "web_search",
  "web_fetch",
  "code_execution",
  "bash_code_execution",
  "text_editor_code_execution",
  "tool_search_tool_regex",
  "advisor",
  "zeta",
];

const block = fc.oneof(
  { weight: 4, arbitrary: fc.record({ k: fc.constant("thinking"), text: fc.constantFrom("Hm.", "", "\n") }) },
  { weight: 1, arbitrary: fc.record({ k: fc.constantFrom("redacted", "unsigned") }) },
  {
    weight: 5,
    arbitrary: fc.record({
      k: fc.constantFrom("text", "text", "cited"),
      text: fc.constantFrom("Well.", "", "\n\n", " "),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      k: fc.constant("call"),
      name: fc.constantFrom(...TOOL_NAMES),
      input: fc.constantFrom('{"city":"Rome"}', "{}", "", '{"city":', "[1]", '"Rome"', "null"),
      through: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      k: fc.constant("server"),
      name: fc.constantFrom(...SERVER_NAMES),
      result: fc.constantFrom("now", "now", "later", "later", "never", "invented", "tool_result"),
      through: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      k: fc.constant("mcp"),
      result: fc.constantFrom("now", "later", "never"),
      through: fc.constant(false),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      k: fc.constantFrom(
        "listing",
        "compaction",
        "emptyCompaction",
        "fallback",
        "upload",
        "invented",
        "inventedDelta",
        "stray",
      ),
    }),
  },
);

export interface ClaudeSpec extends AnswerSpec {
  readonly blocks: readonly Readonly<Record<string, unknown>>[];
  readonly stop: string;
  readonly container: boolean;
}

export const claudeSpec: fc.Arbitrary<ClaudeSpec> = fc.record({
  blocks: fc.array(block, { maxLength: 7 }),
  stop: fc.constantFrom(
    "fit",
    "fit",
    "fit",
    "fit",
    "end_turn",
    "tool_use",
    "pause_turn",
    "max_tokens",
    "refusal",
    "model_context_window_exceeded",
    "compaction",
    "tired",
  ),
  container: fc.boolean(),
  ...HOW_IT_ARRIVES,
});

const SENDABLE = new Set(["text", "tool_use"]);

export function claudeAnswer(spec: ClaudeSpec, maker: Maker): Built {
  const owed = maker.owed;
  maker.owed = [];
  const blocks: Block[] = owed.map(({ id, type }) => ({ type, tool_use_id: id, content: [] }));
  let code: string | undefined;
  const caller = (through: unknown): object =>
    through === true && code !== undefined
      ? { caller: { type: "code_execution_20260120", tool_id: code } }
      : {};
  for (const one of spec.blocks) {
    const n = maker.next();
    switch (one["k"]) {
      case "thinking":
        blocks.push({ type: "thinking", thinking: one["text"], signature: `EqQBsignature${n}==` });
        break;
      case "unsigned":
        blocks.push({ type: "thinking", thinking: "Unsigned.", deltas: [] });
        break;
      case "redacted":
        blocks.push({ type: "redacted_thinking", data: `EroBredacted${n}==` });
        break;
      case "text":
        blocks.push({ type: "text", text: one["text"] });
        break;
      case "cited":
        blocks.push({
          type: "text",
          text: "",
          citations: [],
          deltas: [
            { type: "text_delta", text: one["text"] },
            {
              type: "citations_delta",
              citation: { type: "web_search_result_location", url: "u", encrypted_index: `Eo8B${n}` },
            },
          ],
        });
        break;
      case "call":
        blocks.push({
          type: "tool_use",
          id: `toolu_${n}`,
          name: one["name"],
          input: {},
          ...caller(one["through"]),
          deltas: [{ type: "input_json_delta", partial_json: one["input"] }],
        });
        break;
      case "server":
      case "mcp": {
        const name = one["k"] === "mcp" ? "mcp" : (one["name"] as string);
        const id = `${name === "mcp" ? "mcptoolu" : "srvtoolu"}_${n}`;
        const type = `${name.startsWith("tool_search") ? "tool_search" : name}_tool_result`;
        const called = caller(one["through"]);
        blocks.push(
          name === "mcp"
            ? { type: "mcp_tool_use", id, name: "ask", server_name: "odd", input: {} }
            : { type: "server_tool_use", id, name, input: { query: "odd" }, ...called },
        );
        if (name === "code_execution") code = id;
        if (one["result"] === "now") blocks.push({ type, tool_use_id: id, content: [], ...called });
        if (one["result"] === "invented") blocks.push({ type: "yota_outcome", call_id: id });
        if (one["result"] === "tool_result")
          blocks.push({ type: "tool_result", tool_use_id: id, content: [] });
        if (one["result"] === "later") maker.owed.push({ id, type });
        break;
      }
      case "listing":
        blocks.push({ type: "mcp_tool_listing", mcp_server_name: "odd", tools: [] });
        break;
      case "compaction":
        blocks.push({
          type: "compaction",
          content: null,
          deltas: [{ type: "compaction_delta", content: "So far.", encrypted_content: `c2Vh${n}` }],
        });
        break;
      case "emptyCompaction":
        blocks.push({ type: "compaction", content: null, deltas: [] });
        break;
      case "fallback":
        blocks.push({ type: "fallback", from: { model: "a" }, to: { model: "b" } });
        break;
      case "upload":
        blocks.push({ type: "container_upload", file_id: "file_odd" });
        break;
      case "invented":
        blocks.push({ type: "hologram", id: `holo_${n}`, deltas: [{ type: "hologram_delta", voxels: "x" }] });
        break;
      case "inventedDelta":
        blocks.push({ type: "text", text: "", deltas: [{ type: "tone_delta", tone: "calm" }] });
        break;
      case "stray":
        blocks.push({ type: "web_search_tool_result", tool_use_id: "srvtoolu_stray", content: [] });
        break;
      default:
        throw new Error(`no such block: ${String(one["k"])}`);
    }
  }
  const calls = blocks.some(({ type }) => type === "tool_use");
  const fit = calls ? "tool_use" : maker.owed.length > 0 ? "pause_turn" : "end_turn";
  const stop = spec.stop === "fit" ? fit : spec.stop;
  const id = `msg_${maker.next()}`;
  const container = spec.container ? { id: "container_odd", expires_at: "2026-06-01T00:00:00Z" } : undefined;
  const last = blocks.findLastIndex(({ type }) => SENDABLE.has(String(type)));
  return {
    events: message(blocks, { stop, id, ...(container === undefined ? {} : { container }) }),
    // A thought without a follower is omitted with its answer's others, and so is a refused or broken answer.
    payloads:
      stop === fit && !String(blocks.at(-1)?.["type"]).endsWith("thinking")
        ? blocks
            .slice(0, Math.max(0, isBlank(blocks[last]) ? 0 : last))
            .map((one) => one["signature"] ?? (one["type"] === "redacted_thinking" ? one["data"] : undefined))
            .filter((one) => typeof one === "string")
        : [],
  };
}

function isBlank(one: Block | undefined): boolean {
  if (one?.["type"] !== "text") return false;
  return Array.isArray(one["deltas"]) || String(one["text"]).trim() === "";
}
