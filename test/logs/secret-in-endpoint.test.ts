/**
 * Earlier versions accepted a base URL with a key in its query or before its host, and wrote it into every origin. Such
 * logs open, rebuild every request with its hash, and never show the key; only the exact export still holds it.
 */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { beforeAll, describe, expect, test } from "vitest";

import { checkedLine, frameOpen, splitLines } from "../../src/base/files/index.ts";
import { fileStore } from "../../src/index.ts";
import { toLine } from "../../src/inspect.ts";
import { newPlace, type Place, run } from "../cli/harness.ts";
import { served } from "../server/server-fixture.ts";
import { type Expected, expectedOf } from "../support/earlier-logs.ts";

const root = resolve(import.meta.dirname, "../fixtures/logs");
const SECRET = "hunter2hunter2-0123";

function withSecret(bytes: Buffer, change: (endpoint: string) => string): Buffer {
  const lines = Array.from(splitLines(bytes), ({ line, ended }) => {
    const text = checkedLine(line);
    if (text === undefined || !ended) return ended ? Buffer.concat([line, Buffer.from("\n")]) : line;
    const changed = text.replaceAll(/"endpoint":"([^"]+)"/g, (_all, endpoint: string) =>
      JSON.stringify({ endpoint: change(endpoint) }).slice(1, -1),
    );
    return frameOpen(changed.slice(0, changed.lastIndexOf("}")));
  });
  return Buffer.concat(lines);
}

const FORMS: Readonly<Record<string, (endpoint: string) => string>> = {
  query: (endpoint) => `${endpoint}?api_key=${SECRET}`,
  user: (endpoint) => endpoint.replace("://", `://me:${SECRET}@`),
  fragment: (endpoint) => `${endpoint}#${SECRET}`,
};

describe.each(Object.keys(FORMS))("a secret in the %s of an endpoint", (form) => {
  test("does not stop a log of an earlier version from opening and rebuilding its requests", async () => {
    for (const version of readdirSync(root)) {
      const answers = JSON.parse(readFileSync(join(root, version, "expected.json"), "utf8")) as {
        readonly logs: Readonly<Record<string, Expected>>;
      };
      const place = newPlace();
      place.damaged = true;
      mkdirSync(place.sessions, { recursive: true });
      for (const [id, expected] of Object.entries(answers.logs)) {
        if ("problem" in expected) continue;
        const bytes = readFileSync(join(root, version, `${id}.jsonl`));
        const blobs = join(root, version, `${id}.blobs`);
        if (existsSync(blobs)) cpSync(blobs, join(place.sessions, `${id}.blobs`), { recursive: true });
        writeFileSync(join(place.sessions, `${id}.jsonl`), withSecret(bytes, FORMS[form] ?? String));
        const store = fileStore(place.sessions);
        const before = (await expectedOf(fileStore(join(root, version)), id, "read")) as object;
        const after = (await expectedOf(store, id, "read")) as object;
        const { requests } = after as { readonly requests: readonly string[] };
        expect(requests, id).toEqual((before as { readonly requests: readonly string[] }).requests);
        const log = await store.open(id, { mode: "read" });
        expect(log.events.map(toLine).join("\n"), id).not.toContain(SECRET);
        await log.close();
      }
    }
  });
});

describe("a secret in the endpoint of an old log is hidden from", () => {
  let place: Place;
  const id = "chat-effort-words";
  beforeAll(() => {
    place = newPlace();
    place.damaged = true;
    mkdirSync(place.sessions, { recursive: true });
    const bytes = readFileSync(join(root, "v0.1.1", `${id}.jsonl`));
    writeFileSync(
      join(place.sessions, `${id}.jsonl`),
      withSecret(bytes, (endpoint) => `${endpoint.replace("://", "://me:pass-word-99@")}?key=${SECRET}`),
      { mode: 0o600 },
    );
  });

  test.for([
    ["sessions", "show", id],
    ["sessions", "show", id, "--json"],
    ["sessions", "export", id, "--redact"],
    ["sessions", "export", id, "--format", "html"],
    ["sessions", "export", id, "--format", "markdown", "--redact"],
    ["inspect", id],
    ["inspect", id, "--json"],
    ["inspect", id, "--request", "1", "--json"],
    ["inspect", id, "--preview", "--json"],
    ["stats", "--all", "--json"],
    ["tree", id, "--json"],
    ["check", id, "--json"],
    ["sessions"],
  ])("%j", async (args) => {
    const { out, err } = await run(place, args);
    expect(out).not.toBe("");
    expect(out + err).not.toMatch(/hunter2|pass-word-99/);
  });

  test("clients over HTTP", async () => {
    const { remote, server } = await served({ store: fileStore(place.sessions) });
    const handle = await remote.open({ id, mode: "read" });
    const lines: string[] = [];
    for await (const event of handle.events()) lines.push(JSON.stringify(event));
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.join("\n")).not.toMatch(/hunter2|pass-word-99/);
    await handle.close();
    expect(server.url).toContain("127.0.0.1");
  });

  test("everything but the exact export, which is still exact", async () => {
    const { out } = await run(place, ["sessions", "export", id]);
    expect(out.startsWith(readFileSync(join(place.sessions, `${id}.jsonl`), "utf8"))).toBe(true);
  });
});
