/** The public exports of the package and the doc comments at their declarations, read from the source text. */

import { dirname, relative, resolve } from "node:path";

import { sourceText } from "./source-imports.ts";

const root = resolve(import.meta.dirname, "../..");

/** The source of each entry point. */
export const ENTRIES: Readonly<Record<string, string>> = {
  throughline: "src/index.ts",
  "throughline/check": "src/diagnostics/check/index.ts",
  "throughline/client": "src/access/client/index.ts",
  "throughline/emulator": "src/emulator/index.ts",
  "throughline/fragments": "src/interface/fragments/index.ts",
  "throughline/inspect": "src/inspect.ts",
  "throughline/proxy": "src/proxy/relay/index.ts",
  "throughline/server": "src/access/server/index.ts",
};

export interface PublicExport {
  readonly entry: string;
  readonly name: string;
  /** The file with the declaration, relative to the repository. */
  readonly file: string;
  /** How it is declared: `function`, `const`, `class`, `interface` or `type`. */
  readonly kind: string;
  /** The text between the comment's marks, without asterisks. Empty if the declaration has no comment. */
  readonly comment: string;
}

type Read = (file: string) => string;

/** Every export of every entry, types included. Throws if an export has no declaration. */
export function publicExports(
  entries: Readonly<Record<string, string>> = ENTRIES,
  read: Read = sourceText,
): readonly PublicExport[] {
  return Object.entries(entries).flatMap(([entry, index]) =>
    exportedNames(read(index)).map((name) => ({ entry, name, ...declarationOf(index, name, read) })),
  );
}

const LIST = /^export (?:type )?\{([^}]*)\}(?: from "([^"]+)")?;/gm;
const STARRED = /^export (?:type )?\* from "([^"]+)";/gm;

function exportedNames(source: string): readonly string[] {
  if (source.match(STARRED) !== null) throw new Error("an entry point must list its exports by name");
  const listed = [...source.matchAll(LIST)].flatMap(([, list = ""]) => namesIn(list).map(([, name]) => name));
  const declared = [...source.matchAll(declaration("(\\w+)"))].map(([, , name = ""]) => name);
  return [...listed, ...declared];
}

/** Each name of an export list, as the module has it and as it is exported. */
function namesIn(list: string): readonly (readonly [own: string, exported: string])[] {
  return list
    .split(",")
    .map((text) => text.trim().replace(/^type /, ""))
    .filter((text) => text !== "")
    .map((text) => {
      const [own = "", exported = own] = text.split(" as ");
      return [own, exported];
    });
}

function declaration(name: string): RegExp {
  return new RegExp(`^export (?:async )?(?<kind>function|const|class|interface|type)\\*? ${name}\\b`, "gm");
}

type Declaration = Omit<PublicExport, "entry" | "name">;

function declarationOf(file: string, name: string, read: Read): Declaration {
  const source = read(file);
  for (const [, list = "", from] of source.matchAll(LIST)) {
    const own = namesIn(list).find(([, exported]) => exported === name)?.[0];
    if (own === undefined || from === undefined) continue;
    return declarationOf(relative(root, resolve(root, dirname(file), from)), own, read);
  }
  const found = declaration(name).exec(source); // of overloads, the first has the comment
  if (found === null) return starred(file, name, read);
  const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n$/.exec(source.slice(0, found.index))?.[1] ?? "";
  return {
    file,
    kind: found.groups?.["kind"] ?? "",
    comment: comment.replaceAll(/^[ \t]*\* ?/gm, "").trim(),
  };
}

function starred(file: string, name: string, read: Read): Declaration {
  for (const [, from = ""] of read(file).matchAll(STARRED)) {
    const behind = relative(root, resolve(root, dirname(file), from));
    if (read(behind).search(declaration(name)) !== -1) return declarationOf(behind, name, read);
  }
  throw new Error(`${file} does not declare ${name}`);
}

/** The comment without its tags. */
export function descriptionOf({ comment }: Pick<PublicExport, "comment">): string {
  return (comment.split(/^@/m)[0] ?? "").trim();
}

/** The programs in the `@example` tags of a comment. */
export function examplesOf({ comment }: Pick<PublicExport, "comment">): readonly string[] {
  return [...comment.matchAll(/^@example\n```ts\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code);
}
