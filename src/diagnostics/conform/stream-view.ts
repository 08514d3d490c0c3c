/**
 * An index of a recorded stream: its items and the forms in which they arrived. Items are matched by output index, as a
 * client must do (I08). It reports no problems; the probes do.
 */

import {
  arrayOf,
  type JsonObject,
  numberOf,
  objectOf,
  sliceArray,
  sliceMember,
  stringOf,
} from "../../base/support/index.ts";
import { fieldOf, payloadOf, typeOf, withField } from "./item-text.ts";
import type { Reply, Frame } from "./reply.ts";

export interface SeenItem {
  readonly index: number;
  /** Exact texts. */
  readonly added: string | undefined;
  readonly done: string | undefined;
  /** In the output of the terminal event. */
  readonly final: string | undefined;
}

export interface StreamView {
  readonly frames: readonly Frame[];
  /** By output index. */
  readonly items: readonly SeenItem[];
  readonly terminals: readonly Frame[];
  /** The response of the first terminal event. */
  readonly response: JsonObject | undefined;
  readonly broken: Reply["broken"];
}

const TERMINAL = new Set(["response.completed", "response.incomplete", "response.failed"]);

export function viewStream({ frames, broken }: Reply): StreamView {
  const terminals = frames.filter((frame) => TERMINAL.has(frame.type));
  const [last] = terminals;
  const added = itemsBy(frames, "response.output_item.added");
  const done = itemsBy(frames, "response.output_item.done");
  const indexes = [...new Set([...added.keys(), ...done.keys()])].toSorted((a, b) => a - b);
  const finals = sliceArray(sliceMember(sliceMember(last?.data ?? "", "response") ?? "", "output") ?? "");
  const items = indexes.map((index) => ({ index, added: added.get(index), done: done.get(index) }));
  const response = last?.body?.["response"];
  return {
    frames,
    items: items.map((item) => ({ ...item, final: finalOf(item, items, finals) })),
    terminals,
    response: response === undefined ? undefined : objectOf(response),
    broken,
  };
}

export const outputIndexOf = (frame: Frame): number | undefined => numberOf(frame.body?.["output_index"]);

function itemsBy(frames: readonly Frame[], type: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const frame of frames) {
    const index = outputIndexOf(frame);
    const item = sliceMember(frame.data, "item");
    if (frame.type === type && index !== undefined && item !== undefined && !found.has(index)) {
      found.set(index, item);
    }
  }
  return found;
}

type Open = Omit<SeenItem, "final">;

/** By id or, if ids change, by type and position within that type. */
function finalOf(item: Open, all: readonly Open[], finals: readonly string[]): string | undefined {
  const text = item.done ?? item.added ?? "";
  const id = fieldOf(text, "id");
  const sameId = finals.find((final) => id !== undefined && fieldOf(final, "id") === id);
  if (sameId !== undefined) return sameId;
  const type = typeOf(text);
  const nth = all.filter((one) => typeOf(one.done ?? one.added ?? "") === type).indexOf(item);
  return finals.filter((final) => typeOf(final) === type)[nth];
}

/** What a client keeps of each item: `done`, and a ciphertext that only the terminal event has. */
export function keptItems(view: StreamView): readonly string[] {
  return view.items.flatMap(({ done, final }) => {
    const kept = done ?? final;
    if (kept === undefined) return [];
    const late = payloadOf(kept) === undefined ? payloadOf(final) : undefined;
    return [late === undefined ? kept : withField(kept, "encrypted_content", late)];
  });
}

export function textOfMessage(item: string): string {
  return arrayOf(fieldOf(item, "content"))
    .map((part) => stringOf(objectOf(part)["text"]) ?? "")
    .join("");
}
