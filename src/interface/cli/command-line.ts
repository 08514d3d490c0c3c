/**
 * Decides whether the first word of a command line is a command, a mistyped command, or the start of a prompt. Pure.
 *
 * A prompt needs no quotes, so a mistyped command would be sent to the model, and paid for. The rule: a first bare word
 * that is close to a command is a typing error if at most one bare word follows it; a longer line reads like a sentence.
 * Subcommands (`export` of `sessions`) are everyday words, so they count only alone or before a session's id.
 */

/** What the scan needs to know about a flag before the first word. */
export interface KnownFlag {
  readonly short?: string | undefined;
  readonly long?: string | undefined;
  /** The flag is followed by its value. */
  readonly takesValue: boolean;
}

export interface ScannedLine {
  /** The first word that is neither a flag nor the value of one. */
  readonly first: string | undefined;
  /** The index of `first` in the arguments. */
  readonly at: number;
  /** Bare words from the first one up to the next flag. */
  readonly words: readonly string[];
  /** True if `-p` or `--print` precedes it, so that everything that follows is a prompt. */
  readonly print: boolean;
}

export function scanLine(args: readonly string[], flags: readonly KnownFlag[]): ScannedLine {
  let print = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (arg === "--") break;
    if (!arg.startsWith("-") || arg === "-") {
      const rest = args.slice(at);
      const end = rest.findIndex((word) => word.startsWith("-") && word !== "-");
      return { first: arg, at, words: end === -1 ? rest : rest.slice(0, end), print };
    }
    const { named, valueFollows } = readFlag(arg, flags);
    if (named.includes("-p") || named.includes("--print")) print = true;
    if (valueFollows) at += 1;
  }
  return { first: undefined, at: args.length, words: [], print };
}

/** `--name`, `--name=value`, `-n`, `-nvalue`, and short flags written together (`-pc`). */
function readFlag(
  arg: string,
  flags: readonly KnownFlag[],
): { readonly named: readonly string[]; readonly valueFollows: boolean } {
  if (arg.startsWith("--")) {
    const equals = arg.indexOf("=");
    const name = equals === -1 ? arg : arg.slice(0, equals);
    const takesValue = flags.some(({ long, takesValue: takes }) => long === name && takes);
    return { named: [name], valueFollows: takesValue && equals === -1 };
  }
  const named: string[] = [];
  for (let at = 1; at < arg.length; at += 1) {
    const name = `-${arg.charAt(at)}`;
    named.push(name);
    if (flags.some(({ short, takesValue }) => short === name && takesValue)) {
      return { named, valueFollows: at === arg.length - 1 };
    }
  }
  return { named, valueFollows: false };
}

/** Moves flags before the command to after it, where the command reads them or rejects those it does not know. */
export function flagsBehind(args: readonly string[], { at }: ScannedLine): readonly string[] {
  const end = args.indexOf("--", at);
  const own = end === -1 ? args.slice(at) : args.slice(at, end);
  return [...own, ...args.slice(0, at), ...(end === -1 ? [] : args.slice(end))];
}

/** Commands by name, each with the names of its subcommands. */
export type CommandNames = Readonly<Record<string, readonly string[]>>;

/**
 * Translates `help`, `help COMMAND` and `version` to flags, because users try them. Returns undefined for any other
 * line: "help me with this" is a prompt.
 */
export function asFlags(line: ScannedLine, commands: CommandNames): readonly string[] | undefined {
  const [first, second, third] = line.words;
  if (line.print || line.words.length > 3) return undefined;
  if (first === "version" && second === undefined) return ["--version"];
  if (first !== "help") return undefined;
  if (second === undefined) return ["--help"];
  const inner = Object.hasOwn(commands, second) ? commands[second] : undefined;
  if (inner === undefined) return undefined;
  if (third === undefined) return [second, "--help"];
  return inner.includes(third) ? [second, third, "--help"] : undefined;
}

export interface Meant {
  readonly typed: string;
  readonly meant: string;
}

/** Returns the command that a mistyped word resembles; undefined if there is none or the line reads like a prompt. */
export function meantCommand(line: ScannedLine, commands: CommandNames): Meant | undefined {
  const { first, words, print } = line;
  if (print || first === undefined || words.length > 2 || Object.hasOwn(commands, first)) return undefined;
  const [, second] = words;
  if (first === "help" && second !== undefined) {
    const of = meantCommand({ ...line, first: second, words: [second] }, commands);
    return of === undefined ? undefined : { typed: second, meant: `help ${of.meant}` };
  }
  if (VERBS.some(({ name }) => name === first)) return undefined;
  const outer = Object.keys(commands).map((name) => ({ name, said: name }));
  const inner = Object.entries(commands).flatMap(([name, within]) =>
    within.filter((one) => !PROMPTS.has(one)).map((one) => ({ name: one, said: `${name} ${one}` })),
  );
  const alone = second === undefined || /^s_\w+$/.test(second);
  const meant = nearest(first, [...outer, ...VERBS, ...(alone ? inner : [])]);
  return meant === undefined ? undefined : { typed: first, meant };
}

/** Inner commands whose name alone is more likely meant for the model. */
const PROMPTS: ReadonlySet<string> = new Set(["test"]);

/** Not real commands: `asFlags` translates them to flags. */
const VERBS = ["help", "version"].map((name) => ({ name, said: name }));

function nearest(
  typed: string,
  names: readonly { readonly name: string; readonly said: string }[],
): string | undefined {
  if (!/^[A-Za-z-]{3,}$/.test(typed)) return undefined;
  const word = typed.toLowerCase();
  const near = names
    .map(({ name, said }) => ({ name, said, far: distance(word, name) }))
    .filter(({ name, far }) => far <= (Math.min(name.length, word.length) <= 4 ? 1 : 2))
    .toSorted((a, b) => a.far - b.far);
  return near[0]?.said;
}

/** The edit distance of two words. Inserting, removing, replacing, and swapping neighbours count one each. */
export function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replace = (rows[i - 1]?.[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swap =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? (rows[i - 2]?.[j - 2] ?? 0) + 1
          : Number.POSITIVE_INFINITY;
      row.push(Math.min((rows[i - 1]?.[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replace, swap));
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}
