/**
 * What the server says to a request that nobody can answer. Clients branch on these.
 *
 * @module
 */

import { ASK, bodyOf, type Context } from "../context.ts";
import { differs, holds, type Outcome, type Probe, Skip } from "../probe.ts";
import { describe, isDecisive, type Refusal, refusalOf } from "../reception.ts";

interface Wanted {
  readonly status: readonly number[];
  readonly code?: readonly (string | null)[];
  readonly param?: string;
}

const details = { suite: "responses", strict: true } as const;
const WRONG_KEY = "sk-wrong-throughline-conform";
const NO_MODEL = "unknown-model-throughline-conform";

export const ERROR_PROBES: readonly Probe[] = [
  {
    id: "errors.bad-request",
    ...details,
    title: "a wrong type is refused with status, message, type, code and param",
    why: "§2.6, S11",
    run: async (context) =>
      refused(await badRequest(context, false), {
        status: [400],
        code: ["invalid_type"],
        param: "max_output_tokens",
      }),
  },
  {
    id: "errors.bad-request-stream",
    ...details,
    title: "the same with stream: true: an HTTP error, not a stream that fails",
    why: "§2.6, E12",
    run: async (context) =>
      refused(await badRequest(context, true), {
        status: [400],
        code: ["invalid_type"],
        param: "max_output_tokens",
      }),
  },
  {
    id: "errors.malformed-json",
    ...details,
    title: "a body that is not JSON is refused in the API's error shape",
    why: "§2.6",
    async run(context) {
      const exchange = await context.post('{"model": "m", "input": ', { enough: isDecisive });
      return refused(refusalOf(exchange), { status: [400] });
    },
  },
  {
    id: "errors.unknown-model",
    ...details,
    title: "a model that does not exist is refused as model_not_found",
    why: "§2.6",
    async run(context) {
      const exchange = await context.post(bodyOf({ model: NO_MODEL }, [ASK]), { enough: isDecisive });
      return refused(refusalOf(exchange), { status: [400, 404], code: ["model_not_found"] });
    },
  },
  {
    id: "errors.wrong-key",
    ...details,
    title: "a wrong key is refused with 401",
    why: "§2.6, E04",
    async run(context) {
      if (context.target.endpoint.key === undefined) throw new Skip("no key is in use");
      const body = bodyOf({ model: context.model, stream: true }, [ASK]);
      const exchange = await context.post(body, { key: WRONG_KEY, enough: isDecisive });
      return refused(refusalOf(exchange), { status: [401], code: ["invalid_api_key"] });
    },
  },
];

async function badRequest(context: Context, stream: boolean): Promise<Refusal | undefined> {
  const fields = { ...(await context.base()), stream, max_output_tokens: "many" };
  return refusalOf(await context.send([ASK], fields, { enough: isDecisive }));
}

function refused(refusal: Refusal | undefined, wanted: Wanted): Outcome {
  const code = wanted.code === undefined ? "" : `, code ${wanted.code.join(" or ")}`;
  const param = wanted.param === undefined ? "" : `, param ${wanted.param}`;
  const expected = `refused with HTTP ${wanted.status.join(" or ")}${code}${param} and {"error": {message, type, …}}`;
  if (refusal === undefined) return differs(expected, "accepted", { accepted: true });
  const same =
    wanted.status.includes(refusal.status) &&
    !refusal.inStream &&
    refusal.shape === "api" &&
    refusal.type !== null &&
    (wanted.code?.includes(refusal.code) ?? true) &&
    (wanted.param === undefined || wanted.param === refusal.param);
  return same ? holds(describe(refusal)) : differs(expected, describe(refusal));
}
