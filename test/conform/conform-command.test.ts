/** `throughline conform`: what it prints where, what it refuses, how it ends. */

import { describe, expect, test } from "vitest";

import type { ConformReport } from "../../src/diagnostics/conform/index.ts";
import { conformCommand, plain } from "../../src/interface/cli/commands/conform.ts";
import { clearLine } from "../../src/interface/cli/terminal-gate.ts";
import { emulatorUrl, KEY, refusingUrl, serverUrl } from "./run-conform.ts";

interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number | undefined;
}

async function command(
  args: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly live?: boolean;
    /** "Presses Ctrl-C" after this many lines of progress. */
    readonly stopAfter?: number;
  } = {},
): Promise<Ran> {
  let out = "";
  let err = "";
  let code: number | undefined;
  let stop: (() => void) | undefined;
  let pressed: number | undefined;
  let told = 0;
  await conformCommand({
    out: (text) => (out += text),
    err: (text) => {
      err += text;
      told += 1;
      if (told !== options.stopAfter) return;
      pressed = 130;
      stop?.();
    },
    live: options.live ?? false,
    bold: plain,
    dim: plain,
    env: options.env ?? { OPENAI_API_KEY: KEY },
    finish: (given) => (code = given),
    watch: (given) => {
      stop = given;
      return () => pressed;
    },
  })
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parseAsync([...args], { from: "user" });
  return { out, err, code };
}

test("a table on stdout, a line per probe on stderr, exit 0", async () => {
  const url = await emulatorUrl();
  const { out, err, code } = await command([url, "--model", "emu-reasoner", "--only", "request,tools.call"]);
  expect(code).toBe(0);
  expect(out).toContain(`${url} · emu-reasoner · suite all`);
  expect(out).toMatch(/^ {2}holds {4}request\.store +takes store: false/m);
  expect(out).toContain("6 hold, 0 differ, 0 skipped, 0 failed. Conforms");
  expect(out).toContain('Suggested profile: "openai"\n  itemIds ');
  expect(err.split("\n").slice(0, 2)).toEqual(["1/6 holds request.store", "2/6 holds request.instructions"]);
  expect(err.split("\n").length).toBe(7);
});

test("a difference is shown with both texts, and the exit code is 5", async () => {
  const url = await emulatorUrl({ mode: "lenient" });
  const { out, code } = await command([url, "--model", "emu-reasoner", "--only", "refuses.missing-output"]);
  expect(code).toBe(5);
  expect(out).toMatch(
    /differs {2}refuses\.missing-output {2}refuses a call without its output \[T01, rule R06\]/,
  );
  expect(out).toMatch(
    /expected {2}HTTP 400, code null, param input: No tool output found for function call call_/,
  );
  expect(out).toContain("seen      accepted: this server is lenient here");
  expect(out).toContain("0 hold, 1 differ, 0 skipped, 0 failed. Does not conform");
});

test("a difference that does not count leaves the exit code at 0", async () => {
  const url = await emulatorUrl({ switches: { reasoningWithoutId: "refuse" } });
  const { out, code } = await command([url, "--model", "emu-reasoner", "--only", "replay.no-ids"]);
  expect([code, out.includes("[I09] (does not count)")]).toEqual([0, true]);
});

test("--json prints the whole report, and nothing else, to stdout", async () => {
  const url = await emulatorUrl();
  const { out, code } = await command([url, "--model", "emu-reasoner", "--suite", "reasoning", "--json"]);
  expect(code).toBe(0);
  const report = JSON.parse(out) as ConformReport & { readonly v: number; readonly type: string };
  expect(report).toMatchObject({
    v: 1,
    type: "conform",
    baseUrl: url,
    model: "emu-reasoner",
    conforms: true,
  });
  expect(report.results[0]).toEqual({
    id: "request.reasoning",
    suite: "reasoning",
    title: "takes reasoning: {summary}",
    why: "S07, S08",
    strict: true,
    result: "holds",
    seen: "accepted",
    facts: { accepted: true },
    durationMs: expect.any(Number) as number,
  });
});

test("on a terminal progress rewrites its line and is erased at the end", async () => {
  const url = await emulatorUrl();
  const { err } = await command([url, "--model", "emu-reasoner", "--only", "request.store"], { live: true });
  expect(err).toBe(`${clearLine}1/1 holds request.store${clearLine}`);
});

test("Ctrl-C stops cleanly: the results so far are printed, and the exit code is 130", async () => {
  const url = await emulatorUrl();
  const { out, code } = await command([url, "--model", "emu-reasoner"], { stopAfter: 3 });
  expect(code).toBe(130);
  expect(out).toContain("3 hold, 0 differ, 0 skipped, 0 failed. Stopped before the end.");
});

test("the key is sent to the server and nowhere else; without a key no header is sent", async () => {
  const seen: (string | undefined)[] = [];
  const url = await refusingUrl((request) => {
    seen.push(request.headers.authorization);
    return `no: ${request.headers.authorization}`;
  });
  const args = [url, "--model", "m", "--only", "request.store"];
  for (const json of [[], ["--json"]]) {
    const { out, err } = await command([...args, ...json]);
    expect(out + err).not.toContain(KEY);
    expect(out).toContain("[key]");
  }
  await command(args, { env: {} });
  await command([...args, "--api-key-env", "OTHER"], { env: { OTHER: "sk-other", OPENAI_API_KEY: KEY } });
  expect([...new Set(seen)]).toEqual([`Bearer ${KEY}`, undefined, "Bearer sk-other"]);
});

test("a server's text cannot move the cursor", async () => {
  const url = await refusingUrl(() => "\u001B[2J\u202Egnp.exe\nholds  everything");
  for (const json of [[], ["--json"]]) {
    const { out } = await command([url, "--model", "m", "--only", "request.store", ...json]);
    expect([out.includes("\u001B"), out.includes("\u202E")]).toEqual([false, false]);
    expect(out).not.toMatch(/^holds {2}everything/m);
    expect(out).toContain("[2J");
  }
});

test("a server with one model needs no --model", async () => {
  const asked: unknown[] = [];
  const server = (ids: readonly string[]): Promise<string> =>
    serverUrl((request, response, body) => {
      if (request.url === "/v1/models") {
        response.end(JSON.stringify({ data: ids.map((id) => ({ id })) }));
        return;
      }
      asked.push((JSON.parse(body) as { readonly model: unknown }).model);
      response.writeHead(400).end('{"error":{"message":"no"}}');
    });
  await expect(command([await server(["only-one"])])).rejects.toMatchObject({ code: "request_refused" });
  expect(asked).toEqual(["only-one"]);
  await expect(command([await server(["a", "b"])])).rejects.toMatchObject({
    code: "model_needed",
    message: "the server has 2 models: name one with --model (a, b)",
  });
  await expect(command([await server([])])).rejects.toMatchObject({ code: "model_needed" });
});

describe("bad input is reported with a code, before anything is sent", () => {
  test.each([
    [["nonsense"], "base_url_invalid"],
    [["ftp://127.0.0.1/v1"], "base_url_invalid"],
    [["http://me:secret@127.0.0.1/v1"], "base_url_invalid"],
    [["http://127.0.0.1/v1?key=1"], "base_url_invalid"],
    [["http://127.0.0.1:1/v1", "--timeout", "soon"], "usage"],
    [["http://127.0.0.1:1/v1", "--concurrency", "0"], "usage"],
    [["http://127.0.0.1:1/v1", "--only", "nothing"], "probe_unknown"],
    [["http://127.0.0.1:1/v1", "--api-key-env", "NOT_SET"], "api_key_missing"],
    [["http://127.0.0.1:1/v1", "--suite", "some"], "commander.invalidArgument"],
    [[], "commander.missingArgument"],
    [["http://127.0.0.1:1/v1", "--model", "m"], "connect_refused"],
  ])("%j", async (args, code) => {
    const error = await command(args).then(
      () => "it ran",
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code });
    expect(JSON.stringify(error) + String(error)).not.toContain("secret");
  });
});
