/** Error responses to invalid requests. Clients branch on these. */

import { describe, ONLY_DECIDE, refusalOf } from "../acceptance.ts";
import { ASK, bodyOf, type Context } from "../context.ts";
import { differs, holds, type Verdict, probesOf, Skip } from "../probe.ts";
import type { Reply } from "../reply.ts";

interface Wanted {
  readonly status: readonly number[];
  readonly code?: readonly (string | null)[];
  readonly param?: string;
}

const WRONG_KEY = "sk-wrong-throughline-conform";
const NO_MODEL = "unknown-model-throughline-conform";

export const ERROR_PROBES = probesOf("responses", {
  "errors.bad-request": {
    title: "a wrong type is refused with status, message, type, code and param",
    why: "§2.6, S11",
    run: (context) => badRequest(context, false),
  },
  "errors.bad-request-stream": {
    title: "the same with stream: true: an HTTP error, not a stream that fails",
    why: "§2.6, E12",
    run: (context) => badRequest(context, true),
  },
  "errors.malformed-json": {
    title: "a body that is not JSON is refused in the API's error shape",
    why: "§2.6",
    run: (context) => refused(context.post('{"model": "m", "input": ', ONLY_DECIDE), { status: [400] }),
  },
  "errors.unknown-model": {
    title: "a model that does not exist is refused as model_not_found",
    why: "§2.6",
    run: (context) =>
      refused(context.post(bodyOf({ model: NO_MODEL }, [ASK]), ONLY_DECIDE), {
        status: [400, 404],
        code: ["model_not_found"],
      }),
  },
  "errors.wrong-key": {
    title: "a wrong key is refused with 401",
    why: "§2.6, E04",
    async run(context) {
      if (context.target.endpoint.key === undefined) throw new Skip("no key is in use");
      const body = bodyOf({ model: context.model, stream: true }, [ASK]);
      const sent = context.post(body, { ...ONLY_DECIDE, key: WRONG_KEY });
      return refused(sent, { status: [401], code: ["invalid_api_key"] });
    },
  },
});

async function badRequest(context: Context, stream: boolean): Promise<Verdict> {
  const fields = { ...(await context.base()), stream, max_output_tokens: "many" };
  const wanted = { status: [400], code: ["invalid_type"], param: "max_output_tokens" };
  return refused(context.send([ASK], fields, ONLY_DECIDE), wanted);
}

async function refused(sent: Promise<Reply>, wanted: Wanted): Promise<Verdict> {
  const refusal = refusalOf(await sent);
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
