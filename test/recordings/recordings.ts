/** Recorded streams, if the folder that THROUGHLINE_FIXTURES names is there. They are data, not part of the product. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { StreamEnd, StreamEvent } from "../../src/runtime/providers/index.ts";
import { ResponsesDecoder } from "../../src/runtime/providers/openai-responses/index.ts";
import { SseDecoder } from "../../src/runtime/wire/index.ts";

const root = process.env["THROUGHLINE_FIXTURES"];
const folder = root === undefined ? undefined : join(root, "openai-responses");

export const present = folder !== undefined && existsSync(folder);

export function readRecording(name: string): string {
  return readFileSync(join(folder ?? "", name), "utf8");
}

export function recordingNames(ending: string): readonly string[] {
  return present ? readdirSync(folder ?? "").filter((name) => name.endsWith(ending)) : [];
}

/** The events of a file, one JSON text each, split where a new response begins. */
export function responsesOf(text: string): readonly (readonly string[])[] {
  const responses: string[][] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    if (line.includes('"response.created"') || responses.length === 0) responses.push([]);
    responses.at(-1)?.push(line);
  }
  return responses;
}

/** The bytes a server sends for these events: the recorder removed the framing. */
export function framed(lines: readonly string[], newline = "\n"): Buffer {
  return Buffer.from(
    lines
      .map((line) => {
        const type = /"type":"((?:response\.|error)[^"]*)"/.exec(line)?.[1] ?? "message";
        return `event: ${type}${newline}data: ${line}${newline}${newline}`;
      })
      .join(""),
  );
}

export interface Decoded {
  readonly events: readonly StreamEvent[];
  readonly items: readonly Extract<StreamEvent, { readonly type: "item_done" }>["draft"][];
  readonly end: StreamEnd | undefined;
}

/** Through the same two decoders as a live stream, cut into chunks of the given sizes in turn. */
export function decode(bytes: Buffer, sizes: readonly number[] = [bytes.length]): Decoded {
  const frames = new SseDecoder();
  const decoder = new ResponsesDecoder();
  const events: StreamEvent[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    events.push(...decoder.feed(frames.feed(bytes.subarray(at, at + size))));
    at += size;
  }
  events.push(...decoder.close());
  return {
    events,
    items: events.flatMap((event) => (event.type === "item_done" ? [event.draft] : [])),
    end: events.flatMap((event) => (event.type === "end" ? [event.end] : []))[0],
  };
}

/** The deltas of each item, by channel and part. */
export function streamed(events: readonly StreamEvent[]): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const event of events) {
    if (event.type !== "delta") continue;
    const key = `${event.outputIndex} ${event.channel} ${event.part}`;
    texts[key] = (texts[key] ?? "") + event.text;
  }
  return texts;
}
