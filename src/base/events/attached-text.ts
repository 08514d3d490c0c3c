/**
 * Text files that a person attached to a message. Each is a text part of its own after the person's text, in a tag that
 * names the file, so that every model reads it and viewers can show its name instead of all of it.
 */

import { tryParseJson } from "../support/index.ts";
import type { InputPart } from "./canonical.ts";

/** Wraps the text of a file in its tag. */
export function attachedText(name: string, text: string): string {
  return `<file name=${JSON.stringify(name)}>\n${text}${text.endsWith("\n") ? "" : "\n"}</file>`;
}

const ATTACHED = /^<file name=("(?:[^"\\\n]|\\.)*")>\n([^]*)<\/file>$/;

/** What viewers show of a message: its text, and other parts by type or name. A first part is always shown whole. */
export function shownParts(content: readonly InputPart[]): readonly string[] {
  return content.map((part, index) => {
    if (part.type === "file") return `[file ${part.name}]`;
    if (part.type === "image") return "[image]";
    return (index === 0 ? undefined : shownFile(part.text)) ?? part.text;
  });
}

function shownFile(text: string): string | undefined {
  const [, quoted = "", inner = ""] = ATTACHED.exec(text) ?? [];
  const name = tryParseJson(quoted); // anyone may have written the tag
  if (typeof name !== "string") return undefined;
  const lines = inner.split("\n").length - 1;
  return `[file ${name}: ${lines} ${lines === 1 ? "line" : "lines"}]`;
}

/** The text a person typed: without images, files and attached text. */
export function typedText(content: readonly InputPart[]): string {
  return content
    .filter((part, index) => part.type === "text" && (index === 0 || !ATTACHED.test(part.text)))
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n");
}
