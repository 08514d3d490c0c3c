/**
 * What a result is sent as: its text, or its text and its images. A model that takes no images gets exactly the text,
 * which names them. Without images, a result is a plain string, as it was before results could have any.
 */

import type { Plan, PlannedResult } from "../fold/index.ts";
import { type ReadyPart, readyParts } from "./input-parts.ts";
import type { RenderContext } from "./provider.ts";

/** No API with images refuses these. A log that others wrote may name any type. */
const IMAGE_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export function resultContent(
  { text, images = [] }: PlannedResult,
  plan: Plan,
  context: RenderContext,
  /** The most characters of base64 that the dialect accepts in one image. */
  largest = Number.POSITIVE_INFINITY,
): string | readonly ReadyPart[] {
  if (images.length === 0) return text;
  const known = images.filter(({ mediaType }) => IMAGE_TYPES.includes(mediaType));
  const parts = readyParts(known, plan.settings, context).map((part): ReadyPart => {
    const fits = part.kind !== "image" || part.data.length <= largest;
    return fits ? part : { kind: "text", text: "[image left out: it is too large for this API]" };
  });
  const all: readonly ReadyPart[] = text === "" ? parts : [{ kind: "text", text }, ...parts];
  if (parts.some(({ kind }) => kind === "image")) return all;
  return all.flatMap((part) => (part.kind === "text" ? part.text : [])).join("\n\n");
}
