import { expect, test } from "vitest";

import { systemClock } from "../../base/support/index.ts";
import { TraceWriter } from "./trace-writer.ts";

const SECRET = "sk-secret-0123456789";

function writerTo(lines: string[], kind: "trace" | "recording" = "recording"): TraceWriter {
  const writer = new TraceWriter({
    kind,
    form: "jsonl",
    open: () => ({ write: (text) => void lines.push(text), close: () => undefined }),
    program: "throughline/test",
    run: { permissions: "ask", interactive: false, access: {} },
    secrets: () => [SECRET],
    clock: systemClock,
  });
  writer.opened("s_1", [], new Map());
  return writer;
}

const REQUEST = {
  method: "POST",
  url: `https://host/v1/responses?key=${SECRET}`,
  headers: { authorization: `Bearer ${SECRET}`, "x-thing": "1" },
  body: Buffer.from(JSON.stringify({ input: `my key is ${SECRET}`, big: 1 })),
};

test("no record contains a secret that arrives in two chunks, and every other byte is recorded", () => {
  for (let cut = 1; cut < SECRET.length; cut += 1) {
    const lines: string[] = [];
    const writer = writerTo(lines);
    writer.request(1, REQUEST);
    writer.response(1, 200, { "content-type": "text/event-stream" });
    writer.data(1, Buffer.from(`data: ${SECRET.slice(0, cut)}`));
    writer.data(1, Buffer.from(`${SECRET.slice(cut)} end`));
    writer.end(1);
    const data = lines
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      .filter(({ type }) => type === "data")
      .map((record) => record["text"])
      .join("");
    expect([cut, data]).toEqual([cut, "data: [redacted] end"]);
    expect(lines.join("")).not.toContain(SECRET);
  }
});

test("writes held-back bytes when the answer ends, even if it breaks off", () => {
  const lines: string[] = [];
  const writer = writerTo(lines);
  writer.request(1, REQUEST);
  writer.data(1, Buffer.from("x sk-se"));
  writer.end(1, { code: "connection_lost", message: `lost: ${SECRET}` });
  expect(lines.slice(-3).map((line) => (JSON.parse(line) as { readonly text?: string }).text)).toEqual([
    "x ",
    "sk-se",
    undefined,
  ]);
  expect(lines.join("")).not.toContain(SECRET);
});

test("keeps a chunk with incomplete characters as bytes", () => {
  const lines: string[] = [];
  const writer = writerTo(lines);
  writer.request(1, REQUEST);
  const bytes = Buffer.from("é");
  writer.data(1, bytes.subarray(0, 1));
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
    type: "data",
    base64: bytes.subarray(0, 1).toString("base64"),
  });
});

test("a recording has the path and hash of a request, a trace also its URL, headers and body; neither has the key", () => {
  const [recording, trace]: [string[], string[]] = [[], []];
  writerTo(recording).request(1, REQUEST);
  writerTo(trace, "trace").request(1, REQUEST);
  const [less, more] = [recording, trace].map(
    (lines) => JSON.parse(lines[1] ?? "") as Readonly<Record<string, unknown>>,
  );
  expect(Object.keys(less ?? {})).toEqual(["t", "type", "n", "method", "path", "hash", "bytes"]);
  expect(more).toMatchObject({
    hash: less?.["hash"],
    path: "/v1/responses?key=redacted",
    url: "https://host/v1/responses?key=redacted",
    headers: { authorization: "[redacted]", "x-thing": "[redacted]" },
    body: { input: "my key is [redacted]", big: 1 },
  });
  expect([...recording, ...trace].join("")).not.toContain(SECRET);
});
