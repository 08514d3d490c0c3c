/**
 * The parts of a user message, ready for any dialect: text, images and files with their bytes loaded. A part the model
 * does not accept becomes a note, so that nothing is dropped silently.
 */

import type { InputPart, Settings } from "../../base/events/index.ts";
import type { RenderContext } from "./provider.ts";

export type ReadyPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image_url"; readonly url: string }
  | {
      readonly kind: "image" | "file";
      readonly name: string;
      readonly mediaType: string;
      /** Base64. */
      readonly data: string;
    };

export function readyParts(
  content: readonly InputPart[],
  settings: Settings,
  context: RenderContext,
): readonly ReadyPart[] {
  return content.map((part) => readyPart(part, settings, context));
}

function readyPart(part: InputPart, settings: Settings, context: RenderContext): ReadyPart {
  if (part.type === "text") return { kind: "text", text: part.text };
  if (part.type === "image" && !settings.capabilities.vision) {
    return { kind: "text", text: `[image not shown: ${settings.target.model} takes no images]` };
  }
  if ("url" in part) return { kind: "image_url", url: part.url };
  const data = "data" in part ? part.data : base64(context.blob(part.blob));
  if (data === undefined) return { kind: "text", text: `[${part.type} no longer available]` };
  const name = part.type === "file" ? part.name : "image";
  return { kind: part.type, name, mediaType: part.mediaType, data };
}

function base64(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString("base64");
}

/** Renders a text file as plain text, for dialects that have no part type for files. */
export function fileAsText(part: {
  readonly name: string;
  readonly mediaType: string;
  readonly data: string;
}): string {
  const readable = /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|typescript)/.test(
    part.mediaType,
  );
  if (!readable)
    return `[file ${part.name} (${part.mediaType}) not shown: this endpoint takes no such files]`;
  return `File ${part.name}:\n\n${Buffer.from(part.data, "base64").toString("utf8")}`;
}
