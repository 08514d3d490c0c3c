/**
 * Links to a server that another process runs. They are made with its token, or in the table of its store, and without a
 * request: whoever listens at that address learns nothing.
 */

import type { Store } from "../../runtime/log/index.ts";
import { AccessKeys } from "./access-keys.ts";
import { LOGIN_PATH } from "./gate.ts";

/** The server that a link leads to. */
export interface ServerAddress {
  /** The address as the server prints it in its links, without a path. */
  readonly url: string;
  /** Its token. Not needed if its store has tokens and the server was started without one. */
  readonly token?: string | undefined;
  readonly store: Pick<Store, "shared">;
}

/** Makes a link that logs in one browser, once. The server must be running. */
export async function newLinkTo(server: ServerAddress): Promise<string> {
  return linkWith(server.url, await keysOf(server).codeForServer());
}

/** Logs out every browser and program that used a link of a server without a token of its own, on all nodes. */
export async function forgetLinksOf(server: ServerAddress): Promise<void> {
  await keysOf(server).forgetLinks();
}

export function linkWith(url: string, code: string): string {
  return `${url}${LOGIN_PATH}?code=${code}`;
}

function keysOf({ url, token, store: { shared } }: ServerAddress): AccessKeys {
  return new AccessKeys({ token, tenant: shared?.tenant, table: shared?.tokens, address: () => url });
}
