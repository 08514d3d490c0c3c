/** Random answers of the Responses API: items of every kind in any order, with and without their outputs. */

import fc from "fast-check";

import { response } from "../../recordings/odd-answers/responses.ts";
import type { AnswerSpec, Built, Maker } from "./maker.ts";
import { HOW_IT_ARRIVES, TOOL_NAMES } from "./maker.ts";

type Item = Readonly<Record<string, unknown>>;

const item = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ k: fc.constantFrom("thought", "thought", "thought", "bare", "readable") }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      k: fc.constant("message"),
      text: fc.constantFrom("Well.", "Well.", "", "\n"),
      phase: fc.constantFrom(undefined, "commentary", "final_answer"),
      content: fc.constantFrom("text", "text", "text", "refusal", "none", "invented"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      k: fc.constantFrom("function", "function", "custom"),
      name: fc.constantFrom(...TOOL_NAMES),
      input: fc.constantFrom('{"city":"Rome"}', "{}", "", '{"city":', "[1]", "null"),
      through: fc.boolean(),
      bare: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      k: fc.constantFrom(
        "web_search",
        "file_search",
        "code",
        "image",
        "mcp",
        "mcp_list",
        "approval",
        "approved",
        "computer",
        "compaction",
        "invented",
        "invented_call",
        "program",
        "search_server",
        "search_client",
        "shell_container",
        "shell_local",
        "local_shell",
        "patch",
      ),
      output: fc.constantFrom("now", "later", "never"),
    }),
  },
);

export interface ResponsesSpec extends AnswerSpec {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly status: string;
}

export const responsesSpec: fc.Arbitrary<ResponsesSpec> = fc.record({
  items: fc.array(item, { maxLength: 7 }),
  status: fc.constantFrom("completed", "completed", "completed", "completed", "incomplete", "failed"),
  ...HOW_IT_ARRIVES,
});

/** Items that can always go back with the thought before them. */
const SAFE = /^(?:reasoning|message|function_call|web_search_call|file_search_call|code_interpreter_call)$/;

export function responsesAnswer(spec: ResponsesSpec, maker: Maker): Built {
  const owed = maker.owed;
  maker.owed = [];
  const items: Item[] = owed.map(({ id, type }) => output(type, id, maker.next()));
  let program: string | undefined;
  for (const one of spec.items) {
    const n = maker.next();
    const add = (id: string, type: string, rest: object): number =>
      items.push({ id: `${id}_${n}`, type, status: "completed", ...rest });
    const callId = `call_${n}`;
    const owes = (type: string): void => {
      if (one["output"] === "now") items.push(output(type, callId, maker.next()));
      if (one["output"] === "later") maker.owed.push({ id: callId, type });
    };
    switch (one["k"]) {
      case "thought":
        items.push({ id: `rs_${n}`, type: "reasoning", summary: [], encrypted_content: `gAAAAAB${n}==` });
        break;
      case "bare":
        items.push({ id: `rs_${n}`, type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] });
        break;
      case "readable":
        items.push({
          id: `rs_${n}`,
          type: "reasoning",
          summary: [],
          content: [{ type: "reasoning_text", text: "Hm." }],
        });
        break;
      case "message":
        add("msg", "message", {
          role: "assistant",
          ...(one["phase"] === undefined ? {} : { phase: one["phase"] }),
          content:
            one["content"] === "none"
              ? []
              : one["content"] === "refusal"
                ? [{ type: "refusal", refusal: "No." }]
                : one["content"] === "invented"
                  ? [{ type: "output_hologram", voxels: "x" }]
                  : [{ type: "output_text", text: one["text"], annotations: [] }],
        });
        break;
      case "function":
      case "custom": {
        const called =
          one["through"] === true && program !== undefined
            ? { caller: { type: "program", caller_id: program } }
            : {};
        const custom = one["k"] === "custom";
        items.push({
          ...(one["bare"] === true ? {} : { id: `${custom ? "ctc" : "fc"}_${n}` }),
          type: custom ? "custom_tool_call" : "function_call",
          status: "completed",
          call_id: callId,
          name: one["name"],
          [custom ? "input" : "arguments"]: one["input"],
          ...called,
        });
        break;
      }
      case "web_search":
        add("ws", "web_search_call", { action: { type: "search", query: "odd" } });
        break;
      case "file_search":
        add("fs", "file_search_call", { queries: ["odd"], results: null });
        break;
      case "code":
        add("ci", "code_interpreter_call", { code: "1", container_id: "cntr", outputs: null });
        break;
      case "image":
        add("ig", "image_generation_call", { result: "aWY=" });
        break;
      case "mcp":
        add("mcp", "mcp_call", {
          name: "ask",
          arguments: "{}",
          output: "42",
          error: null,
          server_label: "odd",
          approval_request_id: null,
        });
        break;
      case "mcp_list":
        add("mcpl", "mcp_list_tools", { server_label: "odd", tools: [] });
        break;
      case "approval":
        items.push({
          id: `mcpr_${n}`,
          type: "mcp_approval_request",
          name: "ask",
          arguments: "{}",
          server_label: "odd",
        });
        break;
      case "approved":
        items.push({
          id: `mcpr_${n}`,
          type: "mcp_approval_request",
          name: "ask",
          arguments: "{}",
          server_label: "odd",
        });
        add("mcp", "mcp_call", {
          name: "ask",
          arguments: "{}",
          output: "42",
          error: null,
          server_label: "odd",
          approval_request_id: `mcpr_${n}`,
        });
        break;
      case "computer":
        add("cu", "computer_call", {
          call_id: callId,
          action: { type: "screenshot" },
          pending_safety_checks: [],
        });
        break;
      case "compaction":
        items.push({ id: `cmp_${n}`, type: "compaction", encrypted_content: `gAAAAABc${n}==` });
        break;
      case "invented":
        add("holo", "hologram", { voxels: "x" });
        break;
      case "invented_call":
        add("hc", "hologram_call", { call_id: callId, action: {} });
        owes("hologram_call_output");
        break;
      case "program":
        items.push({
          id: `cm_${n}`,
          type: "program",
          call_id: callId,
          code: "1",
          fingerprint: `gAAAAABf${n}==`,
        });
        program = callId;
        owes("program_output");
        break;
      case "search_server":
        add("tsc", "tool_search_call", { execution: "server", call_id: null, arguments: { paths: [] } });
        if (one["output"] === "now")
          add("tso", "tool_search_output", { execution: "server", call_id: null, tools: [] });
        break;
      case "search_client":
        add("tsc", "tool_search_call", { execution: "client", call_id: callId, arguments: { goal: "x" } });
        break;
      case "shell_container":
        add("sh", "shell_call", {
          call_id: callId,
          action: { commands: ["uname"], max_output_length: null, timeout_ms: null },
          environment: { type: "container_reference", container_id: "cntr" },
        });
        owes("shell_call_output");
        break;
      case "shell_local":
        add("sh", "shell_call", {
          call_id: callId,
          action: { commands: ["uname"], max_output_length: null, timeout_ms: null },
          environment: { type: "local" },
        });
        break;
      case "local_shell":
        add("lsh", "local_shell_call", {
          call_id: callId,
          action: { type: "exec", command: ["uname"], env: {} },
        });
        break;
      case "patch":
        add("apc", "apply_patch_call", {
          call_id: callId,
          operation: { type: "create_file", path: "a", diff: "+a" },
        });
        break;
      default:
        throw new Error(`no such item: ${String(one["k"])}`);
    }
  }
  const safe =
    spec.status === "completed" &&
    items.every(
      (one) =>
        SAFE.test(String(one["type"])) &&
        (one["type"] !== "reasoning" || one["encrypted_content"] !== undefined) &&
        (one["type"] !== "message" || JSON.stringify(one["content"]).includes("Well.")) &&
        (one["type"] !== "function_call" || (one["id"] !== undefined && one["name"] !== "")),
    ) &&
    items.at(-1)?.["type"] !== "reasoning";
  return {
    events: response(items, `resp_${maker.next()}`, spec.status),
    payloads: safe
      ? items.map((one) => one["encrypted_content"]).filter((one) => typeof one === "string")
      : [],
  };
}

function output(type: string, callId: string, n: number): Item {
  const head = { id: `out_${n}`, type, call_id: callId, status: "completed" };
  if (type === "program_output") return { ...head, result: "21" };
  return { ...head, output: [{ outcome: { type: "exit", exit_code: 0 }, stderr: "", stdout: "Linux\n" }] };
}
