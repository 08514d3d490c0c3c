/**
 * Turns a reply into a response: items with ids, events in order, faults applied, and a note to the issued record and
 * the store on how it ended. Nothing enters the accepted set before the terminal event was sent whole.
 */

import { addAll, type JsonObject, numberOf, objectOf, stringOf } from "../../base/support/index.ts";
import type { Answer, ComposeOptions } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import type { Fault } from "../faults/fault.ts";
import { type Draft, halved, type Reply } from "../output/draft.ts";
import type { StreamEvent } from "../output/stream-event.ts";
import { issuedReasoning, cluesOfResponse } from "./clues.ts";
import { faultMessages } from "./http-errors.ts";
import type { Judged } from "./judge-request.ts";
import { ciphertextRefused } from "./judge/refusals.ts";
import { cutAtLimit } from "./output/cut-at-limit.ts";
import { itemEvents } from "./output/events.ts";
import { type IssuedItem, issueItems } from "./output/issue.ts";
import { responseObject, type ResponseState, usageOf } from "./output/response-object.ts";
import { streamForm } from "./output/stream-form.ts";
import { storedOutput, withIds } from "./store.ts";

interface Ending {
  readonly status: "completed" | "incomplete" | "failed";
  readonly drafts: readonly Draft[];
  readonly reason?: string | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  /** All output tokens, if more than the drafts show: the limit was reached inside one of them. */
  readonly spent?: number | undefined;
  /** Whether an `error` event comes before the end ("nested") or instead of it ("flat"). */
  readonly errorEvent?: "nested" | "flat";
}

export function composeAnswer(engine: Engine, judged: Judged, options: ComposeOptions): Answer {
  const { request } = judged;
  const { faults } = options;
  const at = engine.seconds();
  const uid = engine.seal.newUid();
  const id = engine.seal.responseId(uid, at);
  const ending = endingOf(judged, options.reply, faults);
  const withCiphertext = wantsCiphertext(engine, judged);
  const items = issueItems({
    drafts: ending.drafts,
    seal: engine.seal,
    uid,
    at,
    model: request.model,
    account: judged.account,
    switches: engine.switches,
    prefix: judged.chain.at(-1) ?? "",
    withCiphertext,
  });
  const object = (state: ResponseState): JsonObject => responseObject({ id, at, request, state });
  const output = items.map((item) => finalView(item, ending));
  const final = object({
    status: ending.status,
    output,
    usage: ending.status === "failed" ? null : usageOf(options.prompt, ending.drafts, ending.spent),
    incompleteReason: ending.reason,
    error: ending.error,
    completedAt: ending.status === "completed" ? at : undefined,
  });
  engine.issued.opened(judged.conversation, cluesOfResponse(uid, items));
  const stream = request.stream
    ? {
        events: eventsOf(engine, { items, ending, object, final, request: judged.request.body, id }),
        form: streamForm(engine.switches.doneMarker),
      }
    : undefined;
  const complete = (): JsonObject => {
    const issued = issuedReasoning(items, { epoch: engine.seal.epoch, opaque: withCiphertext });
    engine.issued.completed(judged.conversation, issued);
    return final;
  };
  const background = request.body["background"] === true && !request.stream;
  const queued = object({ status: "queued" });
  const keep = (): void => {
    if (!request.store || engine.switches.zeroDataRetention) return;
    engine.store.put(id, {
      object: background ? queued : final,
      account: judged.account,
      previous: stringOf(request.body["previous_response_id"]),
      inputItems: withIds(
        judged.context.filter((one) => one.index !== undefined),
        engine.seal,
        at,
      ),
      output: storedOutput(items),
      ...(background ? { finish: complete } : {}),
    });
  };
  return {
    id,
    object: background ? queued : final,
    stream,
    outcome: ending.status,
    ended(outcome) {
      if (outcome !== "completed") return;
      if (!background) complete();
      keep();
    },
  };
}

function wantsCiphertext(engine: Engine, { request }: Judged): boolean {
  if (!request.traits.reasoning || !request.traits.encryptedContent) return false;
  const asked = request.include.includes("reasoning.encrypted_content");
  return asked || engine.switches.ciphertextWithoutInclude === "send";
}

function endingOf(judged: Judged, reply: Reply, faults: readonly Fault[]): Ending {
  let drafts = reply.output;
  if (faults.some((fault) => fault.type === "unknown-item")) {
    const surprise: Draft = {
      type: "raw",
      item: { type: "surprise_call", status: "completed", payload: { depth: 1 } },
    };
    drafts = [...drafts.slice(0, -1), surprise, ...drafts.slice(-1)];
  }
  for (const fault of faults) {
    const forced = forcedEnding(fault, drafts, judged);
    if (forced !== undefined) return forced;
  }
  const limit = numberOf(judged.request.body["max_output_tokens"]);
  const cut = limit === undefined ? undefined : cutAtLimit(drafts, limit);
  if (cut !== undefined) {
    return { status: "incomplete", reason: "max_output_tokens", drafts: cut, spent: limit };
  }
  return { status: reply.status ?? "completed", drafts, reason: reply.incompleteReason, error: reply.error };
}

function forcedEnding(fault: Fault, drafts: readonly Draft[], judged: Judged): Ending | undefined {
  if (fault.type === "incomplete") {
    return { status: "incomplete", reason: fault.reason, drafts: halved(drafts, fault.items) };
  }
  if (fault.type === "invalid-encrypted-content") {
    return { status: "failed", drafts: [], error: cipherError(judged), errorEvent: "nested" };
  }
  if (fault.type !== "failed" && fault.type !== "error-event") return undefined;
  const code = fault.code ?? "server_error";
  const message = fault.message ?? faultMessages[code] ?? `Emulated failure ${code}.`;
  const all = fault.type === "failed" ? drafts.length : 0;
  return {
    status: "failed",
    drafts: drafts.slice(0, fault.items ?? all),
    error: { code, message },
    ...(fault.type === "error-event" ? { errorEvent: fault.shape } : {}),
  };
}

function finalView(item: IssuedItem, ending: Ending): JsonObject {
  const view = item.view("completed");
  const last = item.index === ending.drafts.length - 1;
  return ending.status === "incomplete" && last && view["type"] === "message"
    ? { ...view, status: "incomplete" }
    : view;
}

function cipherError(judged: Judged): { readonly code: string; readonly message: string } {
  const first = judged.context.find((one) => typeof one.item["encrypted_content"] === "string");
  const refusal = ciphertextRefused({
    rule: "E12",
    reason: "E02",
    id: first?.id,
    ciphertext: stringOf(first?.item["encrypted_content"]) ?? "",
  });
  return { code: "invalid_encrypted_content", message: refusal.message };
}

function eventsOf(
  engine: Engine,
  options: {
    readonly items: readonly IssuedItem[];
    readonly ending: Ending;
    readonly object: (state: ResponseState) => JsonObject;
    readonly final: JsonObject;
    readonly request: JsonObject;
    readonly id: string;
  },
): readonly StreamEvent[] {
  const { ending, items } = options;
  const obfuscate = objectOf(options.request["stream_options"])["include_obfuscation"] !== false;
  const open = options.object({ status: "in_progress" });
  const events: StreamEvent[] = [
    { body: { type: "response.created", response: open } },
    { body: { type: "response.in_progress", response: open } },
  ];
  for (const item of items) {
    const ofItem = itemEvents(item, {
      obfuscate,
      reasoningText: engine.switches.reasoningText,
      seed: options.id,
    });
    addAll(events, ofItem.slice(0, -1));
    const done = ofItem.at(-1);
    const cut = ending.status === "incomplete" && item.index === items.length - 1 && item.type === "message";
    if (done !== undefined) events.push(cut ? asIncomplete(done) : done);
  }
  if (ending.errorEvent !== undefined && ending.error !== undefined) {
    const error = { type: "invalid_request_error", ...ending.error, param: null };
    if (ending.errorEvent === "flat") {
      events.push({ body: { type: "error", ...ending.error, param: null } });
      return events;
    }
    events.push({ body: { type: "error", error } });
  }
  events.push({
    body: { type: `response.${ending.status}`, response: options.final },
    terminal: ending.status,
  });
  return events;
}

function asIncomplete(event: StreamEvent): StreamEvent {
  return {
    ...event,
    body: { ...event.body, item: { ...objectOf(event.body["item"]), status: "incomplete" } },
  };
}
