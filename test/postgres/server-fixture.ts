/** Servers on one database, with tokens of their store. */

import type { Grant, Right, Store, TokenTable } from "../../src/runtime/log/index.ts";
import type { PostgresStoreOptions } from "../../src/runtime/postgres/index.ts";
import { say } from "../contracts/session-fixture.ts";
import { type Answer, ask, servedAlone, type Served, type ServedOptions } from "../server/server-fixture.ts";
import type { Database } from "./fixture.ts";

export type Server = Omit<Served, "remote">;

/** The token that all nodes are started with. */
export const OWN = "the-own-token-of-every-node-of-this-store";

/**
 * A server of the pool. Copies of stores are not known to be in the same place, so the nodes of a test act like
 * processes.
 */
export function node(
  db: Database,
  name: string,
  { server, ...options }: ServedOptions = {},
  storeOptions: PostgresStoreOptions = {},
): Promise<Server> {
  return servedAlone({
    script: [{ output: [say(`Here is ${name}.`)] }],
    ...options,
    store: apart(db.store({ pool: "test", name, ...storeOptions })),
    server: { token: OWN, ...server },
  });
}

function apart(store: Store): Store {
  const { shared } = store;
  if (shared === undefined) throw new Error("not shared");
  const forTenant = (tenant: string): Store => ({ ...shared.forTenant(tenant) });
  return { ...store, shared: { ...shared, forTenant } };
}

export function tokensOf({ store }: Pick<Server, "store">): TokenTable {
  if (store.shared === undefined) throw new Error("not shared");
  return store.shared.tokens;
}

function grant(tenant: string, may: Right, name = `${tenant}-${may}`): Grant {
  return { tenant, may, name };
}

export function newToken(server: Pick<Server, "store">, tenant: string, may: Right): Promise<string> {
  return tokensOf(server).add(grant(tenant, may), undefined);
}

/** A request with this token instead of the server's own. */
export function askAs(
  { server }: Pick<Server, "server">,
  token: string,
  path: string,
  body?: object,
  method = body === undefined ? "GET" : "POST",
): Promise<Answer> {
  return ask(
    { port: server.port, token },
    { method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
  );
}

/** A request of a browser with a cookie. */
export function browse(
  { server }: Pick<Server, "server">,
  cookie: string | undefined,
  path: string,
  body?: object,
): Promise<Answer> {
  const host = `127.0.0.1:${server.port}`;
  return ask(server, {
    method: body === undefined ? "GET" : "POST",
    path,
    bare: true,
    headers: {
      host,
      ...(cookie === undefined ? {} : { cookie }),
      ...(body === undefined ? {} : { origin: `http://${host}`, "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** The name and value of the cookie that an answer sets. */
export function cookieIn({ headers }: Answer): string | undefined {
  return headers["set-cookie"] === undefined ? undefined : String(headers["set-cookie"]).split(";")[0];
}

export function bodyOf({ text }: Answer): Readonly<Record<string, unknown>> {
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** The text of an answer that holds a turn's state. */
export function resultIn(answer: Answer): unknown {
  return (bodyOf(answer)["result"] as { readonly text?: unknown } | undefined)?.text;
}

export function idsIn(answer: Answer): readonly string[] {
  return (bodyOf(answer)["sessions"] as readonly { readonly id: string }[]).map(({ id }) => id);
}
