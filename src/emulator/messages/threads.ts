/**
 * Threads: a conversation that the server holds (`thread: {type: "create"}`), so that the next request sends only what
 * is new (`continue`). Such a request is judged as the whole conversation it represents. Clients that do not use
 * threads are not affected. Shapes: @anthropic-ai/sdk 1.8.0, BetaThreadCreateParams and lib/internal/threads.
 */

import {
  isObject,
  type JsonObject,
  sliceArray,
  sliceMember,
  sliceObject,
  stringOf,
} from "../../base/support/index.ts";
import type { ApiRefusal } from "../api-refusal.ts";
import type { Switches } from "../switches.ts";
import { withoutCacheControl } from "./judge/context.ts";
import { extraInput, threadNotFound, threadSettings, threadUnsupported, unknownTag } from "./refusals.ts";
import { THREADS_BETA } from "./vocabulary.ts";

interface HeldThread {
  readonly account: string;
  /** As sent; a thread keeps what it was created with. */
  readonly system: string | undefined;
  readonly tools: string | undefined;
  readonly messages: readonly string[];
}

const maxHeld = 5000;
const held = ["system", "tools"] as const;

export class ThreadStore {
  readonly #threads = new Map<string, HeldThread>();

  /** Stores a thread. `text` is the whole request that was answered with `content`. */
  hold(id: string, account: string, text: string, content: readonly JsonObject[]): void {
    this.#threads.set(id, {
      account,
      system: sliceMember(text, "system"),
      tools: sliceMember(text, "tools"),
      messages: [
        ...sliceArray(sliceMember(text, "messages") ?? "[]").map(withoutCacheControl),
        JSON.stringify({ role: "assistant", content }),
      ],
    });
    const [oldest] = this.#threads.keys();
    if (this.#threads.size > maxHeld && oldest !== undefined) this.#threads.delete(oldest);
  }

  /** Returns the request's text as if it had sent everything; unchanged if it uses no thread. */
  whole(
    text: string,
    body: JsonObject,
    options: { readonly account: string; readonly betas: readonly string[]; readonly switches: Switches },
  ): string | ApiRefusal {
    const { thread } = body;
    if (!isObject(thread)) return text;
    if (!options.betas.includes(THREADS_BETA)) return extraInput("thread");
    const type = stringOf(thread["type"]) ?? "";
    if (type !== "create" && type !== "continue") return unknownTag("thread", type, ["continue", "create"]);
    if (options.switches.threads === "refuse") return threadUnsupported();
    if (type === "create") return text;
    const id = stringOf(thread["previous_message_id"]) ?? "";
    const found = this.#threads.get(id);
    if (found?.account !== options.account) return threadNotFound(id);
    if (held.some((name) => Object.hasOwn(body, name))) return threadSettings();
    return joined(text, found);
  }
}

function joined(text: string, thread: HeldThread): string {
  const messages = [...thread.messages, ...sliceArray(sliceMember(text, "messages") ?? "[]")];
  const members = [
    ...sliceObject(text).filter(({ key }) => key !== "messages"),
    ...held.flatMap((key) => {
      const value = thread[key];
      return value === undefined ? [] : [{ key, value }];
    }),
    { key: "messages", value: `[${messages.join(",")}]` },
  ];
  return `{${members.map(({ key, value }) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
}
