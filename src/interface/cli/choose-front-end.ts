/** Opens a chat if a person is at both ends of the terminal and no flag says otherwise; answers once everywhere else. */

import type { RunFlags } from "./open-session.ts";
import type { Terminal } from "./terminal.ts";

export async function runOrChat(
  words: readonly string[],
  flags: RunFlags,
  terminal: Terminal,
): Promise<number> {
  const { playback } = flags;
  if (playback !== undefined) {
    return (await import("./playback/play-back.ts")).playBack(words, { ...flags, playback }, terminal);
  }
  if (terminal.interactive && flags.print !== true && flags.json !== true) {
    return (await import("./chat.ts")).chat(words, flags, terminal);
  }
  return (await import("./run-once.ts")).runOnce(words, flags, terminal);
}
