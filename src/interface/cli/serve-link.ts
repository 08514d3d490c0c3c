/** `throughline serve --link`: a new link to a server that runs in another process. */

import { serverUrl } from "../../access/gate/index.ts";
import { newLinkTo } from "../../access/server/index.ts";
import { codedError } from "../../base/support/index.ts";
import { EXIT } from "./exit-codes.ts";
import { type ServerPlace, tokenOfServer } from "./kept-token.ts";
import { openStore, type StoreFlags } from "./open-store.ts";
import type { Terminal } from "./terminal.ts";

export interface LinkFlags extends StoreFlags {
  readonly newToken?: boolean;
  readonly link?: boolean;
}

export function assertTokenFlags(
  { link, newToken }: LinkFlags,
  port: number,
  given: string | undefined,
): void {
  if (link === true && newToken === true)
    throw codedError(
      "usage",
      "--link and --new-token exclude each other: a new token takes effect at a start",
    );
  if (link === true && port === 0)
    throw codedError("usage", "--link: name the port of the running server with --port");
  if (newToken === true && given !== undefined)
    throw codedError(
      "usage",
      "--new-token: the token is in THROUGHLINE_TOKEN or THROUGHLINE_TOKEN_FILE. Change it there, or unset the variable",
    );
}

/** The server runs in another process, which is not asked: whoever listens there instead would learn nothing. */
export async function printLink(
  flags: LinkFlags,
  place: ServerPlace,
  given: string | undefined,
  terminal: Terminal,
): Promise<number> {
  const store = await openStore(flags);
  const own = serverUrl(place.host, place.port);
  await assertAnswers(own);
  const token = given ?? (store.shared === undefined ? tokenOfServer(place) : undefined);
  terminal.stdout.write(`${await newLinkTo({ url: place.publicUrl ?? own, token, store })}\n`);
  return EXIT.ok;
}

async function assertAnswers(url: string): Promise<void> {
  try {
    await fetch(`${url}/healthz`, { redirect: "error", signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch (error) {
    throw codedError(
      "server_unreachable",
      `no server answers at ${url}, so a link would lead nowhere: start it with throughline serve, or name its --host and --port`,
      error,
    );
  }
}

const PATIENCE_MS = 5000;
