/**
 * Writes a trace or a recording: the records of a run as they happen, without secrets. JSONL is exact. YAML is formatted
 * for reading and keeps every token.
 */

import { createHash } from "node:crypto";

import { type LoggedEvent, toLine } from "../../base/events/index.ts";
import { type Clock, isoTime, tryParseJson } from "../../base/support/index.ts";
import { ByteRedactor, createRedactor } from "../../runtime/log/index.ts";
import type { LogSink } from "./log-tap.ts";
import { prettyJson } from "./pretty-json.ts";
import type { PrivateFile } from "./private-file.ts";
import { publicRequestHeaders, publicResponseHeaders, publicUrl } from "./public-headers.ts";
import { FORMAT, type HeaderRecord, type RunFacts } from "./records.ts";
import type { SeenError, SeenRequest, WireSink } from "./wire-tap.ts";

export interface TraceWriterOptions {
  readonly kind: HeaderRecord["type"];
  readonly form: "jsonl" | "yaml";
  /** Called when the session opens, so that a run that does not begin leaves no file behind. */
  readonly open: () => PrivateFile;
  readonly program: string;
  readonly run: Omit<RunFacts, "session">;
  /** Called each time, because keys are loaded late. */
  readonly secrets: () => readonly string[];
  readonly clock: Clock;
}

/** A value that is already JSON text and is written unchanged. */
interface Exact {
  readonly exact: string;
}

type Field = string | number | boolean | object | Exact | undefined;

export class TraceWriter implements WireSink, LogSink {
  readonly #options: TraceWriterOptions;
  readonly #redact: (text: string) => string;
  readonly #streams = new Map<number, ByteRedactor>();
  readonly #started: number;
  #session: string | undefined;
  #file: PrivateFile | undefined;

  constructor(options: TraceWriterOptions) {
    this.#options = options;
    this.#redact = createRedactor(options.secrets);
    this.#started = options.clock.monotonic();
  }

  opened(session: string, events: readonly LoggedEvent[], blobs: ReadonlyMap<string, Uint8Array>): void {
    if (this.#session !== undefined) return; // a fork opened in addition to it
    this.#file = this.#options.open();
    this.#session = session;
    const { kind, program, run, clock } = this.#options;
    const at = isoTime(clock.now());
    this.#write({ v: FORMAT, type: kind, program, at, run: { session, ...run } });
    for (const event of events) this.#record({ type: "event", earlier: true, event: exact(toLine(event)) });
    for (const [name, bytes] of blobs) this.blob(session, name, bytes);
  }

  appended(session: string, events: readonly LoggedEvent[]): void {
    if (session !== this.#session) return;
    for (const event of events) this.#record({ type: "event", event: exact(toLine(event)) });
  }

  blob(session: string, name: string, bytes: Uint8Array): void {
    if (session !== this.#session) return;
    // A blob's name is its hash, so a redaction is noticeable.
    const clean = this.#redact(Buffer.from(bytes).toString("latin1"));
    this.#record({ type: "blob", name, base64: Buffer.from(clean, "latin1").toString("base64") });
  }

  request(n: number, { method, url, headers, body }: SeenRequest): void {
    const text = this.#redact(Buffer.from(body).toString("utf8"));
    const { origin, pathname, search } = publicUrl(url);
    const trace = this.#options.kind === "trace";
    this.#record({
      type: "request",
      n,
      method,
      ...(trace ? { url: `${origin}${pathname}${search}` } : {}),
      path: `${pathname}${search}`,
      hash: hashOf(text),
      bytes: body.length,
      ...(trace ? { headers: publicRequestHeaders(headers) } : {}),
      ...(trace ? { body: tryParseJson(text) === undefined ? text : exact(text) } : {}),
    });
    this.#streams.set(n, new ByteRedactor(this.#options.secrets()));
  }

  response(n: number, status: number, headers: Readonly<Record<string, string>>): void {
    this.#record({ type: "response", n, status, headers: publicResponseHeaders(headers) });
  }

  data(n: number, bytes: Uint8Array): void {
    this.#data(n, this.#streams.get(n)?.push(bytes) ?? bytes);
  }

  end(n: number, error?: SeenError): void {
    this.#data(n, this.#streams.get(n)?.flush() ?? new Uint8Array());
    this.#streams.delete(n);
    this.#record({ type: "end", n, error });
  }

  #data(n: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const buffer = Buffer.from(bytes);
    const text = buffer.toString("utf8");
    // A chunk may end in the middle of a character.
    const whole = Buffer.from(text).equals(buffer);
    this.#record({ type: "data", n, ...(whole ? { text } : { base64: buffer.toString("base64") }) });
  }

  #record(fields: Readonly<Record<string, Field>>): void {
    const t = Math.round((this.#options.clock.monotonic() - this.#started) * 10) / 10;
    this.#write({ t, ...fields });
  }

  #write(fields: Readonly<Record<string, Field>>): void {
    const members = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]): readonly [string, string] => [
        name,
        this.#redact(isExact(value) ? value.exact : JSON.stringify(value)),
      ]);
    if (this.#options.form === "jsonl") {
      this.#file?.write(`{${members.map(([name, json]) => `"${name}":${json}`).join(",")}}\n`);
      return;
    }
    const lines = members.map(([name, json]) => `${name}: ${printable(prettyJson(json, "  "))}`);
    this.#file?.write(`---\n${lines.join("\n")}\n`);
  }
}

function exact(text: string): Exact {
  return { exact: text };
}

function isExact(value: Field): value is Exact {
  return typeof value === "object" && "exact" in value;
}

/** Escapes characters that JSON allows and YAML forbids. Both can read the escaped form. */
function printable(json: string): string {
  return json.replaceAll(
    /[\u007F-\u009F\uFEFF\uFFFE\uFFFF]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
