/** Compressed bodies: what this Node can decode, and how a copy is decoded while the bytes themselves pass. */

import * as zlib from "node:zlib";

/** Larger bodies are not looked at. */
export const MOST_BODY_BYTES = 32 * 1024 * 1024;

type Decode = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

/** Node 22.15 and later decode zstd. */
const zstd = (zlib as { readonly zstdDecompressSync?: Decode }).zstdDecompressSync;
const createZstd = (zlib as { readonly createZstdDecompress?: () => zlib.Gunzip }).createZstdDecompress;

const DECODERS: Readonly<Record<string, Decode | undefined>> = {
  gzip: zlib.gunzipSync,
  "x-gzip": zlib.gunzipSync,
  deflate: zlib.inflateSync,
  br: zlib.brotliDecompressSync,
  zstd,
};

const STREAMS: Readonly<
  Record<string, (() => zlib.Gunzip | zlib.BrotliDecompress | zlib.Inflate) | undefined>
> = {
  gzip: () => zlib.createGunzip(),
  "x-gzip": () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  zstd: createZstd,
};

function isIdentity(coding: string | undefined): boolean {
  return coding === undefined || coding === "" || coding === "identity";
}

/** Undefined if the body cannot be decoded, or would grow too large. */
export function decoded(bytes: Buffer, coding: string | undefined): Buffer | undefined {
  if (isIdentity(coding)) return bytes;
  const decode = DECODERS[coding?.toLowerCase() ?? ""];
  try {
    return decode?.(bytes, { maxOutputLength: MOST_BODY_BYTES });
  } catch {
    return undefined;
  }
}

/** Decodes chunk by chunk. `feed` resolves to what a chunk yields; undefined if the coding is not known. */
export class CopyDecoder {
  readonly #stream: zlib.Gunzip | zlib.BrotliDecompress | zlib.Inflate | undefined;
  readonly #identity: boolean;
  #failed = false;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(coding: string | undefined) {
    this.#identity = isIdentity(coding);
    this.#stream = this.#identity ? undefined : STREAMS[coding?.toLowerCase() ?? ""]?.();
    this.#failed = !this.#identity && this.#stream === undefined;
    this.#stream?.on("data", (chunk: Buffer) => {
      this.#size += chunk.length;
      if (this.#size <= MOST_BODY_BYTES) this.#chunks.push(chunk);
      else this.#giveUp();
    });
    this.#stream?.on("error", () => {
      this.#failed = true;
    });
  }

  /** It unpacks to more than is worth reading. */
  #giveUp(): void {
    this.#failed = true;
    this.#chunks = [];
    this.#stream?.destroy();
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** A promise only if the bytes are compressed. */
  feed(chunk: Buffer): Buffer | Promise<Buffer> {
    const stream = this.#stream;
    if (stream === undefined || this.#failed) return this.#identity ? chunk : Buffer.alloc(0);
    return new Promise((resolve) => {
      const done = (): void => {
        const bytes = Buffer.concat(this.#chunks);
        this.#chunks = [];
        resolve(bytes);
      };
      stream.once("error", done);
      stream.once("close", done);
      stream.write(chunk, () => {
        stream.off("error", done);
        stream.off("close", done);
        setImmediate(done);
      });
    });
  }
}

/** The client's accepted codings without those that we cannot decode. Nothing is added. */
export function narrowedCodings(value: string): string {
  const kept = value
    .split(",")
    .map((one) => one.trim())
    .filter((one) => {
      const name = (one.split(";", 1)[0] ?? "").trim().toLowerCase();
      return isIdentity(name) || name === "*" || DECODERS[name] !== undefined;
    });
  const all = kept.filter((one) => !one.startsWith("*"));
  const narrowed = (all.length === 0 ? ["identity"] : all).join(", ");
  return kept.length === value.split(",").length && all.length === kept.length ? value : narrowed;
}
