import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import {
  bundleText,
  eraseFrom,
  fileStore,
  parseBundle,
  readBundle,
  type SessionBundle,
  writeSession,
} from "./index.ts";

const SECRET = 'pa"ss\\word-ü-0123';

/** A session with a blob and an item whose text would not survive being parsed and serialized again. */
async function session(folder: string): Promise<SessionBundle> {
  const log = await fileStore(folder).open("s", { mode: "write" });
  const blob = await log.putBlob(Buffer.from(`binary \u0000 and ${SECRET}`));
  await log.append([
    { type: "session_start", session: "s", root: "s", writer: "test" },
    {
      type: "user_message",
      turn: "tn_1",
      by: "person",
      content: [
        { type: "text", text: `my key is ${SECRET}\u2028` },
        { type: "file", name: "a.bin", mediaType: "application/octet-stream", blob },
      ],
    },
    {
      type: "response_start",
      turn: "tn_1",
      response: "rsp_1",
      step: 1,
      attempt: 1,
      origin: { provider: "p", dialect: "openai-responses", model: "m", endpoint: "e", credential: "c" },
      bodyHash: "h",
      prefixHash: "h",
    },
    {
      type: "reasoning",
      turn: "tn_1",
      response: "rsp_1",
      outputIndex: 0,
      itemType: "reasoning",
      itemId: "rs_1",
      opaque: true,
      parts: [],
      startedAt: "t",
      durationMs: 1,
      item: '{"id":"rs_1","type":"reasoning","n":12345678901234567890,"z":-0,"encrypted_content":"gAAA"}' as never,
    },
    {
      type: "tool_call",
      turn: "tn_1",
      response: "rsp_1",
      outputIndex: 1,
      itemType: "function_call",
      callId: "call_1",
      name: "login",
      arguments: JSON.stringify({ key: SECRET }),
      item: `{"type":"function_call","big":9007199254740993,"arguments":${JSON.stringify(JSON.stringify({ key: SECRET }))}}` as never,
    },
  ]);
  const bundle = await readBundle(log);
  await log.close();
  return bundle;
}

const whole = (bundle: SessionBundle): Buffer => Buffer.concat([...bundleText(bundle)]);

describe("a bundle", () => {
  test("round-trips byte for byte, log and blobs", async () => {
    const [here, there] = [temporaryFolder(), temporaryFolder()];
    const bytes = whole(await session(here));
    expect(bytes.indexOf(readFileSync(join(here, "s.jsonl")))).toBe(0);
    const path = await writeSession(there, parseBundle(bytes), { id: "s" });
    expect(readFileSync(path).equals(readFileSync(join(here, "s.jsonl")))).toBe(true);
    const [blob = ""] = readdirSync(join(here, "s.blobs"));
    expect(readFileSync(join(there, "s.blobs", blob))).toEqual(readFileSync(join(here, "s.blobs", blob)));
    const log = await fileStore(there).open("s", { mode: "read" });
    expect(whole(await readBundle(log)).equals(bytes)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(there).toSorted()).toEqual(["s.blobs", "s.jsonl"]);
  });

  test("is refused, and nothing is written, if it is cut off at any byte or any byte is changed", async () => {
    const bytes = whole(await session(temporaryFolder()));
    for (let length = 0; length < bytes.length; length += 1) {
      expect(() => parseBundle(bytes.subarray(0, length)), `cut at ${length}`).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^(bundle|log)_damaged$/) as string }),
      );
    }
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => parseBundle(changed), `changed at ${at}`).toThrow(
        expect.objectContaining({
          details: expect.objectContaining({
            line: expect.any(Number) as number,
            byte: expect.any(Number) as number,
          }) as object,
        }),
      );
    }
  });

  test("is refused if any whole line is missing", async () => {
    const lines = whole(await session(temporaryFolder()))
      .toString("latin1")
      .split("\n")
      .slice(0, -1);
    for (const [lost] of lines.entries()) {
      const rest = Buffer.from(`${lines.filter((_, index) => index !== lost).join("\n")}\n`, "latin1");
      expect(() => parseBundle(rest), `without line ${lost + 1}`).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/damaged/) as string }),
      );
    }
  });

  test("never replaces a session unasked, and leaves nothing behind when it fails", async () => {
    const folder = temporaryFolder();
    const bundle = await session(folder);
    await expect(writeSession(folder, bundle, { id: "s" })).rejects.toMatchObject({ code: "session_exists" });
    await expect(writeSession(folder, bundle, { id: "../s" })).rejects.toMatchObject({
      code: "session_id_invalid",
    });
    const held = await fileStore(folder).open("t", { mode: "write" });
    await expect(writeSession(folder, bundle, { id: "t" })).rejects.toMatchObject({ code: "session_locked" });
    await held.close();
    expect(readdirSync(folder).toSorted()).toEqual(["s.blobs", "s.jsonl", "s.summary"]);
  });

  test("is refused if anything follows its end, or if it is something else", async () => {
    const bytes = whole(await session(temporaryFolder()));
    for (const other of [
      Buffer.concat([bytes, bytes]),
      Buffer.from("hello\n"),
      Buffer.alloc(4096),
      Buffer.from("{}\n"),
    ])
      expect(() => parseBundle(other)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/damaged/) as string }),
      );
  });
});

const replace = (text: string): string =>
  [SECRET, JSON.stringify(SECRET).slice(1, -1), Buffer.from(SECRET).toString("latin1")].reduce(
    (clean, form) => clean.replaceAll(form, "[redacted]"),
    text,
  );

describe("erasing a secret", () => {
  test("leaves no form of it in lines or blobs, and changes no other byte", async () => {
    const folder = temporaryFolder();
    const before = await session(folder);
    const { bundle, report } = eraseFrom(before, replace);
    const bytes = whole(bundle);
    expect(bytes.includes("word-")).toBe(false);
    expect(report.events.map(({ type }) => type)).toEqual(["user_message", "tool_call"]);
    expect(report.blobs).toHaveLength(1);
    const text = bundle.lines.toString("utf8");
    expect(text).toContain('"n":12345678901234567890,"z":-0');
    expect(text).toContain('"big":9007199254740993');
    const lines = before.lines.toString("utf8").split("\n");
    const after = text.split("\n");
    expect(after[0]).toBe(lines[0]);
    expect(after[3]).toBe(lines[3]);
    // The result is a valid session: checksums match, and blobs are found under their new names.
    const back = parseBundle(bytes);
    await writeSession(folder, back, { id: "copy" });
    const log = await fileStore(folder).open("copy", { mode: "read" });
    const read = await readBundle(log);
    expect([...read.blobs.keys()]).toEqual([report.blobs[0]?.after]);
  });

  test("names the opaque items it cannot search and keeps them out of later requests", async () => {
    const { bundle, report } = eraseFrom(await session(temporaryFolder()), replace);
    expect(report.opaque).toEqual([{ seq: 3, type: "reasoning", model: "m" }]);
    expect(bundle.events.slice(5)).toMatchObject([
      {
        type: "replay_override",
        what: { kind: "group", response: "rsp_1" },
        action: "omit_reasoning",
        target: { model: "m" },
        epoch: 2,
      },
      { type: "notice", code: "erased" },
    ]);
  });

  test("changes nothing if the secret does not occur", async () => {
    const before = await session(temporaryFolder());
    const { bundle, report } = eraseFrom(before, (text) => text);
    expect(bundle).toBe(before);
    expect(report).toEqual({ events: [], blobs: [], opaque: [] });
  });

  test("is refused if the pattern matches the envelope of an event", async () => {
    const before = await session(temporaryFolder());
    expect(() => eraseFrom(before, (text) => text.replaceAll("tn_1", "x"))).toThrow(
      expect.objectContaining({ code: "pattern_too_wide" }),
    );
  });

  test("in place also removes the files that belonged to the old session", async () => {
    const folder = temporaryFolder();
    const before = await session(folder);
    for (const name of ["s.live", "s.summary", "s.torn-12", "s.torn-12-2"])
      writeFileSync(join(folder, name), SECRET);
    const { bundle } = eraseFrom(before, replace);
    await writeSession(folder, bundle, { id: "s", replace: true });
    expect(readdirSync(folder).toSorted()).toEqual(["s.blobs", "s.jsonl"]);
    expect(readdirSync(join(folder, "s.blobs"))).toEqual([...bundle.blobs.keys()]);
    expect(existsSync(join(folder, "s.jsonl.new"))).toBe(false);
    expect(readFileSync(join(folder, "s.jsonl")).equals(bundle.lines)).toBe(true);
  });
});
