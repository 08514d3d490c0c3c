/** The emulator's OpenAI Responses dialect. */

import { accountOf, bearerOf, redacted } from "../accounts.ts";
import { refuse, type ApiRefusal } from "../api-refusal.ts";
import type { Call, Dialect, JudgedRequest, ReadRequest } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { composeAnswer } from "./compose-answer.ts";
import { refusalOfFault } from "./http-errors.ts";
import { judgeRequest, readRequest, standingOf } from "./judge-request.ts";
import { contextTooLong, errorBody } from "./judge/refusals.ts";
import type { ParsedRequest } from "./judge/request-shape.ts";
import { viewOf } from "./model-view.ts";
import { routes } from "./routes.ts";

const maxBodyBytes = 64 * 1024 * 1024;

export const openaiResponses: Dialect = {
  name: "openai-responses",
  owns: (path) => path.startsWith("/responses"),
  create: /^\/responses\/?$/,
  routes,
  maxBodyBytes,
  account: (engine, headers) =>
    accountOf({
      key: bearerOf(headers["authorization"]),
      organisation: headers["openai-organization"],
      accounts: engine.options.accounts,
      strict: engine.strict,
      missing: keyMissing,
      wrong: keyWrong,
    }),
  read(engine, call) {
    const parsed = readRequest(engine, call.text);
    return "rule" in parsed ? parsed : readable(engine, parsed, call);
  },
  errorBody,
  refusalOfFault,
  tooLarge: () =>
    refuse({
      rule: "X-large",
      status: 413,
      message: `The request body is too large: the maximum is ${maxBodyBytes} bytes.`,
      code: "request_too_large",
    }),
  responseHeaders: ({ requestId, account, elapsedMs }) => ({
    "x-request-id": requestId,
    "openai-processing-ms": String(elapsedMs),
    "openai-version": "2020-10-01",
    ...(account === "" ? {} : { "openai-organization": account }),
    "x-ratelimit-limit-requests": "5000",
    "x-ratelimit-limit-tokens": "2000000",
    "x-ratelimit-remaining-requests": "4999",
    "x-ratelimit-remaining-tokens": "1999000",
    "x-ratelimit-reset-requests": "12ms",
    "x-ratelimit-reset-tokens": "30ms",
  }),
};

function readable(engine: Engine, request: ParsedRequest, call: Call): ReadRequest {
  return {
    model: request.model,
    inputItems: request.input.length,
    judge(): JudgedRequest | ApiRefusal {
      const judged = judgeRequest(engine, request, {
        account: call.account,
        conversationHeader: call.headers["x-emulator-conversation"],
      });
      if ("rule" in judged) return judged;
      const { history } = judged;
      return {
        conversation: judged.conversation,
        refusals: judged.refusals,
        head: request.head,
        texts: request.input.map((item) => item.text),
        sent: [...history.usable.values()].map((sealed) => sealed.id).filter((id) => id.startsWith("rs_")),
        dropped: history.dropped,
        standing: standingOf(engine, judged),
        tooLong: (tokens) => (tokens > request.traits.contextTokens ? contextTooLong() : undefined),
        view: () => viewOf(engine, judged),
        compose: (options) => composeAnswer(engine, judged, options),
      };
    },
  };
}

const keyMissing = (): ApiRefusal =>
  refuse({
    rule: "X-key-missing",
    status: 401,
    message:
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API from your browser and are prompted for a username and password.",
  });

const keyWrong = (key: string): ApiRefusal =>
  refuse({
    rule: "X-key",
    status: 401,
    message: `Incorrect API key provided: ${redacted(key)}. You can find your API key at https://platform.openai.com/account/api-keys.`,
    code: "invalid_api_key",
  });
