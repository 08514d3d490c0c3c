/** What waits above the text: messages of this browser that were not acknowledged, then those that the server holds. */

import type { Input, QueuedTurn } from "../../../access/client/index.ts";
import type { DraftImage, DraftValue } from "./draft-value.ts";
import { blobOf } from "./image-files.ts";
import { keepImage } from "./kept-images.ts";
import type { QueueRow } from "./queue-list.tsx";
import { ids } from "./use-draft.ts";

export function queueRows(
  { outgoing }: DraftValue,
  queued: readonly QueuedTurn[],
  isAway: boolean,
): readonly QueueRow[] {
  const own = new Set(outgoing.map(({ turn }) => turn));
  const held = queued.filter(({ turn }) => !own.has(turn));
  let waits = 0;
  const rowsOfServer = held.map(({ turn, text, steers, images = 0 }) => ({
    turn,
    text,
    images,
    when: steers === true ? "Joins this turn" : (waits += 1) === 1 ? "Next" : "Then",
    stays: isAway ? "It can be taken back when the server is there again" : undefined,
  }));
  const rowsOfBrowser = outgoing
    .filter((one) => !one.inField)
    .map(({ turn, text, images }) => ({
      turn,
      text: text.trim(),
      images: images.length,
      when: isAway ? ((waits += 1) === 1 ? "Next" : "Then") : "Sending",
    }));
  return [...rowsOfServer, ...rowsOfBrowser];
}

/** A message that the server gave back, as parts of a draft. */
export async function takenBack(
  input: Input,
): Promise<{ readonly text: string; readonly images: readonly DraftImage[] }> {
  if (typeof input === "string") return { text: input, images: [] };
  const images: DraftImage[] = [];
  for (const part of input) {
    if (part.type !== "image" || !("data" in part)) continue;
    const image = blobOf(part.data, part.mediaType);
    const id = ids.next("im");
    await keepImage(id, image);
    images.push({ id, name: "image", mediaType: part.mediaType, bytes: image.size });
  }
  const text = input.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return { text, images };
}
