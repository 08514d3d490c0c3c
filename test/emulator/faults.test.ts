/** Every documented fault: what a client sees, and how the report names the outcome. */

import { describe, expect, test } from "vitest";

import { type Emulator, faultNames, parseFaults } from "../../src/emulator/index.ts";
import {
  base,
  emulatorFor,
  errorOf,
  eventsIn,
  type Json,
  outputOf,
  post,
  result,
  scripted,
  stream,
  type StreamReply,
  user,
} from "./emulator-client.ts";

const script = `
steps:
  - output:
      - reasoning: ["**Eins**\\n\\nÜber das Wetter 🌦.", "**Zwei**\\n\\nMehr."]
      - message: {text: "Ein paar Wörter als Antwort.", phase: final_answer}
afterwards: repeat
`;

const ask: Json = { ...base, input: [user("go")] };
const types = (events: readonly Json[]): string[] => events.map((event) => String(event["type"]));

const finalResponse = (events: readonly Json[]): Json => (events.at(-1)?.["response"] ?? {}) as Json;

async function faulty(fault: string): Promise<StreamReply & { readonly emulator: Emulator }> {
  const emulator = await scripted(script);
  return { ...(await stream(emulator, ask, { "x-emulator-fault": fault })), emulator };
}

async function clean(): Promise<StreamReply> {
  return stream(await scripted(script), ask);
}

const outcome = (emulator: Emulator): string | undefined => emulator.report().requests.at(-1)?.outcome;

describe("a fault of the connection", () => {
  test("a clean stream is numbered without gaps", async () => {
    const { events, broken } = await clean();
    expect(broken).toBeUndefined();
    expect(events.map((event) => event["sequence_number"])).toEqual(events.map((_, index) => index));
    expect(types(events).slice(0, 3)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
    ]);
    expect(types(events).at(-1)).toBe("response.completed");
  });

  test("cut before and after an item", async () => {
    const before = await faulty("cut=before-item:1");
    expect(before.broken).toBeDefined();
    expect(types(before.events).filter((type) => type.includes("output_item"))).toEqual([
      "response.output_item.added",
      "response.output_item.done",
    ]);
    const after = await faulty("cut=after-item:1");
    expect(types(after.events).at(-1)).toBe("response.output_item.done");
    expect(outcome(after.emulator)).toBe("cut");
  });

  test("end: the body ends properly, but in the wrong place", async () => {
    const { events, broken, emulator } = await faulty("end=after-event:4");
    expect(broken).toBeUndefined();
    expect(events).toHaveLength(5);
    expect(outcome(emulator)).toBe("no_terminal");
  });

  test("reset breaks the connection", async () => {
    const { events, broken, emulator } = await faulty("reset=after-event:3");
    expect(broken).toBeDefined();
    expect(events).toHaveLength(4);
    expect(outcome(emulator)).toBe("cut");
  });

  test("cut after any byte: exactly that many bytes arrive", async () => {
    const whole = Buffer.byteLength((await clean()).raw);
    expect(whole).toBeGreaterThan(5000);
    const emulator = await scripted(script);
    for (const bytes of [0, 1, 100, 1999, 4001, whole - 1]) {
      const response = await fetch(`${emulator.baseUrl}/responses`, {
        method: "POST",
        headers: { authorization: "Bearer sk-test", "x-emulator-fault": `end=after-byte:${bytes}` },
        body: JSON.stringify({ ...ask, stream: true }),
      });
      expect((await response.arrayBuffer()).byteLength).toBe(bytes);
      expect(outcome(emulator)).toBe("no_terminal");
    }
  });

  test("stall: silent until the client disconnects", async () => {
    const emulator = await scripted(script);
    const leave = new AbortController();
    const response = await fetch(`${emulator.baseUrl}/responses`, {
      method: "POST",
      headers: { authorization: "Bearer sk-test", "x-emulator-fault": "stall=after-event:1" },
      body: JSON.stringify({ ...ask, stream: true }),
      signal: leave.signal,
    });
    let raw = "";
    const reader = response.body?.getReader();
    while (eventsIn(raw).length < 2) raw += Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(outcome(emulator)).toBe("stalled");
    leave.abort();
  });

  test("closing the emulator ends stalled streams", async () => {
    const emulator = await emulatorFor();
    const pending = stream(emulator, ask, { "x-emulator-fault": "stall=after-event:1" });
    await expect.poll(() => emulator.report().requests.length).toBe(1);
    await emulator.close();
    expect((await pending).broken).toBeDefined();
  });
});

describe("answers that are not streamed", () => {
  test("cut, end and slow", async () => {
    const emulator = await scripted(script);
    const cut = post(emulator, ask, { "x-emulator-fault": "cut=after-byte:100" });
    await expect(cut).rejects.toThrow();
    expect(outcome(emulator)).toBe("cut");
    const ended = await post(emulator, ask, { "x-emulator-fault": "end=after-byte:100" });
    expect([ended.text.length, outcome(emulator)]).toEqual([100, "no_terminal"]);
    const slow = await post(emulator, ask, { "x-emulator-fault": "slow=5" });
    expect([slow.json["status"], outcome(emulator)]).toEqual(["completed", "completed"]);
  });
});

describe("a fault instead of an answer", () => {
  test.each([
    ["429", 429, "rate_limit_exceeded"],
    ["500", 500, "server_error"],
    ["503", 503, "server_is_overloaded"],
    ["429=code:insufficient_quota", 429, "insufficient_quota"],
    ["http=418", 418, null],
  ])("%s", async (fault, status, code) => {
    const emulator = await emulatorFor();
    const reply = await post(emulator, ask, { "x-emulator-fault": fault });
    expect([reply.status, errorOf(reply)["code"]]).toEqual([status, code]);
    expect(emulator.report().requests[0]).toMatchObject({ verdict: "fault", outcome: "http_error" });
  });

  test("headers of a rate limit", async () => {
    const emulator = await emulatorFor();
    const reply = await post(emulator, ask, {
      "x-emulator-fault": "429=retry-after:2,retry-after-ms:1500,x-should-retry:true",
    });
    expect(
      ["retry-after", "retry-after-ms", "x-should-retry"].map((name) => reply.headers.get(name)),
    ).toEqual(["2", "1500", "true"]);
    expect(String(errorOf(reply)["message"])).toContain("Please try again in 2.4s.");
  });

  test("a page of HTML", async () => {
    const reply = await post(await emulatorFor(), ask, { "x-emulator-fault": "html=502" });
    expect([reply.status, reply.headers.get("content-type")]).toEqual([502, "text/html"]);
    expect(reply.text).toContain("<html>");
  });

  test("an unknown fault is refused, with the list of faults", async () => {
    const reply = await post(await emulatorFor(), ask, { "x-emulator-fault": "explode" });
    expect([reply.status, errorOf(reply)["code"]]).toEqual([400, "fault_invalid"]);
    expect(String(errorOf(reply)["message"])).toContain("late-ciphertext");
  });
});

describe("how a response ends", () => {
  test("incomplete: reasoning only, with the reason", async () => {
    const { events, emulator } = await faulty("incomplete=max_output_tokens,items:1");
    const last = finalResponse(events);
    expect(types(events).at(-1)).toBe("response.incomplete");
    expect(last).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    const output = last["output"] as Json[];
    expect(output.map((item) => [item["type"], item["status"]])).toEqual([
      ["reasoning", undefined],
      ["message", "incomplete"],
    ]);
    expect(outcome(emulator)).toBe("incomplete");
    const filtered = await faulty("incomplete=content_filter,items:0");
    expect(finalResponse(filtered.events)["incomplete_details"]).toEqual({
      reason: "content_filter",
    });
  });

  test.each([16, 17, 40, 100])(
    "max_output_tokens %i: no more than that is generated or counted",
    async (limit) => {
      const emulator = await emulatorFor();
      const body = { model: "emu-plain", input: "Write a long answer.", max_output_tokens: limit };
      const { json } = await post(emulator, body);
      const [message] = outputOf({ json });
      const said = (message?.["content"] as { text: string }[] | undefined)?.[0]?.text ?? "";
      expect([json["status"], json["incomplete_details"]]).toEqual([
        "incomplete",
        { reason: "max_output_tokens" },
      ]);
      expect(said).not.toBe("");
      expect(Math.ceil(said.length / 4)).toBeLessThanOrEqual(limit);
      expect(json["usage"]).toMatchObject({ output_tokens: limit });
      const thinking = await post(emulator, { ...body, model: "emu-reasoner" });
      expect(thinking.json["usage"]).toMatchObject({ output_tokens: limit });
    },
  );

  test("max_output_tokens of the request makes it incomplete", async () => {
    const { events } = await stream(await scripted(script), { ...ask, max_output_tokens: 16 });
    expect(types(events).at(-1)).toBe("response.incomplete");
  });

  test("failed after good items", async () => {
    const { events, emulator } = await faulty("failed=server_error");
    expect(types(events).filter((type) => type === "response.output_item.done")).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error" } },
    });
    expect(outcome(emulator)).toBe("failed");
  });

  test("error event, both shapes", async () => {
    const nested = await faulty("error-event=nested,code:rate_limit_exceeded");
    expect(types(nested.events).slice(-2)).toEqual(["error", "response.failed"]);
    expect(nested.events.at(-2)).toMatchObject({ error: { code: "rate_limit_exceeded", param: null } });
    const flat = await faulty("error-event=flat");
    expect(flat.events.at(-1)).toMatchObject({ type: "error", code: "server_error", param: null });
    expect(outcome(flat.emulator)).toBe("no_terminal");
  });

  test("invalid_encrypted_content inside the stream names the item", async () => {
    const emulator = await scripted(script);
    const output = outputOf(await post(emulator, ask));
    const { events } = await stream(
      emulator,
      { ...base, input: [user("go"), ...output, user("more")] },
      { "x-emulator-fault": "invalid-encrypted-content" },
    );
    expect(types(events)).toEqual(["response.created", "response.in_progress", "error", "response.failed"]);
    expect(events[2]).toMatchObject({
      error: {
        code: "invalid_encrypted_content",
        message: `The encrypted content for item ${String(output[0]?.["id"])} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      },
    });
  });

  test("no terminal, two terminals", async () => {
    const none = await faulty("no-terminal");
    expect(none.broken).toBeUndefined();
    expect(types(none.events).at(-1)).toBe("response.output_item.done");
    expect(outcome(none.emulator)).toBe("no_terminal");
    const two = await faulty("double-terminal");
    expect(types(two.events).slice(-2)).toEqual(["response.completed", "response.completed"]);
  });

  test("empty or missing output in completed", async () => {
    const empty = await faulty("empty-output");
    expect(empty.events.at(-1)).toMatchObject({ response: { output: [], status: "completed" } });
    const missing = await faulty("missing-output");
    expect(missing.events.at(-1)?.["response"]).not.toHaveProperty("output");
    expect(outcome(missing.emulator)).toBe("completed");
  });
});

describe("a fault of the events", () => {
  test("late ciphertext: only the terminal event has it, and it is valid", async () => {
    const { events, emulator } = await faulty("late-ciphertext");
    for (const event of events.filter((one) => String(one["type"]).includes("output_item"))) {
      expect(event["item"]).not.toHaveProperty("encrypted_content");
    }
    const output = finalResponse(events)["output"] as Json[];
    expect(output[0]).toHaveProperty("encrypted_content");
    expect((await post(emulator, { ...base, input: [user("go"), ...output, user("more")] })).status).toBe(
      200,
    );
  });

  test("rotated ids: no two are the same, and output_index identifies the item", async () => {
    const { events } = await faulty("rotate-ids");
    const ids = events.flatMap((event) => {
      const item = event["item"] as Json | undefined;
      return [event["item_id"], item?.["id"]].filter((id): id is string => typeof id === "string");
    });
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => id.length === 416)).toBe(true);
  });

  test("done-only", async () => {
    const { events } = await faulty("done-only");
    expect(types(events)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.output_item.done",
      "response.output_item.added",
      "response.output_item.done",
      "response.completed",
    ]);
  });

  test("unknown event; unknown item, accepted back unchanged", async () => {
    const event = await faulty("unknown-event");
    expect(types(event.events)[2]).toBe("response.emulator_surprise");
    const item = await faulty("unknown-item");
    const output = finalResponse(item.events)["output"] as Json[];
    expect(output.map((one) => one["type"])).toEqual(["reasoning", "surprise_call", "message"]);
    const reply = await post(item.emulator, { ...base, input: [user("go"), ...output, user("more")] });
    expect([reply.status, reply.json["error"]]).toEqual([200, null]);
  });

  test("duplicated, dropped and swapped events", async () => {
    const plain = types((await clean()).events);
    expect(types((await faulty("duplicate-event=2")).events)).toEqual([
      ...plain.slice(0, 3),
      ...plain.slice(2),
    ]);
    expect(types((await faulty("drop-event=-1")).events)).toEqual(plain.slice(0, -1));
    const swapped = types((await faulty("swap-events=1")).events);
    expect(swapped.slice(1, 3)).toEqual([plain[2], plain[1]]);
    expect(swapped).toHaveLength(plain.length);
  });

  test("keepalive between events", async () => {
    const { events } = await faulty("keepalive=5");
    expect(types(events).filter((type) => type === "keepalive").length).toBeGreaterThan(3);
    expect(events.map((event) => event["sequence_number"])).toEqual(events.map((_, index) => index));
  });
});

describe("bytes", () => {
  test("CRLF, BOM and small chunks carry the same events", async () => {
    const plain = (await clean()).events;
    for (const fault of ["crlf", "split=1", "split=7;crlf"]) {
      const { events, raw } = await faulty(fault);
      expect(types(events)).toEqual(types(plain));
      expect(raw.includes("\r\n\r\n")).toBe(fault.includes("crlf"));
    }
    const response = await fetch(`${(await scripted(script)).baseUrl}/responses`, {
      method: "POST",
      headers: { authorization: "Bearer sk-test", "x-emulator-fault": "bom" },
      body: JSON.stringify({ ...ask, stream: true }),
    });
    expect([...new Uint8Array(await response.arrayBuffer()).subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  });

  test("bad JSON in one event", async () => {
    const { raw } = await faulty("bad-json=2");
    const data = raw.split("\n\n")[2]?.split("data: ")[1] ?? "";
    expect(() => JSON.parse(data) as unknown).toThrow();
  });
});

describe("faults in a row", () => {
  test("options are consumed one per request, then requests succeed", async () => {
    const [limited, broken] = parseFaults("429;failed=server_error");
    const emulator = await emulatorFor({ faults: [limited ?? { type: "none" }] });
    emulator.addFaults({ type: "none" }, broken ?? { type: "none" });
    const statuses: unknown[] = [];
    for (let request = 0; request < 4; request += 1) {
      const reply = await post(emulator, ask);
      statuses.push([reply.status, reply.json["status"]]);
    }
    expect(statuses).toEqual([
      [429, undefined],
      [200, "completed"],
      [200, "failed"],
      [200, "completed"],
    ]);
  });

  test("rotate-key by header refuses the very request that brings old ciphertext", async () => {
    const emulator = await scripted(script);
    const output = outputOf(await post(emulator, ask));
    const next = { ...base, input: [user("go"), ...output, user("more")] };
    const reply = await post(emulator, next, { "x-emulator-fault": "rotate-key" });
    expect([reply.status, errorOf(reply)["code"]]).toEqual([400, "invalid_encrypted_content"]);
    expect(emulator.report().requests.at(-1)?.rule).toBe("E01");
  });

  test("every name in the list can be written", () => {
    const values: Readonly<Record<string, string>> = {
      end: "after-item:0",
      cut: "after-item:0",
      reset: "before-item:1",
      stall: "after-byte:7",
      slow: "5",
      http: "500",
      "duplicate-event": "1",
      "drop-event": "1",
      "swap-events": "1",
      "bad-json": "1",
      split: "3",
    };
    for (const name of faultNames) {
      const text = values[name] === undefined ? name : `${name}=${values[name]}`;
      expect(parseFaults(text)[0]?.type).toBe(name);
    }
    for (const bad of ["cut", "cut=later", "slow=fast", "http=200", "error-event=round"]) {
      expect(() => parseFaults(bad), bad).toThrow(/^Fault/);
    }
  });

  test("a scenario step has its own faults, and a tool loop continues after them", async () => {
    const emulator = await scripted(`
steps:
  - faults: ["no-terminal"]
    output: [{reasoning: a}, {function_call: {name: look}}]
  - output: [{reasoning: b}, {function_call: {name: look}}]
  - output: [{message: Done.}]
`);
    const broken = await stream(emulator, ask);
    expect(types(broken.events)).not.toContain("response.completed");
    const again = outputOf(await post(emulator, ask));
    const done = await post(emulator, { ...base, input: [user("go"), ...again, result(again[1])] });
    expect(done.json["status"]).toBe("completed");
    expect(emulator.report().requests.map((one) => one.outcome)).toEqual([
      "no_terminal",
      "completed",
      "completed",
    ]);
  });
});

describe("scenarios", () => {
  test("a step waits for its text; after the last step the scenario decides what happens", async () => {
    const emulator = await scripted(`
name: short
afterwards: error
steps:
  - when: weather
    output: [{message: Scripted sun.}]
`);
    const said = async (text: string): Promise<string> =>
      (await post(emulator, { ...base, input: text })).text;
    expect(await said("hello")).toContain("Throughline emulator");
    expect(await said("the weather?")).toContain("Scripted sun.");
    const exhausted = await post(emulator, { ...base, input: "more" });
    expect([exhausted.status, errorOf(exhausted)["message"]]).toEqual([
      500,
      "The scenario 'short' has no step 2.",
    ]);
  });

  test("a refused request consumes no step", async () => {
    const emulator = await scripted("steps: [{output: [{message: One.}]}]");
    expect((await post(emulator, { ...base, input: "a", temperature: 1 })).status).toBe(400);
    expect((await post(emulator, { ...base, input: "a" })).text).toContain("One.");
  });

  test("refusal parts, phases, annotations and any item are streamed as the API does", async () => {
    const emulator = await scripted(`
steps:
  - output:
      - message: {text: Looking., phase: commentary}
      - web_search_call: news
      - message: {text: Found., annotations: [{type: url_citation, url: "https://example.com"}]}
      - refusal: No.
      - item: {type: mystery, value: 1}
`);
    const { events } = await stream(emulator, ask);
    const seen = types(events);
    for (const type of [
      "response.web_search_call.searching",
      "response.output_text.annotation.added",
      "response.refusal.delta",
      "response.refusal.done",
    ]) {
      expect(seen).toContain(type);
    }
    expect(finalResponse(events)["output"]).toMatchObject([
      { type: "message", phase: "commentary" },
      { type: "web_search_call", status: "completed", action: { type: "search", query: "news" } },
      { type: "message", content: [{ type: "output_text", annotations: [{ type: "url_citation" }] }] },
      { type: "message", content: [{ type: "refusal", refusal: "No." }] },
      { type: "mystery", value: 1 },
    ]);
  });
});
