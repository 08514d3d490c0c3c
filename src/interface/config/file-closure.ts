/**
 * Collects the files that would run: the start files and everything they load that their text names. Packages count like
 * any other file. The hashed bytes are kept, so that exactly these can be run later. A file that is not in this set is
 * not copied and cannot be imported from the copy.
 */

import { createHash } from "node:crypto";
import { isBuiltin } from "node:module";
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { isObject, messageOf, stringOf, tryParseJson } from "../../base/support/index.ts";
import { type Reference, referencesIn } from "./module-references.ts";
import { packageTargets } from "./package-targets.ts";
import { readPlainFile } from "./read-plain-file.ts";
import {
  foldersAbove,
  isInside,
  type KnownStats,
  type Link,
  type RealPlace,
  realPlace,
} from "./real-places.ts";

/** Enough for a tool and its packages, and small enough to read at every start. */
const MOST = { files: 4000, bytes: 32 * 1024 * 1024, references: 100_000 };

export interface NamedFile {
  /** Relative to the root inside the project, absolute elsewhere. */
  readonly name: string;
  /** The real path; for a link, the path of the link. */
  readonly path: string;
  readonly sha256: string;
  /** `live` means that code names it by an absolute path, so it is checked but runs in place. */
  readonly content:
    | { readonly type: "file"; readonly bytes: Buffer }
    | { readonly type: "link"; readonly to: string }
    | { readonly type: "live" };
}

export interface FileSet {
  readonly root: string;
  /** The real paths of the files that are loaded first. */
  readonly starts: readonly string[];
  /** Sorted by name. */
  readonly files: readonly NamedFile[];
  /** Why this set cannot be trusted, if it cannot. */
  readonly problem: string | undefined;
}

/** `root` is the project's folder; `starts` are the files that are loaded first. */
export function fileClosure(root: string, starts: readonly string[]): FileSet {
  const walk = new ClosureWalk(realPlace(root)?.path ?? root);
  let problem: string | undefined;
  try {
    for (const start of starts) walk.start(start);
    walk.follow();
  } catch (error) {
    problem = messageOf(error);
  }
  return {
    root: walk.root,
    starts: starts.map((start) => realPlace(start)?.path ?? start),
    files: walk.sorted(),
    problem,
  };
}

const CODE = /^\.(?:[cm]?[jt]sx?|)$/;
const LOADED = /^\.(?:[cm]?[jt]s|json|node|wasm)$/;
const PACKAGE_NAME = /^((?:@[\w.~-]+\/)?[\w~-][\w.~-]*)(\/.*)?$/;
const EXTENSIONS = [".js", ".json", ".node", ".cjs", ".mjs", ".ts", ".cts", ".mts"];

class ClosureWalk {
  readonly root: string;
  readonly #files = new Map<string, NamedFile>();
  readonly #toFollow: { readonly path: string; readonly text: string }[] = [];
  /** Folders that a relative path may lead into: the project, and each package found outside it. */
  readonly #areas: string[];
  readonly #contents = new Map<string, Buffer>();
  readonly #stats: KnownStats = new Map();
  readonly #places = new Map<string, RealPlace | undefined>();
  #bytes = 0;
  #references = 0;

  constructor(root: string) {
    this.root = root;
    this.#areas = [root];
  }

  start(file: string): void {
    const place = this.#place(file);
    if (place === undefined) throw new Error(`${this.#name(file)} does not exist`);
    if (place.kind !== "file") throw new Error(`${this.#name(file)} is not a regular file`);
    if (!isInside(this.root, place.path)) throw outside(this.#name(file), place.path, file !== place.path);
    this.#add(file);
  }

  follow(): void {
    for (let next = this.#toFollow.pop(); next !== undefined; next = this.#toFollow.pop()) {
      for (const reference of referencesIn(next.text)) {
        this.#references += 1;
        if (this.#references > MOST.references) throw tooMuch();
        this.#resolve(next.path, reference);
      }
    }
  }

  sorted(): readonly NamedFile[] {
    return [...this.#files.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  #resolve(from: string, { specifier, by }: Reference, depth = 0): void {
    if (depth > 8 || specifier.includes("\0")) return;
    if (specifier.startsWith("#")) {
      const scope = this.#scopeOf(from);
      for (const target of packageTargets(scope?.json["imports"], specifier, wayOf(by)))
        this.#resolve(scope?.file ?? from, { specifier: target, by }, depth + 1);
      return;
    }
    const path = pathIn(specifier);
    if (path === undefined) return;
    if (isAbsolute(path)) this.#live(from, path, by);
    else if (/^\.{1,2}(?:\/|$)/.test(path)) this.#near(from, resolve(dirname(from), path), by);
    else if (!isBuiltin(specifier)) {
      this.#package(from, path, by);
      // `new URL("x.json", import.meta.url)` is relative without saying so.
      if (by === "call" && extname(path) !== "") this.#near(from, resolve(dirname(from), path), "text");
    }
  }

  /** Adds a file named by a path relative to the file that names it. */
  #near(from: string, path: string, by: Reference["by"]): void {
    for (const found of this.#asFile(path)) {
      const place = this.#place(found);
      if (place === undefined || this.#areas.some((area) => isInside(area, place.path))) this.#add(found);
      else if (isCertain(by, found))
        throw outside(`${this.#name(from)} loads ${this.#name(path)}`, place.path, found !== place.path);
    }
  }

  /** Code with an absolute path is loaded in place, bypassing the copy, so this is an error inside the project. */
  #live(from: string, path: string, by: Reference["by"]): void {
    const place = this.#place(path);
    if (place?.kind !== "file") return;
    if (!isCertain(by, path)) return;
    if (isInside(this.root, place.path) || isInside(this.root, path)) {
      const advice = "use a relative path";
      throw new Error(`${this.#name(from)} names ${this.#name(path)} by its absolute path: ${advice}`);
    }
    this.#keep(place.path, hashOf(this.#read(place)), { type: "live" });
  }

  #package(from: string, specifier: string, by: Reference["by"]): void {
    const [name = "", subpath = ""] = PACKAGE_NAME.exec(specifier)?.slice(1) ?? [];
    if (name === "") return;
    const scope = this.#scopeOf(from);
    if (scope?.json["name"] === name && scope.json["exports"] !== undefined)
      this.#exported(dirname(scope.file), scope.json, subpath, by);
    for (const folder of foldersAbove(dirname(from))) {
      if (basename(folder) === "node_modules") continue;
      if (this.#place(join(folder, "node_modules"))?.kind !== "folder") continue;
      const place = this.#place(join(folder, "node_modules", name));
      if (place?.kind !== "folder") {
        // CommonJS also accepts a plain file there.
        this.#near(from, join(folder, "node_modules", specifier), "text");
        continue;
      }
      if (!this.#areas.some((area) => isInside(area, place.path))) this.#areas.push(place.path);
      this.#keepLinks(place.links);
      const manifest = this.#json(join(place.path, "package.json"));
      if (manifest === undefined) this.#near(from, join(place.path, subpath), "text");
      else this.#exported(place.path, manifest, subpath, by);
      return;
    }
  }

  #exported(
    folder: string,
    manifest: Readonly<Record<string, unknown>>,
    subpath: string,
    by: Reference["by"],
  ): void {
    this.#add(join(folder, "package.json"));
    const { exports } = manifest;
    const from = join(folder, "package.json");
    if (exports === undefined || exports === null) {
      this.#near(from, subpath === "" ? folder : join(folder, subpath), "text");
      return;
    }
    for (const target of packageTargets(exports, `.${subpath}`, wayOf(by))) {
      const path = join(folder, target);
      if (isInside(folder, path)) this.#near(from, path, "text");
    }
  }

  /** Returns what a path may mean: a file, a file with an extension, or the entry of a folder. */
  #asFile(path: string, depth = 0): readonly string[] {
    const found = ["", ...EXTENSIONS]
      .map((extension) => path + extension)
      .find((one) => this.#place(one)?.kind === "file" && !one.endsWith(sep));
    if (found !== undefined) return [found];
    if (this.#place(path)?.kind !== "folder" || depth > 4) return [];
    const file = join(path, "package.json");
    const main = stringOf(this.#json(file)?.["main"]);
    const entry = main === undefined ? [] : this.#asFile(join(path, main), depth + 1);
    const manifest = this.#place(file)?.kind === "file" ? [file] : [];
    if (entry.length > 0) return [...manifest, ...entry];
    const index = EXTENSIONS.map((extension) => join(path, `index${extension}`)).find(
      (one) => this.#place(one)?.kind === "file",
    );
    return index === undefined ? manifest : [...manifest, index];
  }

  #add(path: string): void {
    const place = this.#place(path);
    if (place?.kind !== "file") return;
    this.#keepLinks(place.links);
    if (this.#files.get(place.path)?.content.type === "file") return;
    const bytes = this.#read(place);
    this.#keep(place.path, hashOf(bytes), { type: "file", bytes });
    if (basename(place.path) === "package.json") return;
    const scope = this.#scopeOf(place.path);
    if (scope !== undefined) this.#add(scope.file);
    if (CODE.test(extname(place.path)))
      this.#toFollow.push({ path: place.path, text: bytes.toString("utf8") });
  }

  #keepLinks(links: readonly Link[]): void {
    for (const { at, to } of links) {
      if (!isInside(this.root, at) && !this.#areas.some((area) => isInside(area, at))) continue;
      // Links above the project are not copied, so the copy needs the real path.
      const real = this.#place(to)?.path ?? to;
      this.#keep(at, hashOf(Buffer.from(`link ${real}`)), { type: "link", to: real });
    }
  }

  #keep(path: string, sha256: string, content: NamedFile["content"]): void {
    this.#files.set(path, { name: this.#name(path), path, sha256, content });
    if (this.#files.size > MOST.files) throw tooMuch();
  }

  /** Reads each file once, so that the bytes that are hashed, scanned and run are the same. */
  #read({ path, size }: RealPlace): Buffer {
    const known = this.#contents.get(path);
    if (known !== undefined) return known;
    this.#bytes += size;
    if (this.#bytes > MOST.bytes) throw tooMuch();
    try {
      const bytes = readPlainFile(path, MOST.bytes);
      this.#contents.set(path, bytes);
      return bytes;
    } catch (error) {
      throw new Error(`cannot read ${this.#name(path)}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Returns the nearest package.json, which decides how Node reads the file and what its `#` names mean. */
  #scopeOf(
    path: string,
  ): { readonly file: string; readonly json: Readonly<Record<string, unknown>> } | undefined {
    for (const folder of foldersAbove(dirname(path))) {
      if (basename(folder) === "node_modules") return undefined;
      const file = join(folder, "package.json");
      if (this.#place(file)?.kind === "file") return { file, json: this.#json(file) ?? {} };
    }
    return undefined;
  }

  #json(file: string): Readonly<Record<string, unknown>> | undefined {
    const place = this.#place(file);
    if (place?.kind !== "file") return undefined;
    const value = tryParseJson(this.#read(place).toString("utf8"));
    return isObject(value) ? value : {};
  }

  #place(path: string): RealPlace | undefined {
    if (!this.#places.has(path)) this.#places.set(path, realPlace(path, this.#stats));
    return this.#places.get(path);
  }

  #name(path: string): string {
    return isInside(this.root, path) ? relative(this.root, path).split(sep).join("/") : path;
  }
}

function pathIn(specifier: string): string | undefined {
  if (specifier.startsWith("file:")) {
    try {
      return fileURLToPath(specifier);
    } catch {
      return undefined;
    }
  }
  if (/^[a-z][\w+.-]*:/i.test(specifier)) return undefined; // data:, node:, http: do not name files
  const path = specifier.replace(/[?#].*$/s, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Returns whether the code certainly loads it; a string elsewhere may mean anything. */
function isCertain(by: Reference["by"], path: string): boolean {
  return by === "import" || by === "require" || (by === "call" && LOADED.test(extname(path)));
}

function wayOf(by: Reference["by"]): "import" | "require" | "either" {
  return by === "import" || by === "require" ? by : "either";
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function outside(what: string, real: string, linked: boolean): Error {
  const why = linked ? `, a link to ${real},` : "";
  return new Error(`${what}${why} outside the project: move it into the project, or install it as a package`);
}

function tooMuch(): Error {
  return new Error(
    `it loads more than ${MOST.files} files or ${MOST.bytes / 1024 / 1024} MiB, too much to check at every start`,
  );
}
