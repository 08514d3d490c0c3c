/**
 * The sessions of each tenant, apart from those of every other: a host of its own over a store of its own. The tenant
 * comes from the key of a request, never from anything else in it, so no request can name the session of another tenant.
 */

import { codedError } from "../../base/support/index.ts";
import type { Store } from "../../runtime/log/index.ts";
import type { SessionHost } from "./session-host.ts";

export class TenantHosts {
  readonly #store: Store;
  readonly #make: (store: Store) => SessionHost;
  readonly #hosts = new Map<string, { readonly store: Store; readonly host: SessionHost }>();
  #draining = false;
  #stopping = false;

  constructor(store: Store, make: (store: Store) => SessionHost) {
    this.#store = store;
    this.#make = make;
  }

  of(tenant: string): SessionHost {
    return this.#entry(tenant).host;
  }

  storeOf(tenant: string): Store {
    return this.#entry(tenant).store;
  }

  all(): readonly SessionHost[] {
    return [...this.#hosts.values()].map(({ host }) => host);
  }

  async drain(ms: number): Promise<void> {
    this.#draining = true;
    await Promise.all(this.all().map((host) => host.drain(ms)));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.all().map((host) => host.stop()));
  }

  #entry(tenant: string): { readonly store: Store; readonly host: SessionHost } {
    const known = this.#hosts.get(tenant);
    if (known !== undefined) return known;
    if (this.#stopping) throw codedError("server_stopping", "the server is stopping");
    const { shared } = this.#store;
    const store = shared === undefined || tenant === shared.tenant ? this.#store : shared.forTenant(tenant);
    const made = { store, host: this.#make(store) };
    this.#hosts.set(tenant, made);
    if (this.#draining) void made.host.drain(0); // it has no turn to wait for, and accepts none
    return made;
  }
}
