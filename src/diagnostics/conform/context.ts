/**
 * Shared by all probes of a run: the endpoint, the parameters it accepts, and the few answers that most probes look at.
 * Each request is sent once, however many probes use its answer.
 */

import { isObject, type JsonObject, messageOf, tryParseJson } from "../../base/support/index.ts";
import { type Acceptance, acceptanceOf, ONLY_DECIDE, refusalOf } from "./acceptance.ts";
import { userItem } from "./item-text.ts";
import { Skip } from "./probe.ts";
import { type EndpointOptions, type Reply, post, type PostOptions } from "./reply.ts";
import { type StreamView, viewStream } from "./stream-view.ts";

export interface Target {
  readonly endpoint: EndpointOptions;
  readonly model: string;
  readonly otherModel: string | undefined;
}

/** Parameters that not every server accepts. Each is tried once and omitted from later requests if it is refused. */
export const OPTIONAL = {
  store: { store: false },
  include: { include: ["reasoning.encrypted_content"] },
  reasoning: { reasoning: { summary: "auto" } },
  instructions: { instructions: "You are a helpful assistant. Answer briefly." },
  prompt_cache_key: { prompt_cache_key: "throughline-conform" },
} as const satisfies Record<string, JsonObject>;

export type Parameter = keyof typeof OPTIONAL;

export const ASK = userItem(
  "Which is larger, 9.11 or 9.9? Compare them digit by digit, then answer in one short sentence.",
);
export const ASK_ON = userItem("Thank you. Now say it in three words.");
export const ASK_WEATHER = userItem("What is the weather in Paris? Use the get_weather tool.");
const ASK_TWICE = userItem(
  "What is the weather in Paris and in Rome? Call get_weather for both cities at once, in parallel.",
);

export const WEATHER_TOOL = {
  type: "function",
  name: "get_weather",
  description: "The current weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string", description: "Name of the city" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
} as const satisfies JsonObject;

export class Context {
  readonly target: Target;
  readonly #asked = new Map<string, Promise<unknown>>();

  constructor(target: Target) {
    this.target = target;
  }

  get model(): string {
    return this.target.model;
  }

  /** Runs `ask` once per key; every caller gets the same answer. */
  once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#asked.get(key);
    if (known !== undefined) return known as Promise<T>;
    const asked = ask();
    this.#asked.set(key, asked);
    return asked;
  }

  /** Sends the body unchanged. */
  post(body: string, options?: PostOptions): Promise<Reply> {
    return post(this.target.endpoint, body, options);
  }

  send(input: readonly string[], fields: JsonObject, options?: PostOptions): Promise<Reply> {
    return this.post(bodyOf({ model: this.model, ...fields }, input), options);
  }

  /** Is the input accepted, with all parameters that this server accepts? */
  async offer(input: readonly string[], fields: JsonObject = {}): Promise<Acceptance> {
    return this.#decide(input, { ...(await this.base()), ...fields });
  }

  async #decide(input: readonly string[], fields: JsonObject): Promise<Acceptance> {
    return acceptanceOf(await this.send(input, { stream: true, ...fields }, ONLY_DECIDE));
  }

  /** The smallest possible request. A run begins with it and ends if it is refused. */
  minimal(): Promise<Acceptance> {
    return this.once("minimal", () => this.#decide([ASK], {}));
  }

  accepts(name: Parameter): Promise<Acceptance> {
    return this.once(`accepts ${name}`, async () => {
      const unstored = name !== "store" && (await this.accepts("store")).accepted ? OPTIONAL.store : {};
      return this.#decide([ASK], { ...unstored, ...OPTIONAL[name] });
    });
  }

  base(): Promise<JsonObject> {
    return this.once("base", async () => {
      let fields: JsonObject = {};
      for (const name of Object.keys(OPTIONAL) as Parameter[]) {
        if ((await this.accepts(name)).accepted) fields = { ...fields, ...OPTIONAL[name] };
      }
      return fields;
    });
  }

  /** Not streamed. */
  answer(): Promise<Reply> {
    return this.once("answer", async () => this.send([ASK], await this.base()));
  }

  /** Streamed, whole. */
  textReply(): Promise<Reply> {
    return this.once("text", async () => this.send([ASK], { ...(await this.base()), stream: true }));
  }

  callReply(): Promise<Reply> {
    return this.once("call", async () => {
      const fields = { ...(await this.base()), stream: true, tools: [WEATHER_TOOL] };
      const first = await this.send([ASK_WEATHER], fields);
      if (viewStream(first).items.some(isCall)) return first;
      // A model may answer with text instead. `tool_choice` forces a call; servers that ignore it answer as before.
      const forced = await this.send([ASK_WEATHER], { ...fields, tool_choice: "required" });
      return viewStream(forced).items.some(isCall) ? forced : first;
    });
  }

  parallelReply(): Promise<Reply> {
    return this.once("parallel", async () =>
      this.send([ASK_TWICE], {
        ...(await this.base()),
        stream: true,
        tools: [WEATHER_TOOL],
        parallel_tool_calls: true,
      }),
    );
  }

  textStream(): Promise<StreamView> {
    return needStream(this.textReply(), "stream.answer");
  }

  callStream(): Promise<StreamView> {
    return needStream(this.callReply(), "tools.call");
  }

  parallelStream(): Promise<StreamView> {
    return needStream(this.parallelReply(), "tools.parallel");
  }

  /** All sample streams that arrived. More streams reveal more problems. */
  async streams(): Promise<readonly StreamView[]> {
    const text = await this.textStream();
    const call = await this.callStream().catch(() => undefined);
    return call === undefined ? [text] : [text, call];
  }

  async object(): Promise<JsonObject> {
    const reply = await mustCome(this.answer(), "answer.object");
    const body = tryParseJson(reply.text);
    if (!isObject(body) || refusalOf(reply) !== undefined)
      throw new Skip("there is no answer: see answer.object");
    return body;
  }
}

const isCall = (item: { readonly done: string | undefined; readonly final: string | undefined }): boolean =>
  /"type"\s*:\s*"function_call"/.test(item.done ?? item.final ?? "");

export function bodyOf(fields: JsonObject, input: readonly string[]): string {
  const head = JSON.stringify(fields);
  return `${head.slice(0, -1)}${head === "{}" ? "" : ","}"input":[${input.join(",")}]}`;
}

/** The named probe reports what went wrong. The others only report that they had no data. */
async function mustCome<T>(asked: Promise<T>, owner: string): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw new Skip(`no data (${messageOf(error)}): see ${owner}`);
  }
}

async function needStream(asked: Promise<Reply>, owner: string): Promise<StreamView> {
  const reply = await mustCome(asked, owner);
  if (!reply.streamed || reply.frames.length === 0) throw new Skip(`there is no stream: see ${owner}`);
  return viewStream(reply);
}
