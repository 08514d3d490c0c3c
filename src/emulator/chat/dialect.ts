/** The emulator's chat completions dialect, in the forms of its vendors. */

import { stringOf } from "../../base/support/index.ts";
import type { ApiRefusal } from "../api-refusal.ts";
import type { Answer, Call, ComposeOptions, Dialect, JudgedRequest, ReadRequest } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { bodyOf as jsonOf } from "../request-body.ts";
import { openaiResponses } from "../responses/dialect.ts";
import { malformedJson } from "../responses/judge/refusals.ts";
import { acceptableIn } from "./acceptable.ts";
import { chatStreamForm, chunksOf } from "./chunks.ts";
import { completionOf } from "./completion.ts";
import { endingOf } from "./ending.ts";
import { checkOrder } from "./history.ts";
import { asSaid, issueMessage } from "./issue.ts";
import { checkMessage } from "./message-shape.ts";
import { type ChatMessage, meaningChain, nextLink } from "./messages.ts";
import { viewOf } from "./model-view.ts";
import { judgeReasoning } from "./reasoning.ts";
import { bodyOf, type ChatRefusal, contextTooLong } from "./refusals.ts";
import { type ChatRequest, parseChatRequest } from "./request-shape.ts";
import { responseIdOf, usageFor } from "./vendor-form.ts";

/** Keys, sizes, headers and HTTP faults are those of the Responses API. */
export const openaiChat: Dialect = {
  ...openaiResponses,
  name: "openai-chat",
  owns: (path) => path.startsWith("/chat/"),
  create: /^\/chat\/completions\/?$/,
  routes: [],
  read(engine, call) {
    const body = jsonOf(call.text);
    if (body === undefined) return malformedJson();
    const request = parseChatRequest({
      body,
      text: call.text,
      switches: engine.switches,
      traitsOf: (model) => engine.traitsOf(model, "openai-chat"),
    });
    return "rule" in request ? request : readable(engine, request, call);
  },
  // Before the model is known there is no vendor: keys, routes and faults use OpenAI's form.
  errorBody: (refusal) => (isChatRefusal(refusal) ? refusal.body : bodyOf("openai", refusal)),
};

function isChatRefusal(refusal: ApiRefusal): refusal is ChatRefusal {
  return "body" in refusal;
}

function readable(engine: Engine, request: ChatRequest, call: Call): ReadRequest {
  return {
    model: request.model,
    inputItems: request.messages.length,
    judge: () => judge(engine, request, call),
  };
}

function judge(engine: Engine, request: ChatRequest, call: Call): JudgedRequest {
  const { messages, chat } = request;
  const { switches } = engine;
  const chain = meaningChain(messages);
  const named = call.headers["x-emulator-conversation"] ?? stringOf(request.body["prompt_cache_key"]);
  const conversation = engine.issued.conversationOf(named, conversationClues(messages, chain));
  const issued = engine.issued.reasoningOf(conversation);
  const reasoning = judgeReasoning({ engine, request, account: call.account, issued });
  const shapes = messages.flatMap((message) => checkMessage(message, chat, switches) ?? []);
  const acceptable = acceptableIn({ engine, request, issued, sent: reasoning.sent });
  const standing = { issued: issued.filter((one) => one.opaque).map(({ id }) => id), acceptable };
  const lost = acceptable.filter((id) => !reasoning.sent.includes(id)).length;
  return {
    conversation,
    refusals: [...shapes, ...checkOrder(request), ...reasoning.refusals],
    head: request.head,
    texts: messages.map(({ text }) => text),
    sent: reasoning.sent,
    dropped: reasoning.dropped,
    modified: reasoning.modified,
    foreign: reasoning.foreign,
    standing,
    tooLong: (tokens) => {
      const { contextTokens } = request.traits;
      return tokens > contextTokens ? contextTooLong(chat.vendor, contextTokens, tokens) : undefined;
    },
    view: () => viewOf(request, reasoning, lost),
    compose: (options) => compose(engine, { request, conversation, account: call.account, chain }, options),
  };
}

/**
 * Calls prove their conversation, even across dialects. The first one counts, because a client may have mapped later
 * ones for another vendor. Without calls, the newest answer in the request counts.
 */
function* conversationClues(messages: readonly ChatMessage[], chain: readonly string[]): Generator<string> {
  for (const { calls } of messages) for (const { id } of calls) if (!isCounted(id)) yield id;
  for (const { index, role } of messages.toReversed()) {
    const link = role === "assistant" ? chain[index + 1] : undefined;
    if (link !== undefined) yield link;
  }
}

/** Kimi's ids are the same in every conversation. */
function isCounted(callId: string): boolean {
  return /^functions\..+:\d+$/.test(callId);
}

interface Judged {
  readonly request: ChatRequest;
  readonly conversation: string;
  readonly account: string;
  readonly chain: readonly string[];
}

function compose(engine: Engine, judged: Judged, options: ComposeOptions): Answer {
  const { request, conversation, account } = judged;
  const { vendor } = request.chat;
  const { faults } = options;
  const created = engine.seconds();
  const id = responseIdOf(vendor, (bytes) => engine.seal.random(bytes), created);
  const ending = endingOf(request, options.reply, faults);
  const uid = engine.seal.newUid();
  const message = issueMessage({ engine, request, account, uid, parts: ending.parts });
  const counted = (type?: "reasoning"): number =>
    ending.parts.reduce((sum, one) => sum + (type === undefined || one.type === type ? one.tokens : 0), 0);
  const usage = usageFor(vendor, { ...options.prompt, output: counted(), reasoning: counted("reasoning") });
  const frame = { vendor, id, created, model: request.model };
  const link = nextLink(judged.chain.at(-1) ?? "", asSaid(message));
  const callIds = message.calls.map((call) => call.id).filter((one) => !isCounted(one));
  engine.issued.opened(conversation, [link, ...callIds]);
  const failed = ending.error !== undefined;
  const silent = faults.some((fault) => fault.type === "no-terminal");
  const { code = "server_error", message: why = "" } = ending.error ?? {};
  return {
    id,
    object: failed
      ? { error: { message: why, type: "server_error", param: null, code } }
      : completionOf({ frame, request, message, ending, usage }),
    ...(failed ? { status: 500 } : {}),
    stream: request.stream
      ? {
          events: chunksOf({ frame, request, message, ending, usage, faults }),
          form: chatStreamForm(!failed && !silent),
        }
      : undefined,
    outcome: ending.status,
    ended(outcome) {
      if (outcome === "completed") engine.issued.completed(conversation, message.reasoning);
    },
  };
}
