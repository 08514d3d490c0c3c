/** Extracts what an error names: items, a path, a field, calls. Healing starts there (failures.md §5). */

import type { ErrorInfo } from "../../base/events/index.ts";

/**
 * Pseudo-fields for endpoints that refuse a user message right after a tool message, or after another user message. The
 * renderer then inserts an assistant message.
 */
export const USER_AFTER_TOOL = "user_after_tool";
export const USER_AFTER_USER = "user_after_user";

export interface NamedInError {
  /** Item ids, as OpenAI's messages quote them. */
  readonly itemIds: readonly string[];
  /** In the form of `ItemSource.path`: `input[3]`, `messages.5.content.1`, `messages.33`. */
  readonly path?: string | undefined;
  /** The index of the call within the message at `path`, from 0. */
  readonly call?: number | undefined;
  /** A field of the item at `path`, or of the request itself; nested fields use dots. */
  readonly field?: string;
  readonly callIds: readonly string[];
}

export function namedInError(info: ErrorInfo): NamedInError {
  const { path, call, field } = whereOf(info);
  return {
    itemIds: itemIdsIn(info.message),
    path,
    ...(call === undefined ? {} : { call }),
    ...(field === undefined || field === "" ? {} : { field }),
    callIds: callIdsIn(info.message),
  };
}

/** Finds ids by their known prefixes, and ids of any form where the message says "item with id". */
function itemIdsIn(message: string): readonly string[] {
  const known = message.matchAll(/\b(?:rs|msg|fc|ctc|ws|cmp|ig|mcp)_[A-Za-z0-9_-]+/g);
  const named = message.matchAll(/\b[Ii]tem (?:found )?with id '?([A-Za-z0-9_-]+)/g);
  return [...new Set([...[...known].map(([id]) => id), ...[...named].map(([, id = ""]) => id)])];
}

interface Where {
  readonly path?: string;
  readonly call?: number | undefined;
  readonly field?: string | undefined;
}

function whereOf({ param, message }: ErrorInfo): Where {
  const quoted = /'((?:input|messages)\[\d+\][^']*)'/.exec(message)?.[1] ?? "";
  return (
    responsesPath(param ?? quoted) ??
    messagesPath(param ?? "") ??
    messagesPath(quoted) ??
    messagesPath(message) ?? { field: parameterOf(param, message) }
  );
}

function responsesPath(where: string): Where | undefined {
  const found = /^(input\[\d+\])(?:\.([A-Za-z_]+))?/.exec(where);
  if (found?.[1] === undefined) return undefined;
  return { path: found[1], field: found[2] };
}

/**
 * Claude: `messages.3.content.1.tool_use.id: …`; OpenAI: `messages[1].tool_calls[0].function.name`, `messages.[2].role`;
 * Groq: `'messages.1' : … property 'reasoning_content' is unsupported`; Mistral's `loc` joined with dots; Moonshot:
 * `assistant tool call message at index 32`; DeepSeek: `… (messages[3])`.
 */
function messagesPath(text: string): Where | undefined {
  const old = /^The `([a-z_]+)` field is not allowed .*\(messages\[(\d+)\]\)/.exec(text);
  if (old !== null) return { path: `messages.${old[2]}`, field: old[1] };
  const index =
    /message at index (\d+)/.exec(text)?.[1] ?? /[ (]messages\[(\d+)\](?:\)|:| was )/.exec(text)?.[1];
  if (index !== undefined) return { path: `messages.${index}` };
  const dotted = text.replaceAll(/\.?\[(\d+)\]/g, ".$1");
  const found =
    /^'?(?:body\.)?(messages\.\d+(?:\.content\.\d+)?)(?:\.tool_calls\.(\d+))?((?:\.[A-Za-z_]+)*)/.exec(
      dotted,
    );
  if (found?.[1] === undefined) return undefined;
  const field = found[3]?.split(".").at(-1) || /property '([A-Za-z_]+)' is unsupported/.exec(text)?.[1];
  return {
    path: found[1],
    ...(found[2] === undefined ? {} : { call: Number(found[2]) }),
    ...(field === undefined || field === "" ? {} : { field }),
  };
}

/** How messages name a parameter; the first match wins. */
const PARAMETERS: readonly RegExp[] = [
  // `Unknown parameter: 'reasoning.mode'.`, `Unsupported value: 'reasoning_effort' does not support …`
  /(?:parameter|Unsupported value): '([A-Za-z_.]+)'/,
  // `tool_choice: type "tool" and "any" are not supported …`, `output_config.effort 'xhigh' is not supported …`
  /^([a-z_]+(?:\.[a-z_]+)*)(?:: type "[a-z]+" and| '[a-z]+' is not supported)/,
  /^([a-z_]+(?:\.[a-z_]+)*) '[^']*' is not supported/,
  // `"thinking.type.disabled" is not supported for this model. Use …`, `` `temperature` may only be set to 1 … ``
  /["'`]([a-z_]+(?:\.[a-z_]+)*)["'`] (?:is|are) not supported/,
  /^([a-z_]+(?:\.[a-z_]+)*) (?:is|are) not supported/,
  /^`([a-z_]+)` (?:may only be set|is deprecated)/,
  // `The 'stream_options' parameter is only allowed when …`, `'tool_choice' is only allowed when …`
  /'([a-z_]+)' (?:parameter )?is only allowed/,
  /Unrecognized request argument supplied: ([a-z_]+)/,
  /^property '([a-z_]+)' is unsupported/, // Groq and Cerebras, about the request itself
  /Unknown name "([A-Za-z_]+)"/,
];

/** Messages that imply a field without naming it. */
const IMPLIED: readonly (readonly [words: RegExp, field: string])[] = [
  [/Tool use is not allowed|tool_choice forces tool use|^tool_choice\b/, "tool_choice"],
  [/does not support thinking|adaptive thinking is not supported/, "thinking"],
  [/Unexpected role 'user' after role 'tool'/, USER_AFTER_TOOL],
  [/successive user or assistant messages/, USER_AFTER_USER],
];

function parameterOf(param: string | undefined, message: string): string | undefined {
  const quoted = PARAMETERS.map((pattern) => pattern.exec(message)?.[1]).find((name) => name !== undefined);
  const implied = IMPLIED.find(([words]) => words.test(message))?.[1];
  // `thinking.block_binding: Extra inputs are not permitted`, `Invalid 'tools[0].name': …`
  const led = /^([a-z_]+(?:\.[a-z_0-9]+)*): (?:Extra|Input|Field|String|List|Value) /.exec(message)?.[1];
  const invalid = /'([a-z_]+\[[^']*)'/.exec(message)?.[1];
  const named = implied ?? quoted ?? param?.replace(/^body\./, "") ?? led ?? invalid;
  return named === "input" || named === "messages" ? undefined : named;
}

const TOOL_ID = /\b(?:srvtoolu|mcptoolu|toolu)_[A-Za-z0-9_-]+/g;

function callIdsIn(message: string): readonly string[] {
  const one =
    /(?: call|call_id) (call_[A-Za-z0-9_-]+|[A-Za-z0-9_-]{8,64})\.?$/.exec(message)?.[1] ??
    /'tool_call_id' of '(.+)' not found/.exec(message)?.[1] ??
    /Tool call id was (.+) but must be/.exec(message)?.[1] ??
    /No program found for function call (\S+) with/.exec(message)?.[1];
  if (one !== undefined) return [one];
  const list =
    /`tool_use` ids were found without `tool_result` blocks immediately after: ([^.]+)\./.exec(
      message,
    )?.[1] ??
    /did not have response messages: (.+?)\.?$/.exec(message)?.[1] ??
    /unexpected `tool_use_id` found in `\w+` blocks: ([^.]+)\./.exec(message)?.[1] ??
    /`tool_result` blocks with id: (.+?)\.?$/.exec(message)?.[1];
  if (list !== undefined) return list.split(",").map((id) => id.trim());
  return [...new Set([...message.matchAll(TOOL_ID)].map(([id]) => id))];
}
