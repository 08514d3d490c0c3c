/** A user's `fetch` that breaks every promise: each request still ends, with a code or with the caller's reason. */

import { expect, test } from "vitest";

import { postStream, readText } from "./http.ts";

const never = new Promise<never>(() => undefined);

interface GivenBody {
  readonly next: () => unknown;
  readonly return?: () => unknown;
}

/** The parts of a Response that are read, as dishonest as the test needs. */
function answer(body: GivenBody | null, status = 200): () => Promise<Response> {
  const iterable = body === null ? null : { [Symbol.asyncIterator]: () => body };
  return async () => ({ status, headers: new Headers(), body: iterable }) as unknown as Response;
}

const piece = (text: string) => async () => ({ value: Buffer.from(text), done: false });

interface Asked {
  readonly body?: readonly Uint8Array[];
  readonly timeouts?: { readonly firstByteMs: number; readonly idleMs: number };
  readonly signal?: AbortSignal;
  readonly maxResponseBytes?: number;
}

async function outcome(fetcher: unknown, asked: Asked = {}): Promise<unknown> {
  try {
    const { status, body } = await postStream({
      url: "http://example.test/v1",
      headers: {},
      body: [Buffer.from("{}")],
      signal: new AbortController().signal,
      timeouts: { firstByteMs: 3_600_000, idleMs: 3_600_000 },
      fetch: fetcher as typeof fetch,
      ...asked,
    });
    return `${status} ${await readText(body, Number.MAX_SAFE_INTEGER)}`;
  } catch (error) {
    return (error as { readonly code?: string } | undefined)?.code ?? error;
  }
}

const throwing = (): never => {
  throw new Error("no");
};

test.each<readonly [string, unknown, string]>([
  ["throws immediately", throwing, "connection_lost"],
  ["rejects with nothing", () => Promise.reject(undefined), "connection_lost"],
  ["answers with nothing", async () => undefined, "internal"],
  ["answers 101", answer({ next: piece("x") }, 101), "bad_response"],
  ["answers 103", answer(null, 103), "bad_response"],
  ["has no body", answer(null), "200 "],
  ["has a body that returns nothing", answer({ next: async () => undefined }), "internal"],
  ["has a body of text", answer({ next: async () => ({ value: "text" }) }), "connection_lost"],
  ["has a body with an undefined chunk", answer({ next: async () => ({}) }), "connection_lost"],
  ["has a body that throws", answer({ next: throwing }), "connection_lost"],
  [
    "has a body that throws, and throws again when abandoned",
    answer({ next: throwing, return: throwing }),
    "connection_lost",
  ],
  ["has an unreadable body", async () => ({ status: 200, headers: new Headers(), body: {} }), "internal"],
])("a fetch that %s", async (_what, fetcher, ended) => {
  expect(await outcome(fetcher)).toBe(ended);
});

test("a fetch that keeps the bodies of a growing request finds each one as it was sent", async () => {
  const block = Buffer.from("[1,2]").subarray(0, 2);
  const kept: unknown[] = [];
  const keep = async (_url: unknown, init: RequestInit): Promise<Response> => {
    kept.push(init.body);
    return answer(null)();
  };
  for (const body of [
    [block, Buffer.from("]")],
    [Buffer.from(block.buffer, block.byteOffset, 4), Buffer.from("]")],
  ])
    await outcome(keep, { body });
  expect(kept.every((body) => body instanceof Uint8Array)).toBe(true);
  expect(kept.map((body) => Buffer.from(body as Uint8Array).toString())).toEqual(["[1]", "[1,2]"]);
});

const ENDLESS: readonly (readonly [string, unknown])[] = [
  ["never answers", () => never],
  ["never delivers a chunk", answer({ next: () => never, return: () => never })],
  ["always delivers an empty chunk", answer({ next: piece("") })],
];

test.each(ENDLESS)("a fetch that %s runs into a time limit", async (_what, fetcher) => {
  const timeouts = { firstByteMs: 30, idleMs: 30 };
  expect(await outcome(fetcher, { timeouts })).toMatch(/^timeout_(?:first_byte|idle)$/);
});

test.each([...ENDLESS, ["always delivers a byte", answer({ next: piece("x") })] as const])(
  "a fetch that %s is stopped by its caller",
  async (_what, fetcher) => {
    const controller = new AbortController();
    const reason = new Error("the user pressed a key");
    setTimeout(() => controller.abort(reason), 1);
    expect(await outcome(fetcher, { signal: controller.signal })).toBe(reason);
  },
);

test("a fetch that always delivers a byte ends at the byte limit", async () => {
  expect(await outcome(answer({ next: piece("x") }), { maxResponseBytes: 100_000 })).toBe("stream_limit");
});

test("a response that arrives after the abort is abandoned, and its error does not reach the process", async () => {
  const controller = new AbortController();
  let answerLate: ((response: unknown) => void) | undefined;
  const late = new Promise((resolve) => {
    answerLate = resolve;
  });
  const stopped = outcome(() => late, { signal: controller.signal });
  controller.abort(new Error("stopped"));
  expect(await stopped).toMatchObject({ message: "stopped" });
  const left = new Promise<void>((resolve) => {
    const body = {
      next: throwing,
      return: () => {
        resolve();
        return Promise.reject(new Error("no"));
      },
    };
    answerLate?.({ status: 200, headers: new Headers(), body: { [Symbol.asyncIterator]: () => body } });
  });
  await left;
});
