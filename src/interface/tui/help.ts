/**
 * What `/help` says: keys side by side where there is room, then the commands. Whoever asks for help has 24 rows, and
 * the footer needs five of them (measured at 80 columns).
 */

import { COMMANDS } from "./commands.ts";
import { widthOf } from "./terminal-library.ts";

type Entry = readonly [what: string, about: string];

/** Of the full interface. */
export const KEYS: readonly Entry[] = [
  ["Enter", "send; in a turn: queue"],
  ["Alt+Enter", "new line (also Ctrl+J)"],
  ["Esc", "stop; the queue is sent"],
  ["Ctrl+C", "stop, clear; twice: leave"],
  ["Alt+Up", "take the queue back"],
  ["Up, Down", "earlier messages"],
  ["Ctrl+T", "fold or unfold thoughts"],
  ["Ctrl+O", "fold or unfold tool output"],
  ["Ctrl+L", "choose a model"],
  ["@", "name a file"],
];

const GAP = "  ";
/** Below this, what a command takes is left out: the list that completes its name is at hand. */
const NARROW = 60;

export function helpText(keys: readonly Entry[], width: number): string {
  const commands = COMMANDS.filter(({ name }) => name !== "/help").map(({ name, argument, about }): Entry => {
    const takes = argument === undefined || width < NARROW ? "" : ` ${argument}`;
    return [name + takes, about];
  });
  return [...sideBySide(keys, width), ...aligned(commands)].join("\n");
}

/** Two columns, where both fit whole. */
function sideBySide(entries: readonly Entry[], width: number): readonly string[] {
  const half = Math.ceil(entries.length / 2);
  const left = aligned(entries.slice(0, half));
  const right = aligned(entries.slice(half));
  const wide = widest(left);
  if (wide + GAP.length + widest(right) > width) return aligned(entries);
  return left.map((row, at) => `${padded(row, wide)}${GAP}${right[at] ?? ""}`.trimEnd());
}

function aligned(entries: readonly Entry[]): readonly string[] {
  const wide = widest(entries.map(([what]) => what));
  return entries.map(([what, about]) => `${padded(what, wide)}${GAP}${about}`);
}

function widest(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => widthOf(text)));
}

function padded(text: string, width: number): string {
  return text + " ".repeat(width - widthOf(text));
}
