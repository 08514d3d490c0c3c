/**
 * Streams that never end, in every way a stream can fail to: each is stopped at its limit, and the memory it adds is
 * bounded. At the other end of the scale, reading a log of 20 MB takes little longer than parsing it.
 */

import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { fileStore } from "../../src/runtime/log/index.ts";
import { frameLine } from "../../src/runtime/log/line-framing.ts";
import { SseDecoder } from "../../src/runtime/wire/index.ts";
import { EXHAUSTIVE, PATIENCE_MS, quickFolder } from "./how-much.ts";

const MIB = 1024 * 1024;
const CHUNK = 64 * 1024;
/** The bytes offered if nothing stops the stream. */
const OFFERED = (EXHAUSTIVE ? 1024 : 24) * MIB;
const lines: string[] = [];
afterAll(() =>
  process.stdout.write(`hostile streams (${EXHAUSTIVE ? "all" : "a sample"})\n${lines.join("\n")}\n`),
);

const repeated = (text: string): string => text.repeat(Math.ceil(CHUNK / text.length));

const HOSTILE: Readonly<Record<string, { readonly text: string; readonly stops: boolean }>> = {
  "a line without an end": { text: "x".repeat(CHUNK), stops: true },
  "a data line without an end": { text: `data: ${"x".repeat(CHUNK)}`, stops: true },
  "an event of endless lines": { text: repeated("data: some words of one event\n"), stops: true },
  "an event of empty data lines": { text: repeated("data:\n"), stops: true },
  // These stay valid forever; none of them may stay in memory.
  "comments forever": { text: repeated(": ping\n\n"), stops: false },
  "events forever": { text: repeated('data: {"type":"ping"}\n\n'), stops: false },
};

test.each(Object.entries(HOSTILE))(
  "%s adds at most 64 MiB",
  (name, { text, stops }) => {
    globalThis.gc?.();
    const decoder = new SseDecoder();
    const before = process.memoryUsage().rss;
    let most = 0;
    let offered = 0;
    let stopped: unknown;
    try {
      for (; offered < OFFERED; offered += text.length) {
        decoder.feed(Buffer.from(text)); // its own bytes, as from a socket
        if (offered % MIB < CHUNK) most = Math.max(most, process.memoryUsage().rss - before);
      }
    } catch (error) {
      stopped = error;
    }
    most = Math.max(most, process.memoryUsage().rss - before);
    lines.push(
      `  ${name.padEnd(32)} ${(offered / MIB).toFixed(1)} MiB taken, ${(most / MIB).toFixed(1)} MiB added`,
    );
    if (stops) expect(stopped).toMatchObject({ code: "stream_limit" });
    else expect(stopped).toBeUndefined();
    expect(most / MIB).toBeLessThanOrEqual(64);
  },
  PATIENCE_MS,
);

test(
  "a log of 20 MB is read whole, and the time is printed next to that of JSON.parse on its lines",
  async () => {
    const folder = quickFolder();
    try {
      const size = (EXHAUSTIVE ? 20 : 4) * 1_000_000;
      const buffers: Buffer[] = [];
      let total = 0;
      for (let seq = 0; total < size; seq += 1) {
        const message = `${seq} ${"words of a session ".repeat(100)}`;
        const stamp = { v: 1, seq, id: `ev_${seq}`, at: "2026-01-01T00:00:00.000Z", epoch: 1 } as const;
        const event: LoggedEvent = { ...stamp, type: "notice", code: "test", message };
        const line = frameLine(event);
        buffers.push(line);
        total += line.length;
      }
      const path = join(folder, "s.jsonl");
      writeFileSync(path, Buffer.concat(buffers), { mode: 0o600 });
      const texts = buffers.map((line) => line.toString("utf8"));
      const parsing = performance.now();
      for (const line of texts) JSON.parse(line);
      const parsed = performance.now() - parsing;
      const opening = performance.now();
      const log = await fileStore(folder).open("s", { mode: "write" });
      const opened = performance.now() - opening;
      expect(log.events).toHaveLength(buffers.length);
      await log.close();
      lines.push(
        `  ${(statSync(path).size / 1e6).toFixed(1)} MB, ${buffers.length} events: opened in ${opened.toFixed(0)} ms, JSON.parse alone ${parsed.toFixed(0)} ms, ratio ${(opened / parsed).toFixed(2)}`,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  PATIENCE_MS,
);
