/** What the two formats of the AI SDK share: how its parts carry the provider's ids and payloads. */

import { isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import type { Block, FoundBlock } from "../block-history.ts";
import type { HistoryDialect } from "../history.ts";
import type { RecordEdits } from "../record-edits.ts";

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

/** A part of an answer; undefined: it is not sent. `callName`: what it is called where it is a call without a name. */
export function answerPart(
  part: JsonObject,
  about: {
    readonly dialect: HistoryDialect;
    readonly metadata: unknown;
    readonly callName: string | undefined;
  },
): FoundBlock | undefined {
  const { dialect, metadata, callName } = about;
  const text = stringOf(part["text"]) ?? "";
  const identity = identityOf(objectOf(metadata), dialect);
  if (part["type"] === "text") return text === "" ? undefined : { kind: "text", text, id: identity.id };
  if (part["type"] === "reasoning")
    return isSentReasoning(identity, dialect) ? { kind: "reasoning", text, ...identity } : undefined;
  if (callName === undefined || part["providerExecuted"] === true) return undefined;
  return {
    kind: "call",
    callId: stringOf(part["toolCallId"]) ?? "",
    name: stringOf(part["toolName"]) ?? callName,
    arguments: JSON.stringify(part["input"] ?? {}),
  };
}

/** Ids and payloads of the provider the history goes to; others stay behind, as the SDK leaves them. */
function identityOf(
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
function isSentReasoning(block: Pick<Block, "id" | "payload">, dialect: HistoryDialect): boolean {
  if (dialect === "openai-responses") return block.id !== undefined || block.payload !== undefined;
  return dialect === "openai-chat" || block.payload !== undefined;
}

const METADATA = ["providerOptions", "providerMetadata", "callProviderMetadata"];

/** Nothing else of a part is a field of the request. */
export function stripAiSdkId(edits: RecordEdits, { element, path }: Block, field: string): void {
  if (field !== "id" || path.length === 0) return;
  for (const name of METADATA)
    for (const provider of ["openai", "azure"]) edits.removeAt(element, [...path, name, provider, "itemId"]);
}
