/** Claude: roles, results, server tools, thinking, text (failures.md C, S06; dialects of 2026). */

import {
  first,
  type Issued,
  type Json,
  type Judge,
  list,
  object,
  refuse,
  type Refusal,
  text,
  TOOL_NAME,
} from "./judgement.ts";

interface Message {
  readonly role: string;
  readonly blocks: readonly Json[];
}

/** The messages as the API reads them: neighbours of one role are one message. */
function joined(body: Json): readonly Message[] {
  const messages: { role: string; blocks: Json[] }[] = [];
  for (const one of list(body["messages"])) {
    const content = one["content"];
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : list(content);
    const last = messages.at(-1);
    if (last !== undefined && last.role === one["role"]) last.blocks.push(...blocks);
    else messages.push({ role: text(one["role"]), blocks: [...blocks] });
  }
  return messages;
}

const INPUT_BLOCKS =
  /^(?:text|image|document|search_result|tool_use|tool_result|thinking|redacted_thinking|server_tool_use|mcp_tool_use|mcp_tool_listing|container_upload|compaction|fallback|[a-z_]+_tool_result)$/;

export const judgeMessages: Judge = (body, issued) => {
  const messages = joined(body);
  return (
    first(list(body["messages"]), blank) ??
    first(messages, (message, index) =>
      first(message.blocks, (block, part) => shape(block, `messages.${index}.content.${part}`)),
    ) ??
    first(messages, (message, index) => results(message, messages[index + 1], index)) ??
    first(messages, (message, index) => owed(message, messages[index - 1], index)) ??
    serverTools(messages) ??
    callers(messages) ??
    thoughts(messages, issued) ??
    pending(body, messages, issued) ??
    ending(messages, issued)
  );
};

function blank(message: Json): Refusal | undefined {
  const content = message["content"];
  const texts =
    typeof content === "string"
      ? [content]
      : list(content)
          .filter((one) => one["type"] === "text")
          .map((one) => text(one["text"]));
  if (texts.includes("")) return refuse("messages: text content blocks must be non-empty");
  if (texts.length > 0 && texts.every((one) => one.trim() === "")) {
    return refuse("messages: text content blocks must contain non-whitespace text");
  }
  if (Array.isArray(content) && content.length === 0) {
    return refuse(
      "messages: all messages must have non-empty content except for the optional final assistant message",
    );
  }
  return undefined;
}

function shape(block: Json, path: string): Refusal | undefined {
  const type = text(block["type"]);
  if (!INPUT_BLOCKS.test(type)) {
    return refuse(`${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`);
  }
  if (type === "tool_use" && !TOOL_NAME.test(text(block["name"]))) {
    return refuse(`${path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`);
  }
  if (type === "tool_use" && !/^[a-zA-Z0-9_-]+$/.test(text(block["id"]))) {
    return refuse(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  }
  const extra = Object.keys(block).find((key) => key === "deltas" || key === "parsed_output");
  return extra === undefined ? undefined : refuse(`${path}.${type}.${extra}: Extra inputs are not permitted`);
}

function results({ role, blocks }: Message, next: Message | undefined, index: number): Refusal | undefined {
  if (role !== "assistant") return undefined;
  const calls = blocks.filter((block) => block["type"] === "tool_use").map((block) => text(block["id"]));
  const given = new Set(
    (next?.blocks ?? [])
      .filter((block) => block["type"] === "tool_result")
      .map((block) => block["tool_use_id"]),
  );
  const missing = calls.filter((id) => !given.has(id));
  return missing.length === 0
    ? undefined
    : refuse(
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
}

function owed({ role, blocks }: Message, before: Message | undefined, index: number): Refusal | undefined {
  if (role !== "user") return undefined;
  const calls = new Set(
    (before?.blocks ?? []).filter((block) => block["type"] === "tool_use").map((block) => block["id"]),
  );
  return first(blocks, (block, part) =>
    block["type"] === "tool_result" && !calls.has(block["tool_use_id"])
      ? refuse(
          `messages.${index}.content.${part}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${text(block["tool_use_id"])}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        )
      : undefined,
  );
}

/** A server call and its result go together. A pending call is in the last answer, followed only by results. */
function serverTools(messages: readonly Message[]): Refusal | undefined {
  const open = new Map<string, string>();
  for (const [index, { role, blocks }] of messages.entries()) {
    for (const [part, block] of blocks.entries()) {
      const type = text(block["type"]);
      const path = `messages.${index}.content.${part}`;
      if (type === "server_tool_use" || type === "mcp_tool_use") {
        const name = type === "mcp_tool_use" ? "mcp" : text(block["name"]);
        open.set(
          text(block["id"]),
          `${path}: \`${name}\` tool use with id \`${text(block["id"])}\` was found without a corresponding \`${name}_tool_result\` block`,
        );
      } else if (type.endsWith("_tool_result") && type !== "tool_result") {
        const id = text(block["tool_use_id"]);
        if (!open.delete(id)) {
          return refuse(
            `${path}: unexpected \`tool_use_id\` found in \`${type}\` blocks: ${id}. Each \`${type}\` block must have a corresponding \`server_tool_use\` block before it.`,
          );
        }
      }
    }
    const [message] = open.values();
    const goesOn = role === "user" && blocks.every((block) => block["type"] === "tool_result");
    if (role === "user" && !goesOn && message !== undefined) return refuse(message);
  }
  return undefined;
}

function callers(messages: readonly Message[]): Refusal | undefined {
  const servers = new Set<unknown>();
  for (const { blocks } of messages) {
    for (const block of blocks) {
      if (block["type"] === "server_tool_use") servers.add(block["id"]);
      const source = object(block["caller"])["tool_id"];
      if (source !== undefined && !servers.has(source)) {
        return refuse(
          `source tool \`${text(source)}\` not found for tool use block \`${text(block["id"])}\``,
        );
      }
    }
  }
  return undefined;
}

function thoughts(messages: readonly Message[], { answers }: Issued): Refusal | undefined {
  const known = new Set(answers.flat().map((block) => block["signature"] ?? block["data"]));
  return first(messages, ({ role, blocks }, index) => {
    if (role === "assistant" && text(blocks.at(-1)?.["type"]).endsWith("thinking")) {
      return refuse(`messages.${index}: The final block in an assistant message cannot be \`thinking\`.`);
    }
    return first(blocks, (block, part) => {
      if (block["type"] !== "thinking" && block["type"] !== "redacted_thinking") return undefined;
      return known.has(block["signature"] ?? block["data"])
        ? undefined
        : refuse(`messages.${index}.content.${part}: Invalid \`signature\` in \`thinking\` block`);
    });
  });
}

/** Code that waits for a client's tool runs in a container, which must be named. Code that only paused needs none. */
function pending(body: Json, messages: readonly Message[], { container }: Issued): Refusal | undefined {
  const blocks = messages.flatMap((message) => message.blocks);
  const done = new Set(blocks.map((block) => block["tool_use_id"]));
  const waits = blocks.some(
    (block) =>
      block["type"] === "server_tool_use" &&
      !done.has(block["id"]) &&
      /code_execution/.test(text(block["name"])),
  );
  const id = typeof body["container"] === "string" ? body["container"] : object(body["container"])["id"];
  return waits && messages.at(-1)?.role === "user" && (id === undefined || id !== container)
    ? refuse(
        "container_id is required when there are pending tool uses generated by code execution with tools.",
      )
    : undefined;
}

function ending(messages: readonly Message[], { paused }: Issued): Refusal | undefined {
  return messages.at(-1)?.role === "assistant" && !paused
    ? refuse(
        "This model does not support assistant message prefill. The conversation must end with a user message.",
      )
    : undefined;
}
