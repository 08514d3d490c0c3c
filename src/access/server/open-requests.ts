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
  readonly #ofTenant = new Map<string, number>();
  #isChecking = false;

  constructor(keys: AccessKeys, everyMs: number) {
    this.#keys = keys;
    this.#timer = setInterval(() => void this.#check(), everyMs);
    this.#timer.unref();
  }

  add(response: ServerResponse, key: KnownKey): void {
    if (key.grant.name === "") return; // the server's own token holds as long as the server
    const { tenant } = key.grant;
    this.#open.set(response, key);
    this.#ofTenant.set(tenant, this.of(tenant) + 1);
    response.on("close", () => {
      this.#open.delete(response);
      const left = this.of(tenant) - 1;
      if (left > 0) this.#ofTenant.set(tenant, left);
      else this.#ofTenant.delete(tenant);
    });
  }

  /** How many of them a tenant has, all its tokens together. */
  of(tenant: string): number {
    return this.#ofTenant.get(tenant) ?? 0;
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
