/** Shared by the two AI SDK formats: how parts carry the provider's ids and payloads. */

import { isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import type { Block, FoundBlock } from "../block-history.ts";
import type { HistoryDialect } from "../history.ts";
import type { RecordEdits } from "../record-edits.ts";

/** The provider that made the parts: the last one that their metadata names. */
export function aiSdkDialect(metadata: readonly JsonObject[]): HistoryDialect {
  const last = metadata.findLast((one) => providerOf(one) !== undefined) ?? {};
  const provider = providerOf(last);
  if (provider === "openai" || provider === "azure") return "openai-responses";
  return provider === "anthropic" || provider === "bedrock" ? "anthropic-messages" : "openai-chat";
}

const PROVIDERS = ["openai", "azure", "anthropic", "bedrock"];

/** Whether the metadata names a provider that has a dialect of its own. */
export function hasAiSdkProvider(metadata: JsonObject): boolean {
  return providerOf(metadata) !== undefined;
}

function providerOf(metadata: JsonObject): string | undefined {
  return PROVIDERS.find((name) => isObject(metadata[name]));
}

/** Converts a part of an answer. Undefined if it is not sent. `callName` names a call that has no name. */
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

/** Ids and payloads of the provider that the history goes to. Like the SDK, drops those of other providers. */
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

/** The SDK itself skips a thought that cannot be sent back: another provider's, or one without a payload. */
function isSentReasoning(block: Pick<Block, "id" | "payload">, dialect: HistoryDialect): boolean {
  if (dialect === "openai-responses") return block.id !== undefined || block.payload !== undefined;
  return dialect === "openai-chat" || block.payload !== undefined;
}

const METADATA = ["providerOptions", "providerMetadata", "callProviderMetadata"];

/** No other member of a part is a field of the request. */
export function stripAiSdkId(edits: RecordEdits, { element, path }: Block, field: string): void {
  if (field !== "id" || path.length === 0) return;
  for (const name of METADATA)
    for (const provider of ["openai", "azure"]) edits.removeAt(element, [...path, name, provider, "itemId"]);
}
