/**
 * Opens a chat if a person is at both ends of the terminal and no flag says otherwise; answers once everywhere else. A
 * schema is for one answer.
 */

import { codedError } from "../../base/support/index.ts";
import type { RunFlags } from "./open-session.ts";
import type { Terminal } from "./terminal.ts";

export async function runOrChat(
  words: readonly string[],
  flags: RunFlags,
  terminal: Terminal,
): Promise<number> {
  const { playback } = flags;
  const alone = flags.fast === true ? "--fast" : flags.strict === true ? "--strict" : undefined;
  if (playback === undefined && alone !== undefined)
    throw codedError("usage", `${alone} works only with --playback <file>: add it, or omit ${alone}`);
  if (playback !== undefined) {
    return (await import("./playback/play-back.ts")).playBack(words, { ...flags, playback }, terminal);
  }
  const once = flags.print === true || flags.json === true || flags.outputSchema !== undefined;
  if (terminal.interactive && !once) {
    return (await import("./chat.ts")).chat(words, flags, terminal);
  }
  return (await import("./run-once.ts")).runOnce(words, flags, terminal);
}
