/** The emulator's Anthropic Messages dialect. */

import { accountOf, bearerOf } from "../accounts.ts";
import type { Call, Dialect, JudgedRequest, ReadRequest } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { composeMessage } from "./compose-message.ts";
import { errorBody, refusalOfFault } from "./http-errors.ts";
import { judgeMessages, readMessages, standingOf } from "./judge-request.ts";
import type { ParsedMessages } from "./judge/request-shape.ts";
import { viewOf } from "./model-view.ts";
import { keyMissing, keyWrong, promptTooLong, requestTooLarge } from "./refusals.ts";
import { routes } from "./routes.ts";

export const anthropicMessages: Dialect = {
  name: "anthropic-messages",
  // Both APIs list models at the same path; only this one requires a version header.
  owns: (path, headers) =>
    path.startsWith("/messages") || (path.startsWith("/models") && "anthropic-version" in headers),
  create: /^\/messages\/?$/,
  routes,
  maxBodyBytes: 32 * 1024 * 1024,
  account: (engine, headers) =>
    accountOf({
      key: headers["x-api-key"] ?? bearerOf(headers["authorization"]),
      accounts: engine.options.accounts,
      strict: engine.strict,
      missing: keyMissing,
      wrong: keyWrong,
    }),
  read(engine, call) {
    const parsed = readMessages(engine, call);
    return "rule" in parsed ? parsed : readable(engine, parsed, call);
  },
  errorBody,
  refusalOfFault,
  tooLarge: requestTooLarge,
  responseHeaders: ({ requestId, account }) => ({
    "request-id": requestId,
    ...(account === "" ? {} : { "anthropic-organization-id": account }),
    "anthropic-ratelimit-requests-limit": "4000",
    "anthropic-ratelimit-requests-remaining": "3999",
    "anthropic-ratelimit-tokens-limit": "2000000",
    "anthropic-ratelimit-tokens-remaining": "1999000",
  }),
};

function readable(engine: Engine, request: ParsedMessages, call: Call): ReadRequest {
  return {
    model: request.model,
    inputItems: request.messages.length,
    judge(): JudgedRequest {
      const judged = judgeMessages(engine, request, {
        account: call.account,
        conversationHeader: call.headers["x-emulator-conversation"],
      });
      const { contextTokens } = request.traits;
      return {
        conversation: judged.conversation,
        refusals: judged.refusals,
        head: `${request.system}\n${request.toolsText}`,
        texts: judged.context.blocks.map((block) => block.text),
        sent: [...judged.usable.values()].map((payload) => payload.id),
        dropped: judged.history.dropped,
        standing: standingOf(engine, judged),
        tooLong: (tokens) => (tokens > contextTokens ? promptTooLong(tokens, contextTokens) : undefined),
        view: () => viewOf(engine, judged),
        compose: (options) => composeMessage(engine, judged, options),
      };
    },
  };
}
