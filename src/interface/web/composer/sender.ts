/**
 * Sends the messages of a draft. A message stays in the draft until the server has acknowledged it, and is sent under
 * the same turn every time, so it is answered once however often it was sent.
 */

import type { Input, SessionHandle, Turn } from "../../../access/client/index.ts";
import { isAway, serverLink } from "../server-link.ts";
import type { Outgoing } from "./draft-value.ts";
import type { Draft } from "./drafts.ts";
import { imageParts } from "./image-files.ts";

/** Where a message ended up. */
export interface Sent {
  readonly entry: Outgoing;
  /** Why the server refused it. Undefined: it was acknowledged. */
  readonly refused?: unknown;
}

export class Sender {
  readonly #handle: SessionHandle;
  readonly #draft: Draft;
  readonly #onSent: (sent: Sent) => void;
  readonly #stops = new Map<string, AbortController>();
  #isClosed = false;

  constructor(handle: SessionHandle, draft: Draft, onSent: (sent: Sent) => void) {
    this.#handle = handle;
    this.#draft = draft;
    this.#onSent = onSent;
  }

  /** Sends whatever has not been acknowledged and is not on its way, in its order. */
  flush(): void {
    if (this.#isClosed) return;
    for (const entry of this.#draft.value.outgoing) if (!this.#stops.has(entry.turn)) void this.#send(entry);
  }

  /** Takes a message back that the server has not acknowledged. */
  takeBack(turn: string): void {
    this.#stops.get(turn)?.abort();
    this.#remove(turn);
  }

  /** What has not been acknowledged stays in the draft. */
  close(): void {
    this.#isClosed = true;
  }

  async #send({ turn, steers, text, images }: Outgoing): Promise<void> {
    const stop = new AbortController();
    this.#stops.set(turn, stop);
    this.#draft.setSending(turn, true);
    let refused: unknown;
    let isAgain = false;
    try {
      const input = await inputOf(text.trim(), images);
      const whenBusy = steers ? ("steer" as const) : undefined;
      await acknowledged(this.#handle.send(input, { turn, whenBusy, signal: stop.signal }));
    } catch (error) {
      isAgain = isAway(error);
      refused = error;
    } finally {
      this.#stops.delete(turn);
      this.#draft.setSending(turn, false);
    }
    if (isAgain) {
      await serverLink.opened();
      return this.flush();
    }
    const entry = this.#remove(turn);
    if (entry !== undefined) this.#onSent({ entry, refused });
  }

  /** Returns the message as it is now, or undefined if the person has taken it back meanwhile. */
  #remove(turn: string): Outgoing | undefined {
    const { outgoing } = this.#draft.value;
    const found = outgoing.find((one) => one.turn === turn);
    if (found !== undefined) this.#draft.change({ outgoing: outgoing.filter((one) => one !== found) });
    return found;
  }
}

function acknowledged(turn: Turn): Promise<void> {
  return turn.accepted();
}

async function inputOf(text: string, images: Outgoing["images"]): Promise<Input> {
  if (images.length === 0) return text;
  const parts = await imageParts(images);
  if (parts === undefined)
    throw new Error("An image of your message is gone from this browser. Attach it again.");
  return text === "" ? parts : [{ type: "text", text }, ...parts];
}
