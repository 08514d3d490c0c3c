/**
 * As much of PostgreSQL's wire protocol as a proxy needs: where messages begin and end, which statement a request runs,
 * and where its answer ends. https://www.postgresql.org/docs/current/protocol-message-formats.html
 *
 * @module
 */

export interface PgStatement {
  /** The name of a prepared statement; empty for one without a name. */
  readonly name: string;
  readonly text: string;
}

export interface Message {
  /** One letter; empty for the first message of a client, which has none. */
  readonly type: string;
  /** The whole message, with its head. */
  readonly bytes: Buffer;
  readonly body: Buffer;
}

/** Cuts a stream of bytes into messages. */
export class Framing {
  #rest: Buffer = Buffer.alloc(0);
  /** The first message of a client has no letter. */
  #bare: boolean;

  constructor(side: "client" | "server") {
    this.#bare = side === "client";
  }

  push(bytes: Buffer): readonly Message[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const messages: Message[] = [];
    for (;;) {
      const head = this.#bare ? 0 : 1;
      if (this.#rest.length < head + 4) return messages;
      const size = head + this.#rest.readUInt32BE(head);
      if (this.#rest.length < size) return messages;
      const whole = this.#rest.subarray(0, size);
      this.#rest = this.#rest.subarray(size);
      const type = this.#bare ? "" : String.fromCharCode(whole[0] ?? 0);
      messages.push({ type, bytes: whole, body: whole.subarray(head + 4) });
      // A request for TLS or GSS is answered by one byte, and another first message follows.
      if (this.#bare) this.#bare = isEncryptionRequest(whole);
    }
  }
}

export function isEncryptionRequest(first: Buffer): boolean {
  return [80_877_103, 80_877_104].includes(first.length < 8 ? 0 : first.readUInt32BE(4));
}

/** What one request of a client runs: everything up to a Sync, or one simple query. */
export interface Request {
  readonly statements: readonly PgStatement[];
  readonly bytes: Buffer;
  /** Whether the server ends its answer with ReadyForQuery. */
  readonly isAnswered: boolean;
}

/** Joins the messages of a client to requests, and remembers what it prepared. */
export class Requests {
  readonly #prepared = new Map<string, string>();
  #messages: Buffer[] = [];
  #statements: PgStatement[] = [];

  /** The request that this message completes, if it does. */
  add({ type, bytes, body }: Message): Request | undefined {
    this.#messages.push(bytes);
    if (type === "P") {
      const [name = "", text = ""] = texts(body);
      this.#prepared.set(name, text);
    } else if (type === "B") {
      const [, name = ""] = texts(body);
      this.#statements.push({ name, text: this.#prepared.get(name) ?? "" });
    } else if (type === "Q") this.#statements.push({ name: "", text: texts(body)[0] ?? "" });
    if (["P", "B", "D", "E", "C"].includes(type)) return undefined;
    const whole = Buffer.concat(this.#messages);
    const statements = this.#statements;
    this.#messages = [];
    this.#statements = [];
    return { statements, bytes: whole, isAnswered: ["S", "Q", ""].includes(type) };
  }
}

/** The first two texts of a message, each ended by a zero. */
function texts(body: Buffer): readonly string[] {
  const first = body.indexOf(0);
  const second = body.indexOf(0, first + 1);
  return [body.toString("utf8", 0, first), second === -1 ? "" : body.toString("utf8", first + 1, second)];
}
