/** Counts what some work puts through the platform functions whose cost grows with the text. No clock. */

import { createHash } from "node:crypto";

export interface Work {
  /** Calls of JSON.parse and the characters they read. */
  readonly parses: number;
  readonly parsed: number;
  /** Characters JSON.stringify wrote. */
  readonly written: number;
  /** Bytes hashed. */
  readonly hashed: number;
  /** Characters turned into bytes. */
  readonly encoded: number;
}

const hashPrototype = Object.getPrototypeOf(createHash("sha256")) as {
  update: (data: string | Uint8Array, ...rest: unknown[]) => unknown;
};

/** Starts counting; `read` returns what was done since, `stop` restores everything. */
export function countWork(): { read(): Work; stop(): void } {
  const { parse, stringify } = JSON;
  const { update } = hashPrototype;
  const { write } = Buffer.prototype;
  const count = { parses: 0, parsed: 0, written: 0, hashed: 0, encoded: 0 };
  JSON.parse = ((text: string, reviver?: (key: string, value: unknown) => unknown) => {
    count.parses += 1;
    count.parsed += text.length;
    return parse(text, reviver) as unknown;
  }) as typeof JSON.parse;
  JSON.stringify = ((...rest: Parameters<typeof stringify>) => {
    const text = stringify(...rest);
    count.written += (text as string | undefined)?.length ?? 0;
    return text;
  }) as typeof JSON.stringify;
  hashPrototype.update = function counted(this: unknown, data, ...rest) {
    count.hashed += data.length;
    return update.call(this, data, ...rest);
  };
  Buffer.prototype.write = function counted(this: Buffer, ...rest: Parameters<Buffer["write"]>) {
    count.encoded += rest[0].length;
    return write.apply(this, rest);
  } as typeof write;
  return {
    read: () => ({ ...count }),
    stop() {
      JSON.parse = parse;
      JSON.stringify = stringify;
      hashPrototype.update = update;
      Buffer.prototype.write = write;
    },
  };
}

export function between(before: Work, after: Work): Work {
  return {
    parses: after.parses - before.parses,
    parsed: after.parsed - before.parsed,
    written: after.written - before.written,
    hashed: after.hashed - before.hashed,
    encoded: after.encoded - before.encoded,
  };
}

export function total({ parsed, written, hashed, encoded }: Work): number {
  return parsed + written + hashed + encoded;
}
