/**
 * The parts of a message in any of the known formats, as parts of ours. Bytes stay bytes. A part that the file only names
 * (by a file id or a link) becomes a short text in its place, and is counted.
 */

import type { InputPart } from "../../../base/events/index.ts";
import {
  arrayOf,
  isBase64Text,
  isObject,
  type JsonObject,
  objectOf,
  stringOf,
} from "../../../base/support/index.ts";
import { type LeftOutList, textIn } from "./entry.ts";

export function inputParts(content: unknown, left: LeftOutList): readonly InputPart[] {
  if (typeof content === "string") return textPart(content);
  return arrayOf(content).flatMap((part) =>
    typeof part === "string" ? textPart(part) : inputPart(objectOf(part), left),
  );
}

function textPart(text: string): readonly InputPart[] {
  return text.trim() === "" ? [] : [{ type: "text", text: text.toWellFormed() }];
}

/** Parts that are instructions for a tool's own use and never content. */
const NO_CONTENT: ReadonlySet<unknown> = new Set(["step-start", "cache_point"]);

function inputPart(part: JsonObject, left: LeftOutList): readonly InputPart[] {
  if (NO_CONTENT.has(part["type"])) return [];
  const text = stringOf(part["text"]);
  if (text !== undefined) return textPart(text);
  const found = bytesOf(part);
  if (found === undefined) {
    const type = stringOf(part["type"]) ?? "part";
    left.add("attachment without its bytes", "attachments without their bytes");
    return [{ type: "text", text: `[${type} not in the history]` }];
  }
  return [found];
}

/** The members that hold bytes, a data URL or a link, in the known formats. */
const HOLDERS = [
  "image_url",
  "file_data",
  "image",
  "data",
  "url",
  "base64",
  "source",
  "file",
  "file_url",
] as const;

function bytesOf(part: JsonObject): InputPart | undefined {
  const about = mediaOf(part);
  for (const key of HOLDERS) {
    const value = part[key];
    const found =
      typeof value === "string" ? fromText(value, about) : isObject(value) && bytesOf(inner(value, part));
    if (found !== undefined && found !== false) return found;
  }
  return undefined;
}

/** A nested holder knows the type and name of the part around it. */
function inner(value: JsonObject, around: JsonObject): JsonObject {
  const { type: _type, ...own } = value;
  const kind = stringOf(around["type"]) ?? "";
  const name = textIn(around, "filename", "name", "title");
  return { ...(name === undefined ? {} : { filename: name }), ...own, type: kind, ...plainText(value) };
}

/** Claude's documents may be plain text. */
function plainText(source: JsonObject): JsonObject {
  if (source["type"] !== "text") return {};
  const text = stringOf(source["data"]) ?? "";
  return { data: toBase64(text), media_type: "text/plain" };
}

interface Media {
  readonly mediaType: string | undefined;
  readonly name: string;
  readonly isImage: boolean;
}

function mediaOf(part: JsonObject): Media {
  const mediaType = textIn(part, "mediaType", "media_type", "mimeType", "mime_type");
  const type = stringOf(part["type"]) ?? "";
  return {
    mediaType,
    name: textIn(part, "filename", "file_name", "name", "title") ?? "file",
    isImage: mediaType === undefined ? type.includes("image") : mediaType.startsWith("image/"),
  };
}

/** The image types that every API with vision accepts. */
const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function fromText(text: string, { mediaType, name, isImage }: Media): InputPart | undefined {
  if (/^https?:\/\//.test(text)) return isImage ? { type: "image", url: text } : undefined;
  const given = /^data:([^;,]*)((?:;[^;,]*)*),/.exec(text);
  if (given !== null) {
    const body = text.slice(given[0].length);
    const own = (given[1] ?? "") === "" ? (mediaType ?? "text/plain") : (given[1] ?? "");
    const isBase64 = (given[2] ?? "").split(";").includes("base64");
    const data = isBase64 ? body : toBase64(decoded(body));
    return bytes(data, own, name);
  }
  return bytes(text, mediaType ?? (isImage ? "image/png" : "application/octet-stream"), name);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function bytes(data: string, mediaType: string, name: string): InputPart | undefined {
  const clean = data.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/");
  // A file id or a path is not base64 of anything.
  if (clean === "" || clean.length % 4 === 1 || !isBase64Text(clean)) return undefined;
  if (/^file[-_]/.test(data)) return undefined;
  return IMAGES.has(mediaType)
    ? { type: "image", mediaType, data: clean }
    : { type: "file", name, mediaType, data: clean };
}

function toBase64(text: string): string {
  const bytesOfText = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytesOfText) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** A result's text, and whether that is all of it. Attachments are named in the text. */
export function resultText(output: unknown): { readonly text: string; readonly whole: boolean } {
  if (typeof output === "string") return { text: output.toWellFormed(), whole: true };
  if (output === undefined || output === null) return { text: "", whole: true };
  const parts = Array.isArray(output) ? output.map(objectOf) : undefined;
  if (parts === undefined || !parts.some((part) => typeof part["type"] === "string"))
    return { text: JSON.stringify(output).toWellFormed(), whole: true };
  const texts = parts.map((part) => stringOf(part["text"]));
  return {
    text: texts
      .map((text, at) => text ?? `[${stringOf(parts[at]?.["type"]) ?? "part"} not shown]`)
      .join("\n")
      .toWellFormed(),
    whole: texts.every((text) => text !== undefined),
  };
}
