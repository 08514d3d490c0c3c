/**
 * The tools of a recording: each call returns its recorded result. Nothing runs, because a recording may come from
 * someone else, whose tool calls must have no effect on this machine.
 */

import type { LoggedEvent, ToolCall, ToolResult, ToolSpec } from "../../../base/events/index.ts";
import { tryParseJson } from "../../../base/support/index.ts";
import { type Tool, type ToolAccess, type ToolOutcome, toolOutcome } from "../../../runtime/tools/index.ts";

export interface RecordedToolsOptions {
  readonly specs: readonly ToolSpec[];
  readonly access: Readonly<Record<string, string>>;
  /** The tools whose calls ran one at a time. */
  readonly serial?: readonly string[] | undefined;
  readonly events: readonly LoggedEvent[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  /** Called when playback reaches the tool call during which the recorded turn was stopped. */
  readonly onStopped: () => void;
}

export function recordedTools(options: RecordedToolsOptions): readonly Tool[] {
  const { events } = options;
  const calls = events.filter((event): event is ToolCall => event.type === "tool_call");
  const results = new Map(
    events
      .filter((event): event is ToolResult => event.type === "tool_result")
      .map((event) => [event.callId, event]),
  );
  return options.specs.map(({ name, description, parameters, strict }) => ({
    name,
    description,
    parameters,
    strict,
    access: accessOf(options.access[name]),
    idempotent: false,
    parallel: options.serial?.includes(name) !== true,
    ruleOn:
      name === "run_command"
        ? "command"
        : name.endsWith("_file") || name.endsWith("_files")
          ? "path"
          : undefined,
    async validate(input) {
      const call = calls.find(
        (one) => one.name === name && JSON.stringify(tryParseJson(one.arguments)) === JSON.stringify(input),
      );
      const text = call === undefined ? "" : (results.get(call.callId)?.text ?? "");
      const misfit = `not executed: the arguments do not fit "${name}": `;
      return text.startsWith(misfit)
        ? { ok: false, message: text.slice(misfit.length) }
        : { ok: true, value: input };
    },
    async run(_input, { callId, signal }) {
      const result = results.get(callId);
      if (result === undefined) throw new Error("the recording holds no result of this call");
      const outcome = recordedOutcome(name, result, options.blobs);
      if (outcome !== undefined) return outcome;
      if (result.status === "ok") return result.text;
      if (result.status === "cancelled") {
        options.onStopped();
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          else signal.addEventListener("abort", () => resolve(), { once: true });
        });
      }
      const failed = `the tool "${name}" failed: `;
      throw new Error(result.text.startsWith(failed) ? result.text.slice(failed.length) : result.text);
    },
  }));
}

/**
 * What a tool returned that decided its status, its text or its images itself. Undefined if a text says it all, or if
 * the runtime ended the call.
 */
function recordedOutcome(
  name: string,
  { status, text, parts = [], forPerson }: ToolResult,
  blobs: ReadonlyMap<string, Uint8Array>,
): ToolOutcome | undefined {
  if (status !== "ok" && status !== "error" && status !== "outcome_unknown") return undefined;
  const plain = status === "ok" && parts.length === 0 && forPerson === undefined;
  if (plain || (status === "error" && text.startsWith(`the tool "${name}" failed: `))) return undefined;
  const images = parts.flatMap(({ mediaType, blob }) => {
    const bytes = blobs.get(blob);
    return bytes === undefined ? [] : [{ mediaType, data: Buffer.from(bytes).toString("base64") }];
  });
  return toolOutcome({ status, text, images, forPerson });
}

function accessOf(text: string | undefined): ToolAccess {
  return text === "read" || text === "write" ? text : "execute";
}
