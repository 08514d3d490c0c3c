/**
 * Histories that the server must accept: whole groups, exactly as they arrived. Each is the control of the deliberate
 * breaks: if the unbroken history is refused, a refusal of the broken one proves nothing.
 */

import type { Acceptance } from "../acceptance.ts";
import { ASK, ASK_ON, ASK_WEATHER, type Context, WEATHER_TOOL } from "../context.ts";
import { fieldOf, home, outputItem, payloadOf, textField, typeOf, without, withField } from "../item-text.ts";
import { probesOf, Skip, taken, type Verdict } from "../probe.ts";
import { keptItems, type StreamView } from "../stream-view.ts";
import { callIdOf, RESULT } from "./tools.ts";

export type Kind = "message" | "call";

export interface History {
  readonly kind: Kind;
  readonly head: string;
  /** The items of one response, as they are sent back. */
  readonly group: readonly string[];
  readonly tail: readonly string[];
}

/** The reasoning directly before an item, the item, and the rest of the request. */
export interface Pair extends Omit<History, "group"> {
  readonly run: readonly string[];
  readonly follower: string;
}

const TYPES = new Set(["reasoning", "message", "function_call"]);
const isReasoning = (item: string): boolean => typeOf(item) === "reasoning";

function streamOf(context: Context, kind: Kind): Promise<StreamView> {
  return kind === "message" ? context.textStream() : context.callStream();
}

export async function history(context: Context, kind: Kind): Promise<History> {
  const items = keptItems(await streamOf(context, kind));
  if (items.length === 0)
    throw new Skip(`the ${kind === "message" ? "answer" : "call"} has no finished items`);
  const strange = items.find((item) => !TYPES.has(typeOf(item)));
  if (strange !== undefined)
    throw new Skip(`the answer contains a ${typeOf(strange)}, which this probe does not replay`);
  const group = items.map(home);
  if (kind === "message") return { kind, head: ASK, group, tail: [ASK_ON] };
  const calls = group.filter((item) => typeOf(item) === "function_call");
  if (calls.length === 0) throw new Skip("the model made no call: see tools.call");
  return { kind, head: ASK_WEATHER, group, tail: calls.map((call) => outputItem(callIdOf(call), RESULT)) };
}

export async function pairOf(context: Context, kind: Kind): Promise<Pair> {
  const { head, group, tail } = await history(context, kind);
  const first = group.findIndex(isReasoning);
  if (first === -1) throw new Skip("this response has no reasoning");
  const next = group.findIndex((item, at) => at > first && !isReasoning(item));
  const follower = group[next];
  if (follower === undefined) throw new Skip("nothing follows the reasoning");
  const own = kind === "message" ? tail : tail.filter((item) => callIdOf(item) === callIdOf(follower));
  if (own.length === 0) throw new Skip("the item after the reasoning is not the call");
  return { kind, head, run: group.slice(first, next), follower, tail: own };
}

/** From the text answer, or from the call if the text answer has no reasoning. */
export async function anyPair(context: Context): Promise<Pair> {
  try {
    return await pairOf(context, "message");
  } catch (error) {
    if (!(error instanceof Skip)) throw error;
    return pairOf(context, "call");
  }
}

const toolsFor = (kind: Kind): { readonly tools?: readonly unknown[] } =>
  kind === "call" ? { tools: [WEATHER_TOOL] } : {};

/** The unbroken history, sent once. */
export function control(context: Context, kind: Kind): Promise<Acceptance> {
  return context.once(`control ${kind}`, async () => {
    const { head, group, tail } = await history(context, kind);
    return context.offer([head, ...group, ...tail], toolsFor(kind));
  });
}

async function mustReason(context: Context, kind: Kind): Promise<void> {
  const { group } = await history(context, kind);
  if (!group.some(isReasoning)) throw new Skip("this response has no reasoning");
}

async function wholeGroup(context: Context, kind: Kind): Promise<Verdict> {
  await mustReason(context, kind);
  return taken(await control(context, kind));
}

/** Uses the last payload of each item instead of the one in `done`. */
function withFinalPayload(view: StreamView, group: readonly string[]): readonly string[] {
  return group.map((item) => {
    const seen = view.items.find(
      ({ done, final }) => textField(done ?? final ?? "", "id") === textField(item, "id"),
    );
    const last = payloadOf(seen?.final);
    if (!isReasoning(item)) return item;
    if (last === undefined) throw new Skip("the terminal event has no encrypted_content");
    return withField(item, "encrypted_content", last);
  });
}

export const REPLAY_PROBES = probesOf("reasoning", {
  "replay.plain": {
    title: "an answer goes back as plain text: no ids, no reasoning",
    why: "law 2, I09",
    async run(context) {
      const { head, group, tail } = await history(context, "message");
      const plain = group.filter((item) => !isReasoning(item)).map((item) => without(item, "id", "status"));
      return taken(await context.offer([head, ...plain, ...tail]));
    },
  },
  "replay.message": {
    title: "reasoning and its answer go back whole, with their ids",
    why: "law 1, rules R01 and R02",
    run: (context) => wholeGroup(context, "message"),
  },
  "replay.call": {
    title: "reasoning, its call and the call's output go back whole, with their ids",
    why: "law 1, rules R06 and R08",
    run: (context) => wholeGroup(context, "call"),
  },
  "replay.final-payload": {
    title: "the ciphertext of the terminal event is accepted like that of done",
    why: "E08",
    async run(context) {
      await mustReason(context, "message");
      if (!(await control(context, "message")).accepted) throw new Skip("see replay.message");
      const { head, group, tail } = await history(context, "message");
      const view = await context.textStream();
      return taken(await context.offer([head, ...withFinalPayload(view, group), ...tail]));
    },
  },
  "replay.no-ids": {
    strict: false,
    title: "reasoning with its payload goes back without any ids",
    why: "I09",
    async run(context) {
      const { kind, head, run, follower, tail } = await anyPair(context);
      if (run.some((item) => payloadOf(item) === undefined)) {
        throw new Skip("there is no encrypted_content: see reasoning.payload");
      }
      const bare = [...run, follower].map((item) => without(item, "id"));
      return taken(await context.offer([head, ...bare, ...tail], toolsFor(kind)));
    },
  },
  "replay.readable": {
    strict: false,
    title: "readable reasoning goes back with its content, without any ids",
    why: "S04, V02",
    async run(context) {
      const { kind, head, run, follower, tail } = await anyPair(context);
      const contents = (await readableContents(context, kind)).slice(0, run.length);
      if (contents.length < run.length) throw new Skip("the reasoning has no readable content");
      const bare = run.map((item, at) => withField(without(item, "id"), "content", contents[at]));
      const input = [head, ...bare, without(follower, "id"), ...tail];
      return taken(await context.offer(input, toolsFor(kind)));
    },
  },
});

async function readableContents(context: Context, kind: Kind): Promise<readonly unknown[]> {
  const contents = keptItems(await streamOf(context, kind))
    .filter(isReasoning)
    .map((item) => fieldOf(item, "content"));
  return contents.filter((content) => Array.isArray(content) && content.length > 0);
}
