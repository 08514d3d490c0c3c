/**
 * Turns a reply into a message: blocks, events in order, and a note to the issued record on how it ended. Nothing
 * enters the accepted set before `message_stop` was sent whole.
 */

import { isObject, type JsonObject } from "../../base/support/index.ts";
import { refuse } from "../api-refusal.ts";
import type { Answer, ComposeOptions } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import type { Reply } from "../output/draft.ts";
import type { StreamEvent } from "../output/stream-event.ts";
import { issuedThinking, cluesOfMessage } from "./clues.ts";
import { type Ending, endingOf } from "./ending.ts";
import type { JudgedMessages } from "./judge-request.ts";
import { containerOf } from "./judge/server-tools.ts";
import { messageEvents, streamForm } from "./output/events.ts";
import { issueBlocks } from "./output/issue.ts";
import { resumedResults } from "./output/server-results.ts";
import { inputTokens, outputUsage, startUsage } from "./output/usage.ts";
import { toolId } from "./signature.ts";
import { BINDING_BETA } from "./vocabulary.ts";

/** Stop reasons of a complete message. A refused or shortened answer does not count as complete. */
const completing = new Set(["end_turn", "tool_use", "stop_sequence", "pause_turn"]);

export function composeMessage(engine: Engine, judged: JudgedMessages, options: ComposeOptions): Answer {
  const { request } = judged;
  const at = engine.seconds();
  const uid = engine.seal.newUid();
  const id = toolId(engine.seal, { uid, at, index: 127 }, { beganThinking: false, prefix: "msg" });
  const reply = resumed(judged, options.reply);
  const ending = endingOf(judged, reply, { faults: options.faults, input: options.prompt.input });
  const blocks = issueBlocks({
    drafts: ending.drafts,
    seal: engine.seal,
    uid,
    at,
    model: request.model,
    account: judged.account,
    omitted: request.thinking.omitted,
    head: judged.head,
    link: judged.context.chain.at(-1) ?? "",
    lastRole: judged.context.lastRole,
    previous: [...judged.history.usable.values()].at(-1)?.id ?? null,
  });
  const input = inputTokens(options.prompt, {
    caches: request.caches,
    minimum: engine.switches.cacheMinimumTokens,
  });
  const container = reply.container === undefined ? {} : { container: reply.container };
  const opening = {
    model: request.model,
    id,
    type: "message",
    role: "assistant",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: startUsage(input),
    ...transformationsOf(judged),
    ...(containerOf(request.body) === undefined ? {} : container),
  };
  const output = outputUsage(ending.drafts, ending.tokens);
  const stop = stopOf(ending);
  const object: JsonObject = {
    ...opening,
    content: blocks.map((block) => block.final),
    ...stop,
    usage: { ...startUsage(input), ...output },
    ...contextManagement(request.body),
    ...container,
  };
  engine.issued.opened(judged.conversation, cluesOfMessage(uid, blocks));
  const outcome = outcomeOf(ending);
  const end = endEvents(ending, {
    type: "message_delta",
    delta: { ...stop, ...container },
    usage: { ...input, ...output },
    ...contextManagement(request.body),
  });
  return {
    id,
    object,
    ...(ending.error === undefined ? {} : { refusal: refuse({ rule: "X-fault", ...ending.error }) }),
    stream: request.stream
      ? { events: messageEvents({ start: opening, blocks, end }), form: streamForm }
      : undefined,
    outcome,
    ended(how) {
      if (how === "completed")
        engine.issued.completed(judged.conversation, issuedThinking(blocks, engine.seal.epoch));
      if (isObject(request.body["thread"]) && (how === "completed" || how === "incomplete")) {
        const content = blocks.map((block) => block.final);
        engine.threads.hold(id, judged.account, request.text, content);
      }
    },
  };
}

/** Waiting calls of server tools have run by now: their results come first. */
function resumed({ pending }: JudgedMessages, reply: Reply): Reply {
  const results = resumedResults(
    pending.map(({ block }) => block),
    reply,
  );
  return { ...reply, output: [...results, ...reply.output] };
}

function stopOf({ stopReason, stopSequence }: Ending): JsonObject {
  const details = { type: "refusal", category: null, explanation: null };
  return {
    stop_reason: stopReason,
    stop_sequence: stopSequence,
    ...(stopReason === "refusal" ? { stop_details: details } : {}),
  };
}

function outcomeOf(ending: Ending): Answer["outcome"] {
  if (ending.error !== undefined) return "failed";
  return completing.has(ending.stopReason) ? "completed" : "incomplete";
}

function endEvents(ending: Ending, delta: JsonObject): readonly StreamEvent[] {
  if (ending.error !== undefined) return [{ body: errorObject(ending.error), terminal: "failed" }];
  return [{ body: delta }, { body: { type: "message_stop" }, terminal: outcomeOf(ending) }];
}

function errorObject({ type, message }: { readonly type: string; readonly message: string }): JsonObject {
  return { type: "error", error: { type, message } };
}

/** With the beta header always; without it only if there is something to report (C10). */
function transformationsOf({ history, request }: JudgedMessages): JsonObject {
  const asked = request.betas.includes(BINDING_BETA);
  return asked || history.transformations.length > 0
    ? { input_transformations: history.transformations }
    : {};
}

function contextManagement(body: JsonObject): JsonObject {
  return isObject(body["context_management"]) ? { context_management: { applied_edits: [] } } : {};
}
