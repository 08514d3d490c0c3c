/** Bodies that a parser and a serialiser would not leave as they are. */

import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";

import { chat, responses } from "./talk.ts";

export interface OddBody {
  readonly name: string;
  readonly bytes: Buffer;
  readonly coding?: string;
}

const LEVELS = 100_000;
const deep = "[".repeat(LEVELS) + "]".repeat(LEVELS);
const deepObjects = '{"a":'.repeat(LEVELS) + "1" + "}".repeat(LEVELS);

/** A request in each dialect's own list, with something odd in its head, its content or its arguments. */
function withOdd(list: string, odd: string): string {
  return `{"model":"m","odd":${odd},"${list}":[{"role":"user","content":[{"type":"text","text":"a","odd":${odd}}]},{"role":"assistant","content":"b","odd":${odd}},{"type":"function_call","call_id":"c1","name":"f","arguments":${JSON.stringify(odd)}},{"type":"function_call_output","call_id":"c1","output":[${odd}]}]}`;
}

const made = new Map<string, readonly OddBody[]>();

/** `list` is the member that holds the history. */
export function oddBodies(list: "input" | "messages"): readonly OddBody[] {
  const known = made.get(list) ?? makeBodies(list);
  made.set(list, known);
  return known;
}

function makeBodies(list: "input" | "messages"): readonly OddBody[] {
  const talker = list === "input" ? responses : chat;
  const plain = Buffer.from(talker.body([{ user: "Grüße" }], true));
  const texts: Readonly<Record<string, string>> = {
    "no bytes": "",
    "white space": " \n\t",
    "no JSON": "this is no JSON {",
    "a JSON string": '"input"',
    "a JSON list": "[1, 2]",
    null: "null",
    "an empty object": "{}",
    "an empty history": `{"model":"m","${list}":[]}`,
    "a history of null": `{"model":"m","${list}":[null, 1, "x", [], {}, true]}`,
    "a history that is an object": `{"model":"m","${list}":{"0":1}}`,
    "a doubled key": `{"model":"m","model":"n","${list}":[{"role":"user","role":"user","content":"a","content":"b"}],"${list}":[]}`,
    "keys named as prototypes": `{"__proto__":{"a":1},"constructor":1,"${list}":[{"__proto__":[],"role":"user","content":"a"}]}`,
    "escaped keys": `{"\\u0069nput":[{"role":"user","content":"a"}],"\\u006dessages":[{"role":"user","content":"a"}]}`,
    "big numbers": withOdd(
      list,
      "[12345678901234567890123456789012345678901, 1e400, 0.1000000000000000055511151231257827]",
    ),
    "minus zero": withOdd(list, "[-0, -0.0, 1E5, 1.0]"),
    "white space everywhere": `\r\n\t { "model" : "m" ,\n "${list}" : [ { "role" : "user" , "content" : "a" } ] } \n\n`,
    "escapes and surrogates": withOdd(
      list,
      '["\\ud800", "\\u0000", "\\/", "\u2028", "🧠", "\\uD83E\\uDDE0"]',
    ),
    "a byte order mark": `\ufeff{"model":"m","${list}":[{"role":"user","content":"a"}]}`,
    "two values": `{"model":"m","${list}":[]} {"model":"m"}`,
    "no end": `{"model":"m","${list}":[{"role":"user","content":"a"}`,
    "a deep head": `{"model":"m","odd":${deepObjects},"${list}":[{"role":"user","content":"a"}]}`,
    "deep content": `{"model":"m","${list}":[{"role":"user","content":[{"type":"text","text":"a","odd":${deepObjects}}]}]}`,
    "deep arguments": `{"model":"m","${list}":[{"type":"function_call","call_id":"c1","name":"f","arguments":${JSON.stringify(deep)}}]}`,
    "a deep history": `{"model":"m","${list}":${deep}}`,
    "unclosed depth": `{"model":"m","${list}":${"[".repeat(LEVELS)}`,
  };
  return [
    ...Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
    { name: "invalid UTF-8", bytes: Buffer.from(withOdd(list, '"\xff\xfe\xc3\x28\xed\xa0\x80"'), "latin1") },
    { name: "every byte", bytes: Buffer.from(Array.from({ length: 1024 }, (_, at) => at % 256)) },
    { name: "gzip", bytes: gzipSync(plain), coding: "gzip" },
    { name: "gzip under its old name", bytes: gzipSync(plain), coding: "X-GZip" },
    { name: "brotli", bytes: brotliCompressSync(plain), coding: "br" },
    { name: "deflate", bytes: deflateSync(plain), coding: "deflate" },
    { name: "deflate without a header", bytes: deflateRawSync(plain), coding: "deflate" },
    { name: "zstd", bytes: zstdStored(plain), coding: "zstd" },
    { name: "truncated gzip", bytes: gzipSync(plain).subarray(0, -9), coding: "gzip" },
    {
      name: "gzip with a tail",
      bytes: Buffer.concat([gzipSync(plain), Buffer.from("tail")]),
      coding: "gzip",
    },
    { name: "no gzip at all", bytes: plain, coding: "gzip" },
    { name: "two codings", bytes: gzipSync(brotliCompressSync(plain)), coding: "br, gzip" },
    { name: "an unknown coding", bytes: plain, coding: "rot13" },
    { name: "a bomb", bytes: gzipSync(Buffer.alloc(40 * 1024 * 1024)), coding: "gzip" },
  ];
}

/** A frame with one stored block, since Node 20 has no zstd. For less than 256 bytes (RFC 8878 §3.1). */
function zstdStored(bytes: Buffer): Buffer {
  const block = (bytes.length << 3) | 1;
  return Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, bytes.length, block & 255, (block >> 8) & 255, block >> 16]),
    bytes,
  ]);
}
