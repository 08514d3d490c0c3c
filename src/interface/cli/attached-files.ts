/**
 * Files that a person gives to a message: `-i FILE` and `@file` in the text. Only regular files are read, up to a limit.
 * A file of `-i` that cannot be attached is an error; an `@` that cannot be attached stays text, with a notice.
 */

import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, isAbsolute, relative, resolve, sep } from "node:path";

import type { Input } from "../../base/api/index.ts";
import { attachedText, type InputPart, type Settings } from "../../base/events/index.ts";
import { codedError, readProblem } from "../../base/support/index.ts";
import { readHead } from "../config/index.ts";
import { type Content, contentOf } from "./input-content.ts";

/** For a file of `-i`, and for all attachments of a message together. */
const MAX_BYTES = 20 * 1024 * 1024;
/** For a text file named with an `@`: the model can read a larger one with its tools. */
const MAX_MENTIONED_TEXT = 256 * 1024;

/** Reads the files of `-i`. */
export function attachFiles(files: readonly string[]): readonly InputPart[] {
  let left = MAX_BYTES;
  return files.map((file) => {
    const bytes = readFile(file, left);
    left -= bytes.length;
    if (bytes.length === 0) throw codedError("input_empty", `-i ${file}: the file is empty`);
    const content = contentOf(bytes);
    if (content.kind === "unusable") {
      const todo = content.todo === "" ? TEXT_ADVICE : content.todo;
      throw codedError("file_not_text", `-i ${file}: the file is ${content.what}; ${todo}`);
    }
    return partOf(file, bytes, content);
  });
}

const TEXT_ADVICE = "convert text to UTF-8 first (iconv -f ENCODING -t UTF-8)";

function readFile(file: string, most: number): Buffer {
  let read: ReturnType<typeof readHead>;
  try {
    if (statSync(file).isDirectory()) throw new Error("it is a folder");
    read = readHead(file, most + 1);
  } catch (error) {
    throw codedError("file_unreadable", `-i ${file}: cannot read this file: ${readProblem(error)}`);
  }
  if (read.bytes > most) {
    throw codedError(
      "file_too_large",
      `-i ${file}: the files of a message are larger than the limit of ${MAX_BYTES} bytes together; attach less, or let the model read the file with its tools`,
    );
  }
  return read.head;
}

export function partOf(
  name: string,
  bytes: Buffer,
  content: Exclude<Content, { kind: "unusable" }>,
): InputPart {
  if (content.kind === "text") return { type: "text", text: attachedText(name, content.text) };
  const { mediaType } = content;
  const data = bytes.toString("base64");
  if (content.kind === "image") return { type: "image", mediaType, data };
  return { type: "file", name: basename(name), mediaType, data };
}

/** Reads the files that the `@` words of a text name. */
export function mentionedFiles(
  text: string,
  cwd: string,
  notice: (text: string) => void,
): readonly InputPart[] {
  const seen = new Set<string>();
  const parts: InputPart[] = [];
  let left = MAX_BYTES;
  for (const [, word = ""] of text.matchAll(/(?<=^|[\s([{"'])@([^\s@]+)/g)) {
    const file = existing(word, cwd);
    if (file === undefined || seen.has(file.path)) continue;
    seen.add(file.path);
    try {
      const { part, size } = mentioned(file, cwd, left);
      left -= size;
      parts.push(part);
    } catch (error) {
      notice(`@${file.name} is not attached: ${readProblem(error)}`);
    }
  }
  return parts;
}

interface Named {
  /** As typed. */
  readonly name: string;
  readonly path: string;
}

/** The regular file that a word names, without the punctuation of the sentence around it if need be. */
function existing(word: string, cwd: string): Named | undefined {
  for (let name = word; name !== ""; name = name.slice(0, -1)) {
    const path = resolve(cwd, name.replace(/^~(?=\/)/, homedir()));
    if (isRegular(path)) return { name, path };
    if (!/[.,;:!?)\]}"'>]$/.test(name)) return undefined;
  }
  return undefined;
}

function isRegular(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false; // such a path cannot exist, or may not be looked at
  }
}

function mentioned(
  { name, path }: Named,
  cwd: string,
  left: number,
): { readonly part: InputPart; readonly size: number } {
  // A link in a project may point to a secret of the person. A path out of the directory is a person's own choice.
  if (isInside(path, cwd) && !isInside(realpathSync(path), realpathSync(cwd)))
    throw new Error("it is a link to a file outside this directory; name that file by its path");
  const { head, bytes } = readHead(path, left + 1);
  if (bytes > left) throw new Error(`the files of a message have more than ${MAX_BYTES} bytes together`);
  if (bytes === 0) throw new Error("it is empty");
  const content = contentOf(head);
  if (content.kind === "unusable") throw new Error(`it is ${content.what}`);
  if (content.kind === "text" && bytes > MAX_MENTIONED_TEXT)
    throw new Error(
      `it has ${bytes} bytes, more than ${MAX_MENTIONED_TEXT}; the model can read it with its tools`,
    );
  return { part: partOf(name, head, content), size: bytes };
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

type ModelSettings = Pick<Settings, "target" | "capabilities">;

/** Refuses parts that the model's requests would replace by a note. */
export function refuseUnsupported(input: Input, settings: ModelSettings): void {
  if (typeof input === "string") return;
  for (const part of input) {
    const problem = unsupported(part, settings);
    if (problem !== undefined)
      throw codedError("input_unsupported", `${problem}: choose another model with -m`);
  }
}

/** The parts that the model accepts, with a notice about the others. */
export function supportedParts(
  parts: readonly InputPart[],
  settings: ModelSettings,
  notice: (text: string) => void,
): readonly InputPart[] {
  return parts.filter((part) => {
    const problem = unsupported(part, settings);
    if (problem !== undefined) notice(`A file is not attached: ${problem}.`);
    return problem === undefined;
  });
}

function unsupported({ type }: InputPart, { target, capabilities }: ModelSettings): string | undefined {
  if (type === "image" && !capabilities.vision) return `${target.model} takes no images`;
  if (type === "file" && target.dialect === "openai-chat") return `${target.provider} takes no PDF files`;
  return undefined;
}
