/** How a draft changes when its messages are sent, acknowledged, refused and taken back. Pure. */

import type { DraftImage, DraftValue, Outgoing } from "./draft-value.ts";

/** What the person put into a text after it was sent: the words of the message itself go, wherever the rest stands. */
export function addedSince(sent: string, now: string): string {
  let before = 0;
  while (before < sent.length && sent[before] === now[before]) before += 1;
  let after = 0;
  const most = Math.min(sent.length, now.length) - before;
  while (after < most && sent.at(-1 - after) === now.at(-1 - after)) after += 1;
  return now.slice(before, now.length - after);
}

/** The message whose words still stand in the field. */
export function inField({ outgoing }: DraftValue): Outgoing | undefined {
  return outgoing.find((one) => one.inField);
}

/** What a press on the button would send, or undefined if there is nothing new. */
export function toSend(value: DraftValue): Pick<DraftValue, "text" | "images"> | undefined {
  const sent = inField(value);
  const text = sent === undefined ? value.text : addedSince(sent.text, value.text);
  const images = value.images.filter(({ id }) => sent?.images.every((one) => one.id !== id) ?? true);
  return text.trim() === "" && images.length === 0 ? undefined : { text, images };
}

/** The draft with its words on their way. They stay in the field. */
export function asSent(value: DraftValue, turn: string, steers: boolean): DraftValue {
  const given = toSend(value);
  if (given === undefined) return value;
  const { text, images } = given;
  const earlier = value.outgoing.map((one) => ({ ...one, inField: false }));
  const isAlone = text === value.text;
  return {
    ...value,
    text,
    images,
    caret: isAlone ? value.caret : [text.length, text.length],
    outgoing: [...earlier, { turn, text, images, steers, inField: true }],
    doubtful: undefined,
  };
}

/**
 * The draft after the person changed its words while no server answered. Nobody is known to have the message, so it is a
 * draft again. The server may have it all the same, which is remembered.
 */
export function asEdited(value: DraftValue, text: string, caret: DraftValue["caret"]): DraftValue {
  const sent = inField(value);
  if (sent === undefined) return { ...value, text, caret };
  const outgoing = value.outgoing.filter((one) => one !== sent);
  return { ...value, text, caret, outgoing, doubtful: { turn: sent.turn, text: sent.text } };
}

/** The draft once the message was acknowledged and is no longer among the outgoing ones. */
export function afterSent(value: DraftValue, sent: Outgoing): DraftValue {
  if (!sent.inField) return value;
  const text = addedSince(sent.text, value.text);
  const caret = text === "" ? 0 : text.length;
  const images = value.images.filter(({ id }) => sent.images.every((one) => one.id !== id));
  return { ...value, text, images, caret: [caret, caret], doubtful: undefined };
}

/** Puts a message before what stands in the field. */
export function withBefore(
  value: DraftValue,
  { text, images }: { readonly text: string; readonly images: readonly DraftImage[] },
): DraftValue {
  const rest = value.text.trim() === "" ? "" : value.text;
  const joined = text === "" || rest === "" ? text + rest : `${text}\n${rest}`;
  return { ...value, text: joined, caret: [text.length, text.length], images: [...images, ...value.images] };
}
