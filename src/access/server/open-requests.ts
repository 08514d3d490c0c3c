/**
 * Requests that are still being answered for a key of the table. An event stream lasts as long as its client, so its key
 * is checked again from time to time: whoever was shut out must not go on reading.
 */

import type { ServerResponse } from "node:http";

import type { AccessKeys } from "./access-keys.ts";
import type { KnownKey } from "./gate.ts";

export class OpenRequests {
  readonly #keys: AccessKeys;
  readonly #timer: NodeJS.Timeout;
  readonly #open = new Map<ServerResponse, KnownKey>();
  #isChecking = false;

  constructor(keys: AccessKeys, everyMs: number) {
    this.#keys = keys;
    this.#timer = setInterval(() => void this.#check(), everyMs);
    this.#timer.unref();
  }

  add(response: ServerResponse, key: KnownKey): void {
    if (key.grant.name === "") return; // the server's own token holds as long as the server
    this.#open.set(response, key);
    response.on("close", () => this.#open.delete(response));
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    await Promise.all([...this.#open].map(([response, key]) => this.#checkOne(response, key)));
    this.#isChecking = false;
  }

  async #checkOne(response: ServerResponse, { given, as }: KnownKey): Promise<void> {
    try {
      const grant = await (as === "token" ? this.#keys.ofToken(given) : this.#keys.ofCookie(given));
      if (grant === undefined) response.destroy();
    } catch {
      // The store is away: nobody was shut out.
    }
  }
}
