/** What an error names: the item, the place, the field, the calls. Healing begins there (failures.md §5). */

import type { ErrorInfo } from "../../base/events/index.ts";

export interface NamedInError {
  /** Ids of items, as OpenAI's texts quote them. */
  readonly itemIds: readonly string[];
  /** As `ItemSource.path`: `input[3]`, `messages.5.content.1`, `messages.33`. */
  readonly path?: string | undefined;
  /** Of the item at `path`, or of the request itself; nested ones with dots. */
  readonly field?: string;
  readonly callIds: readonly string[];
}

export function namedInError(info: ErrorInfo): NamedInError {
  const { path, field } = whereOf(info);
  return {
    itemIds: [...info.message.matchAll(/\b(?:rs|msg|fc|ctc|ws|cmp|ig|mcp)_[A-Za-z0-9_-]+/g)].map(
      ([id]) => id,
    ),
    path,
    ...(field === undefined || field === "" ? {} : { field }),
    callIds: callIdsIn(info.message),
  };
}

interface Where {
  readonly path?: string;
  readonly field?: string | undefined;
}

function whereOf({ param, message }: ErrorInfo): Where {
  return (
    responsesPath(param ?? /'(input\[\d+\][^']*)'/.exec(message)?.[1] ?? "") ??
    messagesPath(param ?? "") ??
    messagesPath(message) ?? { field: parameterOf(param, message) }
  );
}

function responsesPath(where: string): Where | undefined {
  const found = /^(input\[\d+\])(?:\.([A-Za-z_]+))?/.exec(where);
  if (found?.[1] === undefined) return undefined;
  return { path: found[1], field: found[2] };
}

/**
 * Claude: `messages.3.content.1.tool_use.id: …`; Groq: `'messages.1' : … property 'reasoning_content' is unsupported`;
 * Mistral's `loc` joined with dots; Moonshot: `assistant tool call message at index 32`.
 */
function messagesPath(text: string): Where | undefined {
  const old = /^The `([a-z_]+)` field is not allowed .*\(messages\[(\d+)\]\)/.exec(text);
  if (old !== null) return { path: `messages.${old[2]}`, field: old[1] };
  const kimi = /message at index (\d+)/.exec(text)?.[1];
  if (kimi !== undefined) return { path: `messages.${kimi}` };
  const found = /^'?(?:body\.)?(messages\.\d+(?:\.content\.\d+)?)((?:\.[A-Za-z_]+)*)/.exec(text);
  if (found?.[1] === undefined) return undefined;
  const field = found[2]?.split(".").at(-1) || /property '([A-Za-z_]+)' is unsupported/.exec(text)?.[1];
  return { path: found[1], ...(field === undefined || field === "" ? {} : { field }) };
}

/** `Unknown parameter: 'reasoning.mode'.`, `thinking.block_binding: Extra inputs are not permitted`. */
function parameterOf(param: string | undefined, message: string): string | undefined {
  const quoted = /parameter: '([A-Za-z_.]+)'/.exec(message)?.[1];
  const led = /^([a-z_]+(?:\.[a-z_]+)*): (?:Extra inputs|Input should|Field required)/.exec(message)?.[1];
  const named = quoted ?? param?.replace(/^body\./, "") ?? led;
  return named === "input" || named === "messages" ? undefined : named;
}

function callIdsIn(message: string): readonly string[] {
  const one =
    /(?:function call|tool call|call_id|custom tool call) (call_[A-Za-z0-9_-]+|[A-Za-z0-9_-]{8,64})\.?$/.exec(
      message,
    )?.[1];
  if (one !== undefined) return [one];
  const list =
    /`tool_use` ids were found without `tool_result` blocks immediately after: ([^.]+)\./.exec(
      message,
    )?.[1] ??
    /did not have response messages: (.+?)\.?$/.exec(message)?.[1] ??
    /unexpected `tool_use_id` found in `tool_result` blocks: ([^.]+)\./.exec(message)?.[1];
  return list === undefined ? [] : list.split(",").map((id) => id.trim());
}
