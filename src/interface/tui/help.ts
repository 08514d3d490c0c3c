/**
 * The text of `/help`: keys in two columns if there is room, then the commands. It must fit a terminal of 24 rows, of
 * which the footer takes five (measured at 80 columns).
 */

import { COMMANDS, type Ports } from "./commands.ts";
import { widthOf } from "./terminal-library.ts";

type Entry = readonly [what: string, about: string];

/** The keys of the full interface. */
export const KEYS: readonly Entry[] = [
  ["Enter", "send; queue during a turn"],
  ["Alt+Enter", "new line (or Ctrl+J)"],
  ["Esc", "stop the turn, send queue"],
  ["Ctrl+C", "stop or clear; twice: exit"],
  ["Alt+Up", "edit queued messages"],
  ["Up, Down", "earlier messages"],
  ["Ctrl+T", "fold or unfold reasoning"],
  ["Ctrl+O", "fold or unfold tool output"],
  ["Ctrl+L", "choose a model"],
  ["@", "attach a file"],
];

const GAP = "  ";
/** Below this width, arguments are left out; completion shows them. */
const NARROW = 60;

/** The skills of the session, as commands. */
export function skillNames({ skills }: Pick<Ports, "skills">): readonly {
  readonly name: string;
  readonly about: string;
}[] {
  return (skills?.() ?? []).map(({ name, description }) => ({ name: `/skill:${name}`, about: description }));
}

export function helpText(keys: readonly Entry[], width: number, ports: Pick<Ports, "skills"> = {}): string {
  const commands = COMMANDS.filter(({ name }) => name !== "/help").map(({ name, argument, about }): Entry => {
    const takes = argument === undefined || width < NARROW ? "" : ` ${argument}`;
    return [name + takes, about];
  });
  const skills = skillNames(ports).map(({ name }) => name);
  const more = skills.length === 0 ? [] : [`Skills: ${skills.join(", ")}`];
  return [...sideBySide(keys, width), ...lastTwoJoined(commands, width), ...more].join("\n");
}

/** The last two commands share a row if it fits. */
function lastTwoJoined(commands: readonly Entry[], width: number): readonly string[] {
  const rows = aligned(commands);
  const [last] = aligned(commands.slice(-1));
  const joined = `${rows.at(-2) ?? ""}${GAP}${GAP}${last ?? ""}`;
  return widthOf(joined) > width ? rows : [...rows.slice(0, -2), joined];
}

/** Uses two columns if both fit completely. */
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
