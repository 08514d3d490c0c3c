import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { startEmulator } from "../../src/emulator/index.ts";
import { eraseLedger, ledgerStatus, readExchanges } from "../../src/proxy/relay/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { afterTest } from "../support/clean-up.ts";
import { contentOf } from "./support/folder-content.ts";
import { type Header } from "./support/http-bytes.ts";
import { ownStreams } from "./support/streams.ts";
import { type Heard, type Said, type Talker, TALKERS } from "./support/talk.ts";
import {
  answerBytes,
  ask,
  JSON_TYPE,
  openProxy,
  requestTo,
  startUpstream,
  type WatchedProxy,
} from "./support/wire.ts";

/** One exchange; what the upstream got of it, and what the client heard. */
async function talk(
  proxy: WatchedProxy,
  talker: Talker,
  key: string,
  history: readonly Said[],
  stream: boolean,
): Promise<Heard> {
  const headers = [...talker.headers(key), JSON_TYPE];
  const got = await ask(
    proxy.port,
    requestTo(proxy.port, talker.path, { headers, body: talker.body(history, stream) }),
  );
  if (got.status !== 200) throw new Error(got.body.toString());
  return talker.heard(got.body.toString(), stream);
}

const organisation = (headers: readonly Header[]): string =>
  JSON.stringify(headers).includes("sk-other") ? "org-2" : "org-1";

describe("two accounts", () => {
  const accounts = { "sk-a": "org-one", "sk-b": "org-two", "sk-a2": "org-one" };

  test.for(TALKERS)(
    "$name: nothing crosses; another key of the same organisation finds everything after its first answer",
    async (talker) => {
      const sent: string[] = [];
      const emulator = await startEmulator({
        accounts,
        mode: "lenient",
        record: ({ requestText }) => sent.push(requestText),
      });
      afterTest(() => emulator.close());
      const proxy = await openProxy({ to: emulator.url, ledger: temporaryFolder() });
      const opening = [{ user: "Tell me about rivers, please, and at some length." }];
      const first = await talk(proxy, talker, "sk-a", opening, true);
      const next = [...opening, { model: first.text }, { user: "And lakes?" }];
      await talk(proxy, talker, "sk-b", next, true);
      expect(sent.at(-1)).toBe(talker.body(next, true));
      await talk(proxy, talker, "sk-b", next, false);
      expect(sent.at(-1)).toBe(talker.body(next, false));
      // A key that had no answer yet belongs to nobody.
      await talk(proxy, talker, "sk-a2", next, true);
      expect(sent.at(-1)).not.toContain(first.thought);
      await talk(proxy, talker, "sk-a", next, true);
      expect(sent.at(-1)).toContain(first.thought);
      // It has a new branch: what was decided for the old one stays.
      const branch = [...opening, { model: first.text }, { user: "And seas?" }];
      await talk(proxy, talker, "sk-a2", branch, true);
      expect(sent.at(-1)).toContain(first.thought);
      await talk(proxy, talker, "sk-b", branch, true);
      expect(sent.at(-1)).toBe(talker.body(branch, true));
    },
  );

  const HEADERS: Readonly<Record<string, string>> = {
    responses: "openai-organization",
    messages: "anthropic-organization-id",
    chat: "openai-organization",
  };

  test.for(TALKERS)(
    "$name: an upstream that names the organisation ties its keys, also after a restart",
    async (talker) => {
      const stream = (await ownStreams(false)).find(({ name }) => name === `${talker.name}, a text`);
      const body = stream?.bytes ?? Buffer.alloc(0);
      const upstream = await startUpstream((socket, { headers }) =>
        socket.write(
          answerBytes("200 OK", [JSON_TYPE, [HEADERS[talker.name] ?? "", organisation(headers)]], body),
        ),
      );
      const ledger = temporaryFolder();
      const proxy = await openProxy({ to: upstream.origin, ledger });
      const opening = [{ user: "Grüße 🧠" }];
      const { text, thought } = await talk(proxy, talker, "sk-old", opening, false);
      await talk(proxy, talker, "sk-new", [{ user: "Something else." }], false); // the key is rotated
      await talk(proxy, talker, "sk-other", [{ user: "Something else." }], false);
      await proxy.close();
      const again = await openProxy({ to: upstream.origin, ledger });
      const next = [...opening, { model: text }, { user: "b" }];
      await talk(again, talker, "sk-other", next, false);
      expect(upstream.requests.at(-1)?.body.toString()).toBe(talker.body(next, false));
      await talk(again, talker, "sk-new", next, false);
      expect(upstream.requests.at(-1)?.body.toString()).toContain(thought);
      await talk(again, talker, "sk-third", next, false);
      expect(upstream.requests.at(-1)?.body.toString()).toBe(talker.body(next, false));
    },
  );
});

describe("the files of a ledger", () => {
  test("are their owner's alone, whatever the umask, and hold no word of the conversation", async () => {
    const old = process.umask(0);
    afterTest(() => process.umask(old));
    const folder = join(temporaryFolder(), "deep", "ledger");
    const emulator = await startEmulator();
    afterTest(() => emulator.close());
    const proxy = await openProxy({ to: emulator.url, ledger: folder });
    const heard: Heard[] = [];
    for (const talker of TALKERS) {
      const first = await talk(proxy, talker, "sk-a", [{ user: "MARKED-PROMPT about rivers" }], true);
      heard.push(
        first,
        await talk(
          proxy,
          talker,
          "sk-a",
          [{ user: "MARKED-PROMPT about rivers" }, { model: first.text }, { user: "MARKED-PROMPT again" }],
          false,
        ),
      );
    }
    await proxy.close();
    const modes = readdirSync(folder).map((name) => [
      name,
      (statSync(join(folder, name)).mode & 0o777).toString(8),
    ]);
    expect(modes.length).toBeGreaterThanOrEqual(2);
    expect(modes.filter(([, mode]) => mode !== "600")).toEqual([]);
    expect((statSync(folder).mode & 0o777).toString(8)).toBe("700");
    expect(ledgerStatus(folder)).toMatchObject({ groups: 6, exchanges: 6, damage: [] });
    expect(readExchanges(folder).map(({ recorded }) => recorded)).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
    ]);
    // Readable reasoning may quote the prompt; everything else must not be there.
    const content = contentOf(folder).replaceAll(/"raw":\[.*?\],"sum"/g, "");
    expect(content).not.toContain("MARKED-PROMPT");
    for (const { text } of heard) expect(content).not.toContain(JSON.stringify(text).slice(1, 41));
    eraseLedger(folder, {});
    for (const { thought } of heard) expect(contentOf(folder)).not.toContain(thought);
  });
});
