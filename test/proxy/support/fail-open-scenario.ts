/** Requests that lead through every part of the proxy, and a provider whose answers are known beforehand. */

import { gzipSync } from "node:zlib";

import { type Header, inChunks, type Message } from "./http-bytes.ts";
import type { Recorded } from "./streams.ts";
import { messages, responses, type Talker, TALKERS } from "./talk.ts";
import { answerBytes, ask, JSON_TYPE, requestTo, SSE_TYPE, startUpstream, type Upstream } from "./wire.ts";

const REFUSED =
  '{"error":{"message":"The encrypted content for item rs_bad could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}';
const IN_STREAM = `event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[]}}\n\nevent: error\ndata: {"type":"error","sequence_number":1,${REFUSED.slice(1)}\n\n`;

/** The recorded answer to a request, by its path and whether it asks for a stream. */
function recordedFor(
  { start, body }: Message,
  streams: readonly Recorded[],
  plain: readonly Recorded[],
): Recorded | undefined {
  const isStream = /"stream":true/.test(body.toString("latin1"));
  const path = start.split(" ")[1] ?? "";
  return (isStream ? streams : plain).find((one) => one.path === path && one.name.endsWith("text"));
}

function answerTo(request: Message, streams: readonly Recorded[], plain: readonly Recorded[]): Buffer {
  const text = request.body.toString("latin1");
  if (text.includes("gAAAAbad-in-stream")) return answerBytes("200 OK", [SSE_TYPE], IN_STREAM);
  if (text.includes("gAAAAbad")) return answerBytes("400 Bad Request", [JSON_TYPE], REFUSED);
  const found = recordedFor(request, streams, plain);
  if (found === undefined) return answerBytes("200 OK", [JSON_TYPE], '{"object":"list"}');
  const gzip = text.includes("compress me");
  const bytes = gzip ? gzipSync(found.bytes) : found.bytes;
  const coding: readonly Header[] = gzip ? [["Content-Encoding", "gzip"]] : [];
  const type = streams.includes(found) ? SSE_TYPE : JSON_TYPE;
  return answerBytes(
    "200 OK",
    [type, ...coding, ["openai-organization", "org-1"], ["Transfer-Encoding", "chunked"]],
    inChunks(bytes, 2000),
  );
}

export function startReplay(streams: readonly Recorded[], plain: readonly Recorded[]): Promise<Upstream> {
  return startUpstream((socket, request) => socket.write(answerTo(request, streams, plain)));
}

interface Step {
  readonly name: string;
  readonly path: string;
  readonly method?: string;
  readonly body: string | Buffer;
  readonly headers?: readonly Header[];
  /** Without this the request must arrive as it is. */
  readonly thought?: string;
  /** Refused by the provider, which may be healed or passed on. */
  readonly healable?: true;
}

const bad = (payload: string): object => ({
  type: "reasoning",
  id: "rs_bad",
  summary: [],
  encrypted_content: payload,
});

const refused = (payload: string, stream: boolean): string =>
  JSON.stringify({
    ...responses.head,
    stream,
    input: [
      { role: "user", content: "a" },
      bad(payload),
      { role: "assistant", content: "x" },
      { role: "user", content: "b" },
    ],
  });

function steps(streams: readonly Recorded[]): readonly Step[] {
  const heard = (talker: Talker) =>
    talker.heard(
      streams.find(({ name }) => name === `${talker.name}, a text`)?.bytes.toString("utf8") ?? "",
      true,
    );
  const bound = { model: "emu-claude-bound", max_tokens: 4000, thinking: { type: "adaptive" } };
  const opening = [{ user: "Grüße 🧠" }];
  const inBound = JSON.stringify({
    ...bound,
    stream: true,
    messages: [{ role: "user", content: "Grüße 🧠" }],
  });
  const afterBound = JSON.stringify({
    ...bound,
    stream: true,
    messages: [
      { role: "user", content: "Grüße 🧠" },
      { role: "assistant", content: heard(messages).text },
      { role: "user", content: "b" },
    ],
  });
  return [
    ...TALKERS.flatMap((talker): readonly Step[] => {
      const { text, thought } = heard(talker);
      const next = [...opening, { model: text }, { user: "b" }];
      return [
        { name: `${talker.name}, first`, path: talker.path, body: talker.body(opening, true) },
        { name: `${talker.name}, next`, path: talker.path, body: talker.body(next, false), thought },
        {
          name: `${talker.name}, compressed`,
          path: talker.path,
          body: talker.body([{ user: "compress me" }], true),
        },
        {
          name: `${talker.name}, strict`,
          path: talker.path,
          body: talker.body([{ user: "strictly" }], true),
          headers: [["x-throughline-mode", "strict"]],
        },
        {
          name: `${talker.name}, observed`,
          path: talker.path,
          body: talker.body(next, true),
          headers: [["x-throughline-mode", "observe"]],
        },
      ];
    }),
    { name: "bound, first", path: messages.path, body: inBound },
    { name: "bound, next", path: messages.path, body: afterBound, thought: heard(messages).thought },
    {
      name: "a compressed request",
      path: responses.path,
      body: gzipSync(responses.body([{ user: "in gzip" }], true)),
      headers: [["content-encoding", "gzip"]],
    },
    { name: "refused", path: responses.path, body: refused("gAAAAbad", false), healable: true },
    { name: "refused again", path: responses.path, body: refused("gAAAAbad", false), healable: true },
    {
      name: "refused in its stream",
      path: responses.path,
      body: refused("gAAAAbad-in-stream", true),
      healable: true,
    },
    { name: "piped", path: "/v1/models", method: "GET", body: "" },
    {
      name: "stateful",
      path: responses.path,
      body: '{"model":"m","previous_response_id":"resp_1","input":"go on"}',
    },
    { name: "no JSON", path: responses.path, body: "no JSON" },
  ];
}

export interface ScenarioOptions {
  readonly streams: readonly Recorded[];
  readonly plain: readonly Recorded[];
  /** Which steps to take. Default: all. */
  readonly wanted?: (step: string) => boolean;
  /** Called after each. */
  readonly done?: (step: string) => void;
}

/** What a client or the provider saw differently than without the proxy; undefined if nothing. */
export async function scenario(
  port: number,
  upstream: Upstream,
  { streams, plain, wanted = () => true, done = () => undefined }: ScenarioOptions,
): Promise<string | undefined> {
  for (const { name, path, method, body, headers = [], thought, healable } of steps(streams)) {
    if (!wanted(name)) continue;
    const before = upstream.requests.length;
    const request = requestTo(port, path, {
      method: method ?? "POST",
      body,
      headers: [["authorization", "Bearer sk-a"], ...headers],
    });
    const got = await inTime(ask(port, request));
    if (got === undefined) return `${name}: no answer`;
    const arrived = upstream.requests.slice(before);
    const [first] = arrived;
    if (first === undefined)
      return `${name}: nothing arrived, the client got ${got.status} ${got.body.toString().slice(0, 200)}`;
    const isVerbatim = first.body.equals(Buffer.from(body));
    const isRestored = thought !== undefined && first.body.toString().includes(thought);
    if (!isVerbatim && !isRestored && healable === undefined) return `${name}: the request was changed`;
    if (arrived.length > (healable === undefined ? 1 : 4)) return `${name}: ${arrived.length} requests`;
    // A healed request gets the answer to it, any other the first.
    const possible = [first, ...(healable === undefined ? [] : arrived.slice(-1))].map((one) =>
      answerTo(one, streams, plain).toString("latin1"),
    );
    const isEqual = possible.some(
      (answer) =>
        bodyOf(answer) === got.body.toString("latin1") && answer.includes(`HTTP/1.1 ${got.status} `),
    );
    if (!got.whole || !isEqual)
      return `${name}: ${got.whole ? "" : "cut, "}${got.status}, ${got.body.length} bytes: ${got.body.toString().slice(0, 200)}`;
    done(name);
  }
  return undefined;
}

/** Undefined after so long that no answer comes any more. */
export async function inTime<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), 5000);
  });
  const first = await Promise.race([work, late]);
  clearTimeout(timer);
  return first;
}

function bodyOf(answer: string): string {
  const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
  if (!answer.includes("Transfer-Encoding: chunked")) return body;
  const parts: string[] = [];
  for (let at = 0; ;) {
    const line = body.indexOf("\r\n", at);
    const size = Number.parseInt(body.slice(at, line), 16);
    if (size === 0) return parts.join("");
    parts.push(body.slice(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
