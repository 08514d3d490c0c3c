/**
 * HTTP/1.1 messages as bytes: what a test sends and what arrives, with nothing normalised. Node's own parser joins,
 * drops and lower-cases headers, so it cannot judge a proxy.
 *
 * @module
 */

export type Header = readonly [name: string, value: string];

export interface Message {
  /** The first line. */
  readonly start: string;
  /** In their order and case, doubled ones included. */
  readonly headers: readonly Header[];
  /** Without its framing. */
  readonly body: Buffer;
  /** False if the connection ended before the message did. */
  readonly whole: boolean;
}

interface Framing {
  readonly kind: "length" | "chunked" | "close";
  /** Bytes that are still to come, if their number is known. */
  left: number;
}

/** Reads messages from a connection. `hasBody` tells whether the answer to this first line can have one. */
export class MessageReader {
  readonly #hasBody: (start: string) => boolean;
  #rest: Buffer = Buffer.alloc(0);
  #head:
    | { readonly start: string; readonly headers: readonly Header[]; readonly framing: Framing }
    | undefined;
  #body: Buffer[] = [];

  constructor(hasBody: (start: string) => boolean = () => true) {
    this.#hasBody = hasBody;
  }

  /** The message that is under way, as far as it came. */
  get partial(): Message | undefined {
    if (this.#head === undefined) return undefined;
    const { start, headers, framing } = this.#head;
    return { start, headers, body: Buffer.concat(this.#body), whole: framing.kind === "close" };
  }

  /** The messages that these bytes complete. */
  feed(bytes: Buffer): readonly Message[] {
    const done: Message[] = [];
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while ((this.#head !== undefined || this.#readHead()) && this.#readBody()) {
      done.push({ ...(this.partial as Message), whole: true });
      this.#head = undefined;
      this.#body = [];
    }
    return done;
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf("\r\n\r\n");
    if (end === -1) return false;
    const [start = "", ...lines] = this.#rest.toString("latin1", 0, end).split("\r\n");
    const headers = lines.map((line): Header => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
    this.#head = { start, headers, framing: this.#framingOf(start, headers) };
    this.#rest = this.#rest.subarray(end + 4);
    return true;
  }

  #framingOf(start: string, headers: readonly Header[]): Framing {
    if (!this.#hasBody(start)) return { kind: "length", left: 0 };
    if (valuesOf(headers, "transfer-encoding").length > 0) return { kind: "chunked", left: 0 };
    const [length] = valuesOf(headers, "content-length");
    if (length !== undefined) return { kind: "length", left: Number(length) };
    return start.startsWith("HTTP/") ? { kind: "close", left: 0 } : { kind: "length", left: 0 };
  }

  /** Whether the message is complete. */
  #readBody(): boolean {
    const framing = this.#head?.framing;
    if (framing === undefined) return false;
    if (framing.kind === "chunked") return this.#readChunks();
    const count = framing.kind === "close" ? this.#rest.length : Math.min(framing.left, this.#rest.length);
    if (count > 0) this.#body.push(this.#rest.subarray(0, count));
    this.#rest = this.#rest.subarray(count);
    if (framing.kind === "close") return false;
    framing.left -= count;
    return framing.left === 0;
  }

  #readChunks(): boolean {
    let at = 0;
    let done = false;
    while (!done) {
      const line = this.#rest.indexOf("\r\n", at);
      const size = line === -1 ? -1 : Number.parseInt(this.#rest.toString("latin1", at, line), 16);
      if (size === -1) break;
      if (size === 0) {
        const end = this.#rest.indexOf("\r\n\r\n", line); // after the trailers, if there are any
        if (end === -1) break;
        at = end + 4;
        done = true;
      } else {
        if (this.#rest.length < line + 2 + size + 2) break;
        this.#body.push(this.#rest.subarray(line + 2, line + 2 + size));
        at = line + 2 + size + 2;
      }
    }
    this.#rest = this.#rest.subarray(at);
    return done;
  }
}

export function valuesOf(headers: readonly Header[], name: string): readonly string[] {
  return headers.flatMap(([own, value]) => (own.toLowerCase() === name ? [value] : []));
}

/** They concern one connection only; each side of a proxy has its own (RFC 9110 §7.6.1). */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade"]);

/** The headers that must pass a proxy, as they are. */
export function endToEnd(headers: readonly Header[]): readonly Header[] {
  return headers.filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()) && name.toLowerCase() !== "host");
}

/** The same without the headers that the proxy adds. */
export function withoutOurs(headers: readonly Header[]): readonly Header[] {
  return endToEnd(headers).filter(([name]) => !name.toLowerCase().startsWith("x-throughline"));
}

/** The bytes of a message. A body without a framing header is cut by `content-length`. */
export function messageBytes(start: string, headers: readonly Header[], body: Buffer | string = ""): Buffer {
  const framed = ["content-length", "transfer-encoding"].some((name) => valuesOf(headers, name).length > 0);
  const length: readonly Header[] =
    framed || body.length === 0 ? [] : [["Content-Length", String(Buffer.from(body).length)]];
  const lines = [start, ...[...headers, ...length].map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body)]);
}

/** The body in chunks of a size. */
export function inChunks(body: Buffer, size: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, CRLF);
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

const CRLF = Buffer.from("\r\n");
