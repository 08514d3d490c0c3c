/**
 * How the command of `run_command` ended. The tool writes it as the last line of its result. Only that line counts: the
 * lines before it are the command's own output, which may look the same.
 */

export type CommandEnding =
  | { readonly type: "exited"; readonly code: number }
  | { readonly type: "ended"; readonly signal: string }
  | { readonly type: "timed_out" }
  | { readonly type: "cancelled" }
  | { readonly type: "not_started" };

export function commandEnding(text: string): CommandEnding | undefined {
  const last = text.slice(text.lastIndexOf("\n") + 1);
  const code = /^\[exit code (\d{1,10})\]$/.exec(last)?.[1];
  if (code !== undefined) return { type: "exited", code: Number(code) };
  const signal = /^\[ended by signal (SIG[A-Z0-9]{1,12})\]$/.exec(last)?.[1];
  if (signal !== undefined) return { type: "ended", signal };
  if (/^\[timed out after \d+ ms;[^\]]*\]$/.test(last)) return { type: "timed_out" };
  if (/^\[cancelled;[^\]]*\]$/.test(last)) return { type: "cancelled" };
  return /^\[not started:[^\]]*\]$/.test(last) ? { type: "not_started" } : undefined;
}

/** What to say of an ending; nothing of a command that succeeded. */
export function endingWords(ending: CommandEnding): string | undefined {
  switch (ending.type) {
    case "exited":
      return ending.code === 0 ? undefined : `exit ${ending.code}`;
    case "ended":
      return `ended by ${ending.signal}`;
    case "timed_out":
      return "timed out";
    case "cancelled":
      return "stopped";
    case "not_started":
      return "not executed";
    default:
      return ending satisfies never;
  }
}
