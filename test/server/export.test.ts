/**
 * A session as a download: byte for byte the same as the command line's export in every format, and never run by a
 * browser.
 */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";

import { expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { bundleText, parseBundle, readBundle } from "../../src/runtime/log/index.ts";
import { afterTest, temporaryFolder } from "../contracts/file-fixture.ts";
import { say } from "../contracts/session-fixture.ts";
import { CLI } from "../support/built.ts";
import { ask, codeIn, served } from "./server-fixture.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const SECRET = "sk-proj-0123456789abcdefghijklmn";

const FORMS = ["jsonl", "markdown", "html"].flatMap((format) =>
  ["", "&reasoning=false", "&redact=true"].map((query) => ({ format, query })),
);
/** Each is its own process; a redacted export ends with a notice that has its own time. */
const AS_WRITTEN: Readonly<Record<string, readonly string[]>> = {
  jsonl: [],
  "jsonl&reasoning=false": ["--no-reasoning"],
  markdown: [],
  "html&reasoning=false": ["--no-reasoning"],
};
const FILES: Readonly<Record<string, readonly [string, string]>> = {
  jsonl: ["s1.jsonl", "application/x-ndjson"],
  markdown: ["s1.md", "text/markdown; charset=utf-8"],
  html: ["s1.html", "text/html; charset=utf-8"],
};

test("a download over HTTP equals the command line's export, in every format, with and without thoughts and secrets", async () => {
  const home = temporaryFolder();
  const env = { PATH: process.env["PATH"], HOME: home, THROUGHLINE_HOME: home };
  const child: ChildProcess = spawn(process.execPath, [CLI, "serve", "--port", "0"], {
    cwd: home,
    env: { ...env, THROUGHLINE_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "ignore"],
  });
  afterTest(() => void child.kill("SIGKILL"));
  const line = await new Promise<string>((resolve) =>
    child.stdout?.once("data", (data) => resolve(String(data))),
  );
  const url = /http:\/\/[\d.:]+/.exec(line)?.[0] ?? "";
  const session = await (await connect(url, { token: TOKEN })).open({ id: "s1" });
  expect((await session.send(`Keep ${SECRET} to yourself.`).result()).status).toBe("completed");

  const texts = new Map<string, string>();
  for (const { format, query } of FORMS) {
    const answer = await ask(
      { port: Number(new URL(url).port), token: TOKEN },
      { path: `/api/sessions/s1/export?format=${format}${query}` },
    );
    const bytes = Buffer.from(answer.text);
    const [file, mediaType] = FILES[format] ?? [];
    expect([answer.status, answer.headers["content-type"], answer.headers["content-disposition"]]).toEqual([
      200,
      mediaType,
      `attachment; filename="${file}"`,
    ]);
    const flags = AS_WRITTEN[`${format}${query}`];
    if (flags !== undefined) {
      const args = [CLI, "sessions", "export", "s1", "--format", format, ...flags];
      const written = execFileSync(process.execPath, args, {
        env,
        cwd: home,
        stdio: ["ignore", "pipe", "ignore"],
      });
      expect([format, query, bytes.equals(written)]).toEqual([format, query, true]);
    }
    texts.set(`${format}${query}`, bytes.toString("utf8"));
  }
  const thought = "Thought for";
  expect(texts.get("markdown")).toContain(thought);
  expect(texts.get("markdown&reasoning=false")).not.toContain(thought);
  expect(texts.get("html&reasoning=false")).not.toContain(thought);
  expect(parseBundle(Buffer.from(texts.get("jsonl") ?? "")).events.some(isThought)).toBe(true);
  expect(parseBundle(Buffer.from(texts.get("jsonl&reasoning=false") ?? "")).events.some(isThought)).toBe(
    false,
  );
  for (const [form, text] of texts)
    expect([form, text.includes(SECRET)]).toEqual([form, !form.includes("redact")]);
});

const isThought = (event: { readonly type: string; readonly parts?: unknown }): boolean =>
  event.type === "reasoning" && JSON.stringify(event.parts) !== "[]";

test("a server made with the library exports the whole session for import, and refuses other formats", async () => {
  const { server, remote, store } = await served({ script: [{ output: [say("Hello")] }] });
  const session = await remote.open({ id: "s1" });
  const empty = await ask(server, { path: "/api/sessions/s1/export" });
  expect([empty.status, codeIn(empty)]).toEqual([409, "nothing_to_export"]);
  // Large enough to be stored as a blob.
  const data = Buffer.alloc(60_000, "picture").toString("base64");
  await session.send([{ type: "image", mediaType: "image/png", data }]).result();
  const answer = await ask(server, { path: "/api/sessions/s1/export" });
  expect(answer.headers).toMatchObject({
    "content-type": "application/x-ndjson",
    "content-disposition": 'attachment; filename="s1.jsonl"',
    "x-content-type-options": "nosniff",
  });
  const bundle = await readBundle(await store.open("s1", { mode: "read" }));
  expect(answer.text).toBe(Buffer.concat([...bundleText(bundle)]).toString("utf8"));
  expect(parseBundle(Buffer.from(answer.text)).blobs.size).toBe(1);

  for (const query of ["format=html", "format=../x", "format=jsonl&reasoning=false", "redact=true"]) {
    const refused = await ask(server, { path: `/api/sessions/s1/export?${query}` });
    expect([refused.status, codeIn(refused)]).toEqual([400, "format_unknown"]);
  }
  for (const query of ["reasoning=1", "redact=", "reasoning=no"]) {
    const refused = await ask(server, { path: `/api/sessions/s1/export?${query}` });
    expect([refused.status, codeIn(refused)]).toEqual([400, "parameter_invalid"]);
  }
});
