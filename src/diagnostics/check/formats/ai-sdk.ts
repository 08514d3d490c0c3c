/**
 * What the two formats of the AI SDK share: how its parts carry the provider's ids and payloads.
 *
 * @module
 */

import { isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import type { Block } from "../app-history.ts";
import type { HistoryDialect } from "../history.ts";

/** Which provider made the parts, told by their metadata: the last one that says so. */
export function aiSdkDialect(metadata: readonly JsonObject[]): HistoryDialect {
  const last = metadata.findLast((one) => providerOf(one) !== undefined) ?? {};
  const provider = providerOf(last);
  if (provider === "openai" || provider === "azure") return "openai-responses";
  return provider === "anthropic" || provider === "bedrock" ? "anthropic-messages" : "openai-chat";
}

const PROVIDERS = ["openai", "azure", "anthropic", "bedrock"];

function providerOf(metadata: JsonObject): string | undefined {
  return PROVIDERS.find((name) => isObject(metadata[name]));
}

/** Ids and payloads of the provider the history goes to; others stay behind, as the SDK leaves them. */
export function aiSdkIdentity(
  metadata: JsonObject,
  dialect: HistoryDialect,
): Pick<Block, "id" | "payload" | "redacted"> {
  if (dialect === "openai-responses") {
    const own = objectOf(metadata["openai"] ?? metadata["azure"]);
    const id = stringOf(own["itemId"]);
    const payload = stringOf(own["reasoningEncryptedContent"]);
    return { id, payload };
  }
  if (dialect !== "anthropic-messages") return {};
  const own = objectOf(metadata["anthropic"] ?? metadata["bedrock"]);
  const data = stringOf(own["redactedData"]);
  const signature = stringOf(own["signature"]);
  if (data !== undefined) return { payload: data, redacted: true };
  return signature === undefined ? {} : { payload: signature };
}

/** A thought that could not go back is passed over by the SDK itself: another provider's, or one without a payload. */
export function isSentReasoning(block: Pick<Block, "id" | "payload">, dialect: HistoryDialect): boolean {
  if (dialect === "openai-responses") return block.id !== undefined || block.payload !== undefined;
  return dialect === "openai-chat" || block.payload !== undefined;
}

export const ID_PATHS: readonly (readonly string[])[] = [
  ["openai", "itemId"],
  ["azure", "itemId"],
];
