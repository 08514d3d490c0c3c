/**
 * An answer as a stream of chunks, in each vendor's order and with its empty fields (failures.md §4): the role first,
 * reasoning, content, calls by index, a chunk with `finish_reason`, and the usage where the vendor puts it.
 */

import { assertNever, isObject, type JsonObject, objectOf } from "../../base/support/index.ts";
import type { Fault } from "../faults/fault.ts";
import { deltaTexts, type StreamEvent, type StreamForm } from "../output/stream-event.ts";
import { hashText } from "../seal.ts";
import { callObject, textDetail } from "./completion.ts";
import type { Ending } from "./ending.ts";
import type { IssuedMessage } from "./issue.ts";
import type { ChatRequest } from "./request-shape.ts";
import { around, choiceOf, type Frame } from "./vendor-form.ts";
import type { ChatTraits, Vendor } from "./vendors.ts";

const chunkObject = "chat.completion.chunk";

export function chunksOf(options: {
  readonly frame: Frame;
  readonly request: ChatRequest;
  readonly message: IssuedMessage;
  readonly ending: Ending;
  readonly usage: JsonObject;
  readonly faults: readonly Fault[];
}): readonly StreamEvent[] {
  const { frame, request, message, ending, usage, faults } = options;
  const { vendor } = frame;
  const cut = faults.some((fault) => fault.type === "done-only")
    ? (text: string): readonly string[] => (text === "" ? [] : [text])
    : deltaTexts;
  const events: StreamEvent[] = [];
  const push = (
    delta: JsonObject,
    more: Omit<StreamEvent, "body"> = {},
    finish: string | null = null,
  ): void => {
    events.push({ ...more, body: around(frame, chunkObject, [choiceOf(vendor, { delta }, finish)]) });
  };
  for (const { item, ...delta } of deltasOf(vendor, request, message, cut))
    push(delta, { item, delta: true });
  if (faults.some((fault) => fault.type === "unknown-item")) push({ emulator_surprise: { depth: 1 } });
  if (ending.error !== undefined) {
    events.push({ body: errorChunk(frame, ending), terminal: "failed" });
  } else {
    const terminal = ending.status === "incomplete" ? "incomplete" : "completed";
    push(finishDelta(vendor, request, message), { terminal }, ending.finish);
  }
  const dressed = events.map((event, index) => ({
    ...event,
    body: { ...event.body, ...besides(request, frame, index) },
  }));
  return ending.error === undefined ? withUsage(dressed, frame, request, usage) : dressed;
}

type ItemDelta = JsonObject & { readonly item: number };

function* deltasOf(
  vendor: Vendor,
  request: ChatRequest,
  message: IssuedMessage,
  cut: (text: string) => readonly string[],
): Generator<ItemDelta> {
  const { content, refusal, calls, thoughts } = message;
  const shown = request.chat.shows !== null && request.thinking;
  yield* opening(vendor, message, shown);
  let item = 0;
  for (const [index, thought] of thoughts.entries()) {
    for (const [at, piece] of cut(thought).entries()) {
      const role = vendor === "mistral" && index + at === 0 ? { role: "assistant" } : {};
      yield { item, ...role, ...thoughtDelta(vendor, request.chat.shows, piece, index) };
    }
    if (message.signature !== undefined)
      yield {
        item,
        content: [{ type: "thinking", thinking: [], signature: message.signature, closed: true }],
      };
    for (const detail of message.details[index]?.slice(1) ?? [])
      yield { item, role: "assistant", content: "", reasoning: null, reasoning_details: [detail] };
    item += 1;
  }
  for (const piece of cut(content)) yield { item, ...contentDelta(vendor, piece, shown) };
  if (content !== "") item += 1;
  for (const piece of cut(refusal ?? "")) {
    // Only OpenAI has a channel for refusals; the others use plain content.
    yield { item, ...(vendor === "openai" ? { refusal: piece } : contentDelta(vendor, piece, shown)) };
  }
  if (refusal !== undefined) item += 1;
  if (vendor === "mistral") return; // whole, in the last chunk
  for (const [index, call] of calls.entries()) {
    const role = vendor === "openrouter" ? { role: "assistant", content: null } : {};
    const whole = { index, ...callObject(call) };
    if (vendor === "groq") {
      yield { item, tool_calls: [whole] };
    } else {
      const made = call.custom ? "custom" : "function";
      const field = call.custom ? "input" : "arguments";
      const head = { ...whole, [made]: { name: call.name, [field]: "" } };
      yield { item, ...role, tool_calls: [head] };
      for (const piece of cut(call.arguments))
        yield { item, ...role, tool_calls: [{ index, [made]: { [field]: piece } }] };
    }
    item += 1;
  }
}

/** The first chunk: the role, and the fields that will follow. */
function* opening(vendor: Vendor, message: IssuedMessage, shown: boolean): Generator<ItemDelta> {
  const role = "assistant";
  const silent = message.content === "" && message.calls.length > 0 ? null : "";
  if (vendor === "openai") yield { item: 0, role, content: silent, refusal: null };
  if (vendor === "deepseek")
    yield { item: 0, role, ...(shown ? { content: null, reasoning_content: "" } : { content: "" }) };
  if (vendor === "kimi" || vendor === "groq" || vendor === "compatible") yield { item: 0, role, content: "" };
  // Mistral's first thought carries the role itself.
  if (vendor === "mistral" && message.thoughts.length === 0) yield { item: 0, role, content: "" };
}

function thoughtDelta(vendor: Vendor, shows: ChatTraits["shows"], text: string, index: number): JsonObject {
  switch (vendor) {
    case "compatible":
      return shows === "reasoning_details"
        ? { reasoning_details: [textDetail(text)] }
        : { [shows ?? "reasoning_content"]: text };
    case "deepseek":
      return { content: null, reasoning_content: text };
    case "kimi":
    case "openai":
      return { reasoning_content: text };
    case "groq":
      return { reasoning: text };
    case "mistral":
      return { content: [{ type: "thinking", thinking: [{ type: "text", text }] }] };
    case "openrouter": {
      const detail = { type: "reasoning.summary", summary: text, format: "openai-responses-v1", index };
      return { role: "assistant", content: "", reasoning: text, reasoning_details: [detail] };
    }
    default:
      return assertNever(vendor, "vendor");
  }
}

function contentDelta(vendor: Vendor, text: string, shown: boolean): JsonObject {
  if (vendor === "openrouter") return { role: "assistant", content: text };
  if (vendor === "mistral" && shown) return { content: [{ type: "text", text }] };
  return vendor === "deepseek" && shown ? { content: text, reasoning_content: null } : { content: text };
}

function finishDelta(vendor: Vendor, request: ChatRequest, message: IssuedMessage): JsonObject {
  switch (vendor) {
    case "deepseek":
      return { content: "", ...(request.thinking ? { reasoning_content: null } : {}) };
    case "mistral":
      return { content: "", ...(message.calls.length === 0 ? {} : { tool_calls: mistralCalls(message) }) };
    case "openrouter":
      return { role: "assistant", content: "" };
    case "openai":
    case "kimi":
    case "groq":
    case "compatible":
      return {};
    default:
      return assertNever(vendor, "vendor");
  }
}

function mistralCalls({ calls }: IssuedMessage): readonly JsonObject[] {
  return calls.map(({ id, name, arguments: text }, index) => ({
    id,
    function: { name, arguments: text },
    index,
  }));
}

function errorChunk(frame: Frame, { error, errorShape }: Ending): JsonObject {
  const { code = "server_error", message = "" } = error ?? {};
  if (frame.vendor === "openrouter") {
    const choice = choiceOf("openrouter", { delta: { role: "assistant", content: "" } }, "error");
    return {
      ...around(frame, chunkObject, [choice]),
      error: { code: 502, message, metadata: { error_type: code } },
    };
  }
  const body = { message, type: "server_error", param: null, code };
  return errorShape === "flat" ? { object: "error", ...body } : { error: body };
}

/** The fields next to `choices` in each chunk. */
function besides(request: ChatRequest, { vendor, id }: Frame, index: number): JsonObject {
  const options = objectOf(request.body["stream_options"]);
  if (vendor === "groq" && index === 0) return { x_groq: { id: `req_${hashText(id)}`, seed: 1 } };
  if (vendor !== "openai" && vendor !== "deepseek") return {};
  return {
    ...(request.includeUsage ? { usage: null } : {}),
    ...(vendor === "openai" && options["include_obfuscation"] !== false
      ? { obfuscation: hashText(`${id}${index}`).slice(0, 1 + (index % 10)) }
      : {}),
  };
}

/** Adds the usage where the vendor puts it: on the last chunk, inside its choice, or in a separate chunk. */
function withUsage(
  events: readonly StreamEvent[],
  frame: Frame,
  request: ChatRequest,
  usage: JsonObject,
): readonly StreamEvent[] {
  const asked = request.includeUsage;
  const own = (choices: readonly JsonObject[]): StreamEvent => ({
    body: { ...around(frame, chunkObject, choices), usage },
  });
  const onLast = (change: (body: JsonObject) => JsonObject): readonly StreamEvent[] =>
    events.map((event) => (event.terminal === undefined ? event : { ...event, body: change(event.body) }));
  switch (frame.vendor) {
    case "openai": {
      const last = own([]);
      const dress = besides(request, frame, events.length);
      return asked ? [...events, { ...last, body: { ...last.body, ...dress, usage } }] : events;
    }
    case "deepseek":
      return asked ? onLast((body) => ({ ...body, usage })) : events;
    case "mistral":
      return onLast((body) => ({ ...body, usage }));
    case "groq":
      return onLast((body) => ({
        ...body,
        x_groq: { id: `req_${hashText(frame.id)}`, usage },
        ...(asked ? { usage } : {}),
      }));
    case "kimi": {
      const inside = onLast((body) => ({
        ...body,
        choices: (body["choices"] as readonly JsonObject[]).map((choice) => ({ ...choice, usage })),
      }));
      return asked ? [...inside, own([])] : inside;
    }
    case "compatible":
      return asked ? [...events, own([])] : events;
    case "openrouter":
      return asked
        ? [...events, own([choiceOf("openrouter", { delta: { role: "assistant", content: "" } }, null)])]
        : events;
    default:
      return assertNever(frame.vendor, "vendor");
  }
}

export function chatStreamForm(done: boolean): StreamForm {
  return {
    named: false,
    numbered: false,
    doneMarker: done,
    surprise: { object: "chat.completion.surprise", note: "clients ignore what they do not know", depth: 1 },
    // As Azure opens a stream: an empty id, no choices.
    keepalive: { id: "", object: chunkObject, created: 0, model: "", choices: [] },
    ofAnother: (event) => withId(event, "chatcmpl-another"),
    alter: (list, fault, seed) =>
      fault.type === "rotate-ids"
        ? list.map((event, index) =>
            withId(
              event,
              hashText(`${seed}${index}`)
                .repeat(20)
                .slice(0, fault.length ?? 416),
            ),
          )
        : list,
  };
}

function withId(event: StreamEvent, id: string): StreamEvent {
  return isObject(event.body) && "id" in event.body ? { ...event, body: { ...event.body, id } } : event;
}
