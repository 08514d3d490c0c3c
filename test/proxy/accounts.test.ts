import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test, vi } from "vitest";

import { startEmulator } from "../../src/emulator/index.ts";
import { eraseLedger, type ExchangeLine, ledgerStatus, readExchanges } from "../../src/proxy/relay/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { afterTest } from "../support/clean-up.ts";
import { type Header, valuesOf } from "./support/http-bytes.ts";
import { ownStreams } from "./support/streams.ts";
import { type Heard, type Said, type Talker, TALKERS } from "./support/talk.ts";
import {
  answerBytes,
  type Answer,
  ask,
  JSON_TYPE,
  openProxy,
  requestTo,
  startUpstream,
  type WatchedProxy,
} from "./support/wire.ts";

/** Everything in the files of a folder, and their names. */
function contentOf(folder: string): string {
  return readdirSync(folder)
    .map((name) => `${name}\n${readFileSync(join(folder, name), "latin1")}`)
    .join("\n");
}

describe("a token", () => {
  const token = "tok-4b1d8c0e7f";

  test("is needed, in its header or in front of the path, and is found nowhere else", async () => {
    const upstream = await startUpstream(
      answerBytes("200 OK", [JSON_TYPE], '{"id":"resp_1","status":"completed","output":[]}'),
    );
    const ledger = temporaryFolder();
    const lines: ExchangeLine[] = [];
    const proxy = await openProxy({
      routes: { up: upstream.origin, off: "http://127.0.0.1:9" },
      token,
      ledger,
      onExchange: (line) => lines.push(line),
    });
    const told = vi.spyOn(process.stderr, "write");
    const body = '{"model":"m","input":"a"}';
    const post = (target: string, headers: readonly Header[] = []): Promise<Answer> =>
      ask(proxy.port, requestTo(proxy.port, target, { headers, body }));
    const header: readonly Header[] = [["X-Throughline-Token", token]];
    const good = [
      await post("/up/v1/responses", header),
      await post(`/t/${token}/up/v1/responses`),
      await post(`/t/${token}/up/v1/responses`, header),
      await post(`/t/${token}/up/v1/files?a=1`),
    ];
    expect(good.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const others = [
      await post(`/t/${token}/none/v1`),
      await post(`/t/${token}`),
      await post(`/t/${token}/off/v1/responses`),
      await post(`/t/${token}/off/v1/files`),
    ];
    expect(others.map(({ status }) => status)).toEqual([404, 404, 502, 502]);
    const bad = [
      await post("/up/v1/responses"),
      await post("/t/other/up/v1/responses"),
      await post(`/t/${token}x/up/v1/responses`),
      await post(`/t/${token.slice(1)}/up/v1/responses`),
      await post("/t//up/v1/responses"),
      await post(`/up/t/${token}/v1/responses`),
      await post(`/up/v1/responses?token=${token}`),
      await post("/up/v1/responses", [["X-Throughline-Token", "other"]]),
      await post("/up/v1/responses", [["X-Throughline-Token", ""]]),
      await post("/up/v1/responses", [["Authorization", `Bearer ${token}`]]),
    ];
    expect(bad.map(({ status }) => status)).toEqual(bad.map(() => 401));
    expect(upstream.requests.map(({ start }) => start)).toEqual([
      ...Array.from({ length: 3 }, () => "POST /v1/responses HTTP/1.1"),
      "POST /v1/files?a=1 HTTP/1.1",
    ]);
    await proxy.close();
    const seen = [
      ...upstream.requests.map(
        ({ start, headers, body: sent }) => `${start} ${JSON.stringify(headers)} ${sent.toString()}`,
      ),
      ...[...good, ...others, ...bad].map(
        (answer) => `${answer.start} ${JSON.stringify(answer.headers)} ${answer.body.toString()}`,
      ),
      JSON.stringify(lines),
      JSON.stringify(proxy.problems),
      JSON.stringify(told.mock.calls),
      contentOf(ledger),
    ];
    expect(seen.filter((text) => text.includes(token))).toEqual([]);
  });

  test("is not needed for the health, which tells nothing else", async () => {
    const proxy = await openProxy({ to: "http://127.0.0.1:9", token });
    const got = await ask(proxy.port, requestTo(proxy.port, "/__throughline/health", { method: "GET" }));
    expect([got.status, JSON.parse(got.body.toString())]).toEqual([200, { status: "ok", mode: "repair" }]);
  });

  test("addresses of the proxy itself never reach an upstream", async () => {
    const upstream = await startUpstream(answerBytes("200 OK", [JSON_TYPE], "{}"));
    const proxy = await openProxy({ to: upstream.origin });
    for (const path of ["/__throughline/health?a=1", "/__throughline/", "/__throughline/exchanges"])
      await ask(proxy.port, requestTo(proxy.port, path, { method: "GET" }));
    expect(upstream.requests.map(({ start }) => start)).toEqual([]);
  });
});

describe("a key of the client", () => {
  const key = "sk-canary-0f3a91b7c5";

  /** Everything that a proxy with a ledger tells or keeps of some exchanges. */
  async function traces(answers: readonly Buffer[]): Promise<Readonly<Record<string, string>>> {
    let answer = answers[0] ?? Buffer.alloc(0);
    const upstream = await startUpstream((socket) => socket.write(answer));
    const ledger = temporaryFolder();
    const lines: ExchangeLine[] = [];
    const proxy = await openProxy({
      routes: { up: upstream.origin, off: "http://127.0.0.1:9" },
      ledger,
      onExchange: (line) => lines.push(line),
    });
    const told = vi.spyOn(process.stderr, "write");
    const got: Answer[] = [];
    const body = `{"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[]},{"role":"user","content":"a"}],"messages":[{"role":"user","content":"a"}]}`;
    for (answer of answers)
      for (const path of [
        "/up/v1/responses",
        "/up/v1/messages",
        `/up/v1/responses?key=${key}`,
        "/off/v1/responses",
        "/off/v1/files",
      ])
        for (const name of NAMES) {
          const headers: readonly Header[] = [
            [name, name === "authorization" ? `Bearer ${key}` : key],
            ["cookie", `session=${key}`],
          ];
          got.push(await ask(proxy.port, requestTo(proxy.port, path, { headers, body })));
        }
    const carried = upstream.requests.filter(({ headers }) =>
      NAMES.some((name) => valuesOf(headers, name).join().includes(key)),
    );
    expect(carried).toHaveLength(upstream.requests.length);
    await proxy.close();
    return {
      answers: got
        .map(({ headers, body: sent }) => `${JSON.stringify(headers)} ${sent.toString()}`)
        .join("\n"),
      lines: JSON.stringify(lines),
      problems: JSON.stringify(proxy.problems),
      stderr: JSON.stringify(told.mock.calls),
      files: contentOf(ledger),
    };
  }
  const NAMES = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];
  const holding = (seen: Readonly<Record<string, string>>): readonly string[] =>
    Object.keys(seen).filter((name) => seen[name]?.includes(key));

  test("goes to its upstream, and is in no file, line, problem or answer", async () => {
    const seen = await traces([
      answerBytes(
        "200 OK",
        [JSON_TYPE, ["openai-organization", "org-canary-77"]],
        '{"id":"resp_1","status":"completed","output":[{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}',
      ),
      answerBytes("401 Unauthorized", [JSON_TYPE], '{"error":{"message":"Incorrect API key provided"}}'),
      answerBytes("500 Internal Server Error", [], "x"),
      answerBytes(
        "400 Bad Request",
        [JSON_TYPE],
        '{"error":{"message":"Item \'rs_1\' of type \'reasoning\' was provided without its required following item.","param":"input"}}',
      ),
    ]);
    expect(holding(seen)).toEqual([]);
    expect(seen["files"]).not.toContain("org-canary-77");
  });

  test("is not kept if the provider repeats it in a refusal", async () => {
    const error = {
      message: `Item 'rs_1' of type 'reasoning' was provided without its required following item (key ${key}).`,
      param: "input",
    };
    const seen = await traces([answerBytes("400 Bad Request", [JSON_TYPE], JSON.stringify({ error }))]);
    expect(holding(seen)).toEqual(["answers"]);
  });
});

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
      const organisation = (headers: readonly Header[]): string =>
        JSON.stringify(headers).includes("sk-other") ? "org-2" : "org-1";
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
