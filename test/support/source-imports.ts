import { readdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

export interface SourceImport {
  /** Both relative to the repository, as `src/runtime/log/file-log.ts`; a package or `node:` module by its name. */
  readonly from: string;
  readonly to: string;
  /** Erased by the compiler: nothing is loaded for it. */
  readonly typeOnly: boolean;
}

const IMPORT =
  /^(?:import|export)( type)?\b[^"';]*?\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** Every source file that is not a test, relative to the repository. */
export function sourceFiles(): readonly string[] {
  return readdirSync(resolve(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.test)\.tsx?$/.test(name))
    .map((name) => `src/${name}`);
}

export function sourceText(file: string): string {
  return readFileSync(resolve(root, file), "utf8");
}

/** Every import of `file`, static or dynamic. */
export function importsOf(file: string): readonly SourceImport[] {
  return [...sourceText(file).matchAll(IMPORT)].map(([, type, from, bare, dynamic]) => {
    const name = from ?? bare ?? dynamic ?? "";
    const to = name.startsWith(".") ? relative(root, resolve(root, dirname(file), name)) : name;
    return { from: file, to, typeOnly: type !== undefined };
  });
}
