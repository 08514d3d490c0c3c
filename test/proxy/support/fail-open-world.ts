/** A provider, a proxy in trouble, and whether a client notices. */

import { readdirSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { temporaryFolder } from "../../contracts/file-fixture.ts";
import { scenario, startReplay } from "./fail-open-scenario.ts";
import { ownStreams, type Recorded } from "./streams.ts";
import { TALKERS } from "./talk.ts";
import { ask, openProxy, requestTo, type Upstream } from "./wire.ts";

export interface World {
  readonly upstream: Upstream;
  readonly streams: readonly Recorded[];
  readonly plain: readonly Recorded[];
}

export async function world(): Promise<World> {
  const [streams, plain] = [await ownStreams(true), await ownStreams(false)];
  return { upstream: await startReplay(streams, plain), streams, plain };
}

/** What a client or the provider sees differently than without the proxy. */
export const differences = ({ upstream, streams, plain }: World, port: number): Promise<string | undefined> =>
  scenario(port, upstream, { streams, plain });

export async function healthOf(port: number): Promise<unknown> {
  const { body } = await ask(port, requestTo(port, "/__throughline/health", { method: "GET" }));
  return JSON.parse(body.toString());
}

/** A folder with what one scenario leaves. */
export async function soundLedger(given: World): Promise<string> {
  const folder = join(temporaryFolder(), "ledger");
  const proxy = await openProxy({ to: given.upstream.origin, ledger: folder });
  expect(await differences(given, proxy.port)).toBeUndefined();
  await proxy.close();
  return folder;
}

export const segmentsOf = (folder: string): readonly string[] =>
  readdirSync(folder).flatMap((name) => (name.endsWith(".jsonl") ? [join(folder, name)] : []));

/** The talkers whose lost thought is put back. */
export async function found({ upstream, streams }: World, port: number): Promise<readonly string[]> {
  const names: string[] = [];
  for (const talker of TALKERS) {
    const { text, thought } = talker.heard(
      streams.find(({ name }) => name === `${talker.name}, a text`)?.bytes.toString("utf8") ?? "",
      true,
    );
    const body = talker.body([{ user: "Grüße 🧠" }, { model: text }, { user: "and more" }], true);
    const got = await ask(
      port,
      requestTo(port, talker.path, { headers: [["authorization", "Bearer sk-a"]], body }),
    );
    expect(got.status).toBe(200);
    if (upstream.requests.at(-1)?.body.toString().includes(thought) === true) names.push(talker.name);
  }
  return names;
}

export const ALL = TALKERS.map(({ name }) => name);
