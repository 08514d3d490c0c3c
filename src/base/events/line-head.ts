/**
 * The head of a line as this version writes it, if the rest of its event can wait. Any other line is decoded when it is
 * read: what the folds need of every event (usage, blobs, what a request left out) must not wait.
 */

import type { LoggedEvent } from "./canonical.ts";
import {
  bytesOf,
  digitsEnd,
  fieldAt,
  type FieldPlaces,
  isAt,
  isSame,
  nextQuote,
  numberIn,
  OPEN_BRACE,
  QUOTE,
} from "./line-bytes.ts";
import type { KnownHead } from "./stored-event.ts";

/** Types whose head is all that the folds need when a log is opened. */
const QUIET = (
  [
    "reasoning",
    "tool_call",
    "tool_result",
    "tool_start",
    "permission_decision",
    "response_start",
    "response_end",
    "assistant_message",
  ] satisfies LoggedEvent["type"][]
).map((type) => ({ type, bytes: bytesOf(`${type}"`) }));

/** What is looked for in the other fields of a line. */
interface Expected {
  /** Fields that the folds need at once. */
  readonly loud: readonly Uint8Array[];
  /** Fields that are read from the line later. Of a repeated key the last value counts, and the first is read. */
  readonly once: readonly Uint8Array[];
  /** The only field that is an object of plain values. Every other object, and every list, is loud. */
  readonly object: Uint8Array;
}

function expected(loud: readonly string[], once: readonly string[], object = ""): Expected {
  return { loud: loud.map(bytesOf), once: once.map(bytesOf), object: bytesOf(object) };
}

const EXPECTED = {
  response_start: expected(["leftOutAs"], ["origin"], "origin"),
  response_end: expected([], ["status", "usage"], "usage"),
  tool_result: expected(["blob"], ["callId", "status", "text"]),
} as const;

/** Reads the heads of one line after the other. Its fields are those of the line that it read last. */
export class LineHead implements KnownHead {
  type: LoggedEvent["type"] = "unknown";
  seq = -1;
  epoch = -1;
  turn = "";
  response = "";
  step: number | undefined;
  typeEnd = -1;
  #bytes: Uint8Array | undefined;
  #turnAt = 0;
  #responseAt = 0;

  /** `end` is where the checksum begins. Returns false, and keeps its fields, if the line has to be decoded. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    if (!isAt(bytes, start, SEQ)) return false;
    const seqEnd = digitsEnd(bytes, start + SEQ.length);
    if (!isAt(bytes, seqEnd, ID)) return false;
    const idEnd = nextQuote(bytes, seqEnd + ID.length, end);
    if (!isAt(bytes, idEnd, AT)) return false;
    const atEnd = nextQuote(bytes, idEnd + AT.length, end);
    if (!isAt(bytes, atEnd, EPOCH)) return false;
    const epochAt = atEnd + EPOCH.length;
    const epochEnd = digitsEnd(bytes, epochAt);
    if (!isAt(bytes, epochEnd, TURN)) return false;
    const turnAt = epochEnd + TURN.length;
    const turn = this.#idAt(bytes, turnAt, this.turn, this.#turnAt);
    if (turn === "" || !isAt(bytes, turnAt + turn.length, RESPONSE)) return false;
    const responseAt = turnAt + turn.length + RESPONSE.length;
    const response = this.#idAt(bytes, responseAt, this.response, this.#responseAt);
    if (response === "" || !isAt(bytes, responseAt + response.length, TYPE)) return false;
    const typeAt = responseAt + response.length + TYPE.length;
    const type = typeFrom(bytes, typeAt);
    if (type === undefined) return false;
    const typeEnd = typeAt + type.length + 1;
    const hasStep = type === "response_start";
    if (hasStep && !isAt(bytes, typeEnd, STEP)) return false;
    const stepAt = typeEnd + STEP.length;
    const seq = numberIn(bytes, start + SEQ.length, seqEnd);
    const epoch = numberIn(bytes, epochAt, epochEnd);
    const step = hasStep ? numberIn(bytes, stepAt, digitsEnd(bytes, stepAt)) : undefined;
    if (seq === -1 || epoch === -1 || step === -1) return false;
    if ((hasStep || type === "response_end" || type === "tool_result") && isLoud(type, bytes, typeEnd, end))
      return false;
    this.type = type;
    this.seq = seq;
    this.epoch = epoch;
    this.turn = turn;
    this.response = response;
    this.step = step;
    this.typeEnd = typeEnd - start;
    this.#bytes = bytes;
    this.#turnAt = turnAt;
    this.#responseAt = responseAt;
    return true;
  }

  /** The text that begins there, or an empty one if it is not plain. Ids that repeat are the same strings. */
  #idAt(bytes: Uint8Array, at: number, before: string, beforeAt: number): string {
    const { length } = before;
    if (this.#bytes === bytes && bytes[at + length] === QUOTE && isSame(bytes, at, bytes, beforeAt, length))
      return before;
    let id = "";
    for (let index = at; bytes[index] !== QUOTE; index += 1) {
      if (id.length === LONGEST_ID) return "";
      id += String.fromCharCode(bytes[index] ?? 0);
    }
    return PLAIN_ID.test(id) ? id : "";
  }
}

/** Whether a line says something that cannot wait, or is not written as this version writes it. */
function isLoud(type: keyof typeof EXPECTED, bytes: Uint8Array, from: number, end: number): boolean {
  if (type === "response_end" && !isAt(bytes, from, COMPLETED)) return true;
  const { loud, once, object } = EXPECTED[type];
  let seen = 0;
  for (let at = from; at < end; at = field.valueEnd) {
    if (!fieldAt(bytes, at, end, field)) return true;
    const { keyStart, keyEnd, valueStart } = field;
    if (bytes[valueStart] === OPEN_BRACE && !isKey(bytes, keyStart, keyEnd, object)) return true;
    for (const key of loud) if (isKey(bytes, keyStart, keyEnd, key)) return true;
    for (let index = 0; index < once.length; index += 1) {
      if (!isKey(bytes, keyStart, keyEnd, once[index] as Uint8Array)) continue;
      if ((seen & (1 << index)) !== 0) return true;
      seen |= 1 << index;
    }
  }
  return false;
}

const field: FieldPlaces = { keyStart: 0, keyEnd: 0, valueStart: 0, valueEnd: 0 };

function isKey(bytes: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  return end - start === key.length && isAt(bytes, start, key);
}

function typeFrom(bytes: Uint8Array, at: number): LoggedEvent["type"] | undefined {
  for (const quiet of QUIET) if (isAt(bytes, at, quiet.bytes)) return quiet.type;
  return undefined;
}

const SEQ = bytesOf('{"v":1,"seq":');
const ID = bytesOf(',"id":"');
const AT = bytesOf('","at":"');
const EPOCH = bytesOf('","epoch":');
const TURN = bytesOf(',"turn":"');
const RESPONSE = bytesOf('","response":"');
const TYPE = bytesOf('","type":"');
const STEP = bytesOf(',"step":');
const COMPLETED = bytesOf(',"status":"completed"');
const LONGEST_ID = 100;
const PLAIN_ID = /^[\w.:-]+$/;
