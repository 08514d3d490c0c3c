/**
 * Ids and ciphertext that carry their own proof, so that the judge needs no memory: it judges an item by its content,
 * even after a restart (store:false). An id is signed and says which response made it, its position, and the reasoning
 * it needs; a ciphertext is AEAD over everything it is bound to (E02–E05, E07, E08, H06).
 *
 * An id is 25 bytes as hex (the length of real ones): 8 response uid · 4 seconds · 7 masked {index, type, needs} · 6
 * MAC. `needs` has one bit per output index, so a response has at most 40 output items.
 */

import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";

export const maxOutputItems = 40;

/** The prefix of item ids by item type (codex protocol/src/models.rs; I06). */
export const idPrefixes: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  web_search_call: "ws",
  file_search_call: "fs",
  image_generation_call: "ig",
  code_interpreter_call: "ci",
  computer_call: "cu",
  local_shell_call: "lsh",
  tool_search_call: "tsc",
  mcp_call: "mcp",
  compaction: "cmp",
  tool_search_output: "tso",
  additional_tools: "at",
  program: "cm",
};
const typeCodes = Object.keys(idPrefixes);
const unlistedType = 255;
const maxAdopted = 10_000;

export interface ItemAddress {
  /** 16 hex digits. */
  readonly uid: string;
  /** The time of the response, in seconds since 1970. */
  readonly at: number;
  readonly index: number;
}

export interface SignedId extends ItemAddress {
  readonly type: string | undefined;
  /** The output indexes of the reasoning items this item needs. */
  readonly needs: readonly number[];
}

/** The next item of the response: a reasoning item is refused without it. `text` is a hash. */
export interface Follower {
  readonly index: number;
  readonly type: string;
  readonly callId?: string | undefined;
  readonly text?: string;
}

export interface Sealed {
  readonly stage: "added" | "done" | "completed";
  readonly id: string;
  readonly uid: string;
  readonly index: number;
  readonly model: string;
  readonly account: string;
  /** The hash chain of everything before this item (H06). */
  readonly prefix: string;
  readonly follower: Follower | null;
  /** The model's notes to itself, which it can use later only if the ciphertext comes back. */
  readonly notes: string;
  /** Only in signatures of thinking blocks. */
  readonly thinking?: SealedThinking;
}

/** The content and position of a thinking block, so that an edited or moved block is detected. */
export interface SealedThinking {
  readonly kind: "thinking" | "redacted_thinking";
  /** The hash of the text as it was sent. */
  readonly text: string;
  /** The block indexes of all thinking in its response, up to the point where another model took over. */
  readonly all: readonly number[];
  /** How often another model had taken over before it (`fallback` blocks). If absent, never. */
  readonly hop?: number | undefined;
  /** Hashes of the content before the messages. */
  readonly system: string;
  readonly tools: string;
  /** The id of the previous thinking in the conversation. */
  readonly previous: string | null;
}

/** An item whose id a scenario chose, with facts that only memory can supply later. */
export interface AdoptedItem extends SignedId {
  /** For a program, which must come back unchanged. */
  readonly fingerprint?: string | undefined;
}

export interface SealOptions {
  readonly secret: string;
  /** With a seed, all ids and ciphertext are the same in every run. */
  readonly seed?: string | undefined;
}

export type Opened =
  | { readonly ok: true; readonly sealed: Sealed }
  | { readonly ok: false; readonly rotated: boolean };

export class Seal {
  readonly #secret: string;
  readonly #seed: string | undefined;
  readonly #idKey: Buffer;
  readonly #contentKeys: Buffer[] = [];
  /** Ids chosen by a scenario: they carry no proof, so they are remembered. Oldest first. */
  readonly #adopted = new Map<string, AdoptedItem>();
  #epoch = 0;
  #drawn = 0;

  constructor(options: SealOptions) {
    this.#secret = options.secret;
    this.#seed = options.seed;
    this.#idKey = derive(options.secret, "ids");
  }

  get epoch(): number {
    return this.#epoch;
  }

  rotate(): void {
    this.#epoch += 1;
  }

  newUid(): string {
    return this.random(8).toString("hex");
  }

  random(bytes: number): Buffer {
    if (this.#seed === undefined) return randomBytes(bytes);
    this.#drawn += 1;
    return createHash("shake256", { outputLength: bytes }).update(`${this.#seed}\0${this.#drawn}`).digest();
  }

  responseId(uid: string, at: number): string {
    return `resp_${this.#signed({ uid, at, index: 0, code: unlistedType, needs: [] })}`;
  }

  itemId(address: ItemAddress, type: string, needs: readonly number[] = []): string {
    const code = typeCodes.indexOf(type);
    const hex = this.#signed({ ...address, code: code === -1 ? unlistedType : code, needs });
    return `${idPrefixes[type] ?? "item"}_${hex}`;
  }

  /** Accepts the id from now on, as if this server had made it. */
  adopt(id: string, item: AdoptedItem): void {
    this.#adopted.set(id, item);
    const [oldest] = this.#adopted.keys();
    if (this.#adopted.size > maxAdopted && oldest !== undefined) this.#adopted.delete(oldest);
  }

  fingerprintOf(id: string): string | undefined {
    return this.#adopted.get(id)?.fingerprint;
  }

  /** Returns `undefined` if this server (with this secret) never issued the id. */
  readId(id: string): SignedId | undefined {
    const adopted = this.#adopted.get(id);
    if (adopted !== undefined) return adopted;
    const match = /^([a-z]+)_([0-9a-f]{50})$/.exec(id);
    if (match?.[2] === undefined) return undefined;
    const bytes = Buffer.from(match[2], "hex");
    const uid = bytes.subarray(0, 8);
    const mac = bytes.subarray(19);
    const body = mask(bytes.subarray(12, 19), this.#pad(uid, mac));
    if (!this.#mac(Buffer.concat([bytes.subarray(0, 12), body])).equals(mac)) return undefined;
    const type = typeCodes[body[1] ?? unlistedType];
    if (type !== undefined && idPrefixes[type] !== match[1]) return undefined;
    return {
      uid: uid.toString("hex"),
      at: bytes.readUInt32BE(8),
      index: body[0] ?? 0,
      type,
      needs: bitsOf(body.subarray(2)),
    };
  }

  /** `call_` and 24 letters or digits, like real ones; contains the response and the item's address. */
  callId(address: ItemAddress): string {
    const body = Buffer.concat([Buffer.from(address.uid, "hex"), Buffer.from([address.index])]);
    const mac = this.#mac(Buffer.concat([Buffer.from("call"), body])).subarray(0, 6);
    const pad = this.#pad(Buffer.from("call"), mac);
    return `call_${toBase62(Buffer.concat([mask(body, Buffer.concat([pad, pad])), mac, pad.subarray(0, 2)]))}`;
  }

  readCallId(callId: string): { readonly uid: string; readonly index: number } | undefined {
    if (!/^call_[0-9A-Za-z]{24}$/.test(callId)) return undefined;
    const bytes = fromBase62(callId.slice(5), 17);
    if (bytes === undefined) return undefined;
    const mac = bytes.subarray(9, 15);
    const pad = this.#pad(Buffer.from("call"), mac);
    const body = mask(bytes.subarray(0, 9), Buffer.concat([pad, pad]));
    const expected = this.#mac(Buffer.concat([Buffer.from("call"), body])).subarray(0, 6);
    if (!expected.equals(mac) || !bytes.subarray(15).equals(pad.subarray(0, 2))) return undefined;
    return { uid: body.subarray(0, 8).toString("hex"), index: body[8] ?? 0 };
  }

  /** Looks like a Fernet token: version byte, time, IV, ciphertext, tag; base64url with padding, `gAAAAAB…`. */
  seal(sealed: Sealed, at: number): string {
    const iv = this.random(16);
    const head = Buffer.alloc(9);
    head[0] = 0x80;
    head.writeUInt32BE(at >>> 0, 5);
    const cipher = createCipheriv("aes-256-gcm", this.#contentKey(this.#epoch), iv);
    cipher.setAAD(head);
    // `added` is shorter than later stages (844 against 1060 in the recordings, E07).
    const filler = "·".repeat(sealed.stage === "added" ? 8 : 60 + Math.ceil(sealed.notes.length / 4));
    const body = cipher.update(JSON.stringify({ ...sealed, filler }), "utf8");
    const bytes = Buffer.concat([head, iv, body, cipher.final(), cipher.getAuthTag()]);
    return bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
  }

  open(text: string): Opened {
    const bytes = Buffer.from(text, "base64url");
    if (!/^gAAAA[\w-]+={0,2}$/.test(text) || bytes.length < 9 + 16 + 16) return { ok: false, rotated: false };
    for (let epoch = this.#epoch; epoch >= 0; epoch -= 1) {
      const sealed = decrypt(bytes, this.#contentKey(epoch));
      if (sealed !== undefined) {
        return epoch === this.#epoch ? { ok: true, sealed } : { ok: false, rotated: true };
      }
    }
    return { ok: false, rotated: false };
  }

  #contentKey(epoch: number): Buffer {
    return (this.#contentKeys[epoch] ??= derive(this.#secret, `content ${epoch}`));
  }

  #signed(id: ItemAddress & { readonly code: number; readonly needs: readonly number[] }): string {
    const uid = Buffer.from(id.uid, "hex");
    const time = Buffer.alloc(4);
    time.writeUInt32BE(id.at >>> 0);
    const body = Buffer.from([id.index, id.code, 0, 0, 0, 0, 0]);
    for (const bit of id.needs) {
      const at = 2 + (bit >> 3);
      body[at] = (body[at] ?? 0) | (1 << (bit & 7));
    }
    const mac = this.#mac(Buffer.concat([uid, time, body]));
    return Buffer.concat([uid, time, mask(body, this.#pad(uid, mac)), mac]).toString("hex");
  }

  #mac(bytes: Buffer): Buffer {
    return createHmac("sha256", this.#idKey).update(bytes).digest().subarray(0, 6);
  }

  #pad(uid: Buffer, mac: Buffer): Buffer {
    return createHmac("sha256", this.#idKey).update("pad").update(uid).update(mac).digest().subarray(0, 7);
  }
}

export function hashText(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "throughline emulator", purpose, 32));
}

function decrypt(bytes: Buffer, key: Buffer): Sealed | undefined {
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(9, 25));
  decipher.setAAD(bytes.subarray(0, 9));
  decipher.setAuthTag(bytes.subarray(-16));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(25, -16)), decipher.final()]).toString("utf8");
    return JSON.parse(text) as Sealed; // authenticated: only this class wrote it
  } catch {
    return undefined;
  }
}

function mask(bytes: Buffer, pad: Buffer): Buffer {
  return Buffer.from(bytes.map((byte, at) => byte ^ (pad[at] ?? 0)));
}

function bitsOf(bytes: Buffer): number[] {
  const bits: number[] = [];
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    if (((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1) bits.push(bit);
  }
  return bits;
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function toBase62(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (let digit = 0; digit < 24; digit += 1) {
    text = base62.charAt(Number(value % 62n)) + text;
    value /= 62n;
  }
  return text;
}

function fromBase62(text: string, length: number): Buffer | undefined {
  let value = 0n;
  for (const char of text) value = value * 62n + BigInt(base62.indexOf(char));
  const hex = value.toString(16).padStart(length * 2, "0");
  return hex.length === length * 2 ? Buffer.from(hex, "hex") : undefined;
}
