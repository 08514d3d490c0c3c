/** Completes a command at the start of the message, or a file after an @. */

import { inert, inertLine } from "../../base/support/index.ts";

export interface Completed {
  /** The text before the cursor that the completion replaces. */
  readonly prefix: string;
  readonly items: readonly {
    readonly value: string;
    readonly label: string;
    readonly description?: string;
  }[];
}

export type Completion = (
  before: string,
  where: { readonly firstLine: boolean; readonly signal: AbortSignal },
) => Promise<Completed | undefined>;

const MAX_FILES = 20;

export function createCompletion(
  commands: readonly { readonly name: string; readonly about: string }[],
  files: (signal: AbortSignal) => Promise<readonly string[]>,
  /** Names with a colon: skills, and prompts of MCP servers. */
  named: () => readonly { readonly name: string; readonly about: string }[] = () => [],
): Completion {
  return async (before, { firstLine, signal }) => {
    const command = firstLine ? /^\/\S*$/.exec(before)?.[0] : undefined;
    if (command !== undefined) {
      const typable = named().filter(({ name }) => inert(name) === name && !/\s/.test(name));
      const items = [...commands, ...typable]
        .filter(({ name }) => name.startsWith(command))
        .map(({ name, about }) => ({ value: name, label: name, description: inertLine(about, 200) }));
      // Anything else that begins with a slash may be a path.
      if (items.length > 0 || /^\/[a-z]*$/.test(command)) return { prefix: command, items };
    }
    const mention = /(?:^|\s)(@\S*)$/.exec(before)?.[1];
    if (mention === undefined) return undefined;
    const found = rankFiles(await files(signal), mention.slice(1));
    return {
      prefix: mention,
      items: found.map((file) => ({ value: `@${file} `, label: inertLine(file, 200) })),
    };
  };
}

/** Ranks names that start with the text first, then paths that contain it, then paths with its letters in order. */
export function rankFiles(files: readonly string[], wanted: string): readonly string[] {
  const lower = wanted.toLowerCase();
  const ranked = files
    .filter((file) => inert(file) === file && !/[\s]/.test(file)) // such a name could not be typed back
    .map((file) => ({ file, rank: rankOf(file.toLowerCase(), lower) }))
    .filter(({ rank }) => rank < 4);
  return ranked
    .toSorted((a, b) => a.rank - b.rank || a.file.length - b.file.length || (a.file < b.file ? -1 : 1))
    .slice(0, MAX_FILES)
    .map(({ file }) => file);
}

function rankOf(file: string, wanted: string): number {
  if (file.startsWith(wanted)) return 0;
  if (file.slice(file.lastIndexOf("/") + 1).startsWith(wanted)) return 1;
  if (file.includes(wanted)) return 2;
  let at = 0;
  for (const char of file) if (char === wanted[at]) at += 1;
  return at === wanted.length ? 3 : 4;
}
