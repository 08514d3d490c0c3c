/** Was a request accepted or refused? It counts as accepted as soon as output begins, so the rest costs nothing. */

import {
  asErrorCode,
  codedError,
  isObject,
  objectOf,
  stringOf,
  tryParseJson,
} from "../../base/support/index.ts";
import type { Reply, Frame } from "./reply.ts";

export interface Refusal {
  readonly status: number;
  /** The status was HTTP 200, and the stream contained the refusal as an event (E12). */
  readonly inStream: boolean;
  readonly message: string;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  /** `api`: the documented envelope. `other`: something else, quoted in `message`. */
  readonly shape: "api" | "other";
}

export type Acceptance =
  | { readonly accepted: true; readonly seen: string }
  | { readonly accepted: false; readonly refusal: Refusal };

const OUTPUT_BEGINS = /^response\.(?:output_item\.|content_part\.|completed$|incomplete$)|\.delta$/;

const isDecisive = (frame: Frame): boolean =>
  frame.type === "error" || frame.type === "response.failed" || OUTPUT_BEGINS.test(frame.type);

/** The rest of the answer is not read. */
export const ONLY_DECIDE = { enough: isDecisive };

/** Throws if it was neither: no answer at all, a web page, or a redirect. */
export function acceptanceOf(reply: Reply): Acceptance {
  const refusal = refusalOf(reply);
  if (refusal !== undefined) return { accepted: false, refusal };
  if (reply.streamed) {
    const decisive = reply.frames.find(isDecisive);
    if (decisive !== undefined) return { accepted: true, seen: decisive.type };
    const { code, message } = reply.broken ?? {
      code: "no_answer",
      message: `the stream ended after ${reply.frames.length} events, without output`,
    };
    throw codedError(asErrorCode(code, "no_answer"), message);
  }
  if (reply.broken !== undefined)
    throw codedError(asErrorCode(reply.broken.code, "no_answer"), reply.broken.message);
  const body = tryParseJson(reply.text);
  if (isObject(body) && Array.isArray(body["output"])) return { accepted: true, seen: "a response object" };
  throw codedError("not_an_api", `HTTP ${reply.status} with ${describeBody(reply)}: check the base URL`);
}

export function refusalOf(reply: Reply): Refusal | undefined {
  const { status, frames, text } = reply;
  const failed = frames.find((frame) => frame.type === "error" || frame.type === "response.failed");
  if (failed !== undefined) {
    const response = failed.body?.["response"];
    const source = isObject(response) ? response : failed.body;
    const inner = source?.["error"];
    return envelope(isObject(inner) ? inner : source, { status, inStream: true }, failed.data);
  }
  const { error } = objectOf(tryParseJson(text));
  if (status >= 200 && status <= 399 && !isObject(error)) return undefined;
  return envelope(error, { status, inStream: false }, text);
}

function envelope(error: unknown, where: Pick<Refusal, "status" | "inStream">, raw: string): Refusal {
  const fields = objectOf(error);
  const message = stringOf(fields["message"]);
  return {
    ...where,
    message: (message ?? (raw.trim() || "no body")).slice(0, 2000),
    type: stringOf(fields["type"]) ?? null,
    code: stringOf(fields["code"]) ?? null,
    param: stringOf(fields["param"]) ?? null,
    shape: message === undefined ? "other" : "api",
  };
}

export function describe(refusal: Refusal): string {
  const { status, inStream, code, param, message } = refusal;
  const where = inStream ? ", then an error in the stream" : "";
  return `HTTP ${status}${where}, code ${code ?? "null"}, param ${param ?? "null"}: ${message}`;
}

export function describeBody({ headers, text }: Reply): string {
  const type = (headers["content-type"] ?? "no content type").split(";")[0] ?? "";
  return text.trim() === "" ? `no body (${type})` : `${type}, "${text.trim().slice(0, 80)}"`;
}
