import { Readable } from "node:stream";

import { describe, expect, test } from "vitest";

import { readChunks } from "./read-chunks.ts";

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  return text;
}

/** A stream that is fed by hand. */
function open(): Readable {
  return new Readable({ read: () => undefined });
}

describe("readChunks", () => {
  test("gives every piece in order, those that came before anybody asked and those after", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    for (const text of ["a", "b", "c"]) stream.push(text);
    const first = await chunks.next();
    stream.push("d");
    stream.push(null);
    expect(`${Buffer.from(first.value ?? []).toString()}${await textOf(chunks)}`).toBe("abcd");
    expect(await chunks.next()).toEqual({ value: undefined, done: true });
  });

  test("several who ask at once each get a piece of their own", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    const asked = [chunks.next(), chunks.next(), chunks.next()];
    stream.push("a");
    stream.push("b");
    stream.push(null);
    const answers = await Promise.all(asked);
    expect(answers.map(({ value }) => value?.toString())).toEqual(["a", "b", undefined]);
  });

  test("an error comes after what arrived before it, once", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    stream.push("a");
    expect((await chunks.next()).value?.toString()).toBe("a");
    stream.destroy(new Error("lost"));
    await expect(chunks.next()).rejects.toThrow("lost");
    expect(await chunks.next()).toEqual({ value: undefined, done: true });
  });

  test("a stream that closes without an end is an error: what came is not the whole", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    stream.push("a");
    const read = textOf(chunks);
    stream.once("data", () => stream.destroy());
    await expect(read).rejects.toThrow("closed before its end");
  });

  test("leaving early ends the stream and the wait of whoever asked", async () => {
    const stream = open();
    const chunks = readChunks(stream);
    const waiting = chunks.next();
    await chunks.return?.();
    expect(await waiting).toEqual({ value: undefined, done: true });
    expect(stream.destroyed).toBe(true);
  });

  test("a reader that does not read holds the stream back, and all of it is there in the end", async () => {
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
