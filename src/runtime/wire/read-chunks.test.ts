import { once } from "node:events";
import { Readable } from "node:stream";

import { describe, expect, test } from "vitest";

import { readChunks } from "./read-chunks.ts";

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  return text;
}

/** A stream that the test feeds. */
function open(): Readable {
  return new Readable({ read: () => undefined });
}

describe("readChunks", () => {
  test("returns every chunk in order, whether it arrived before or after the read", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    for (const text of ["a", "b", "c"]) stream.push(text);
    const first = await chunks.next();
    stream.push("d");
    stream.push(null);
    expect(`${Buffer.from(first.value ?? []).toString()}${await textOf(chunks)}`).toBe("abcd");
    expect(await chunks.next()).toEqual({ value: undefined, done: true });
  });

  test("gives concurrent reads a chunk each", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    const asked = [chunks.next(), chunks.next(), chunks.next()];
    stream.push("a");
    stream.push("b");
    stream.push(null);
    const answers = await Promise.all(asked);
    expect(answers.map(({ value }) => value?.toString())).toEqual(["a", "b", undefined]);
  });

  test("reports an error once, after the chunks that arrived before it", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    stream.push("a");
    expect((await chunks.next()).value?.toString()).toBe("a");
    stream.destroy(new Error("lost"));
    await expect(chunks.next()).rejects.toThrow("lost");
    expect(await chunks.next()).toEqual({ value: undefined, done: true });
  });

  test("reports a stream that closes without an end as an error: it is incomplete", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    stream.push("a");
    const read = textOf(chunks);
    stream.once("data", () => stream.destroy());
    await expect(read).rejects.toThrow("closed before its end");
  });

  test("ends the stream and pending reads when the reader leaves early", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    const waiting = chunks.next();
    await chunks.return?.();
    expect(await waiting).toEqual({ value: undefined, done: true });
    expect(stream.destroyed).toBe(true);
  });

  test("lets a released stream end on its own and returns nothing more", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    stream.push("all that matters");
    await chunks.next();
    chunks.release();
    stream.push("the rest");
    stream.push(null);
    expect(await chunks.next()).toEqual({ value: undefined, done: true });
    await once(stream, "end");
  });

  test("ends a released stream that does not end on its own", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    chunks.release();
    expect(stream.destroyed).toBe(false);
    await once(stream, "close");
    expect(stream.destroyed).toBe(true);
  });

  test("informs the watch of every chunk, lets it refuse one and choose the reader's error", async () => {
    const stream = open();
    const told: string[] = [];
    const chunks = readChunks(stream, {
      waiting: () => void told.push("waiting"),
      given: (bytes) => {
        told.push(`given ${bytes}`);
        return bytes > 3 ? new Error("too long") : undefined;
      },
      ended: () => undefined,
      failed: (error) => new Error(`failed: ${String(error)}`),
      left: () => void told.push("left"),
    });
    const first = chunks.next();
    stream.push("abc");
    expect(Buffer.from((await first).value ?? []).toString()).toBe("abc");
    stream.push("abcd");
    await expect(chunks.next()).rejects.toThrow("failed: Error: too long");
    expect(told).toEqual(["waiting", "given 3", "given 4", "left"]);
    expect([stream.destroyed, await chunks.next()]).toEqual([true, { value: undefined, done: true }]);
  });

  test.each(["release", "return"] as const)(
    "informs the watch once when the reader leaves by %s, before or after the end",
    async (leave) => {
      const over = [];
      for (const ended of [false, true]) {
        const stream = open();
        const told: string[] = [];
        const chunks = readChunks(stream, {
          waiting: () => undefined,
          given: () => undefined,
          ended: () => void told.push("ended"),
          failed: (error) => error,
          left: () => void told.push("left"),
        });
        stream.push("all");
        if (ended) {
          stream.push(null);
          await once(stream, "end");
        }
        await chunks.next();
        await chunks[leave]();
        over.push(told);
      }
      expect(over).toEqual([[leave === "release" ? "ended" : "left"], ["ended"]]);
    },
  );

  test("holds the stream back while the reader does not read, and loses nothing", async () => {
    const piece = Buffer.alloc(256 * 1024, "x");
    let given = 0;
    const stream = new Readable({
      highWaterMark: piece.length,
      read() {
        given += 1;
        this.push(given > 40 ? null : piece);
      },
    });
    const chunks = readChunks(stream);
    await expect.poll(() => stream.isPaused()).toBe(true);
    expect(given).toBeLessThan(10);
    let bytes = 0;
    for await (const chunk of chunks) bytes += chunk.length;
    expect(bytes).toBe(40 * piece.length);
  });
});
