/** `throughline proxy log`, `show`, `stats`, `erase` and `doctor`: what a person sees of a ledger and does with it. */

import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { frameOpen } from "../../src/base/files/index.ts";
import type { ExchangeLine } from "../../src/proxy/relay/index.ts";
import { emulatorOf, expectProblem, newPlace, type Place, run, start } from "./harness.ts";
import {
  lossyTurns,
  post,
  proxying,
  proxyOf,
  type ProxyRun,
  stopped,
  UNANSWERED_CALL,
} from "./proxy-fixture.ts";
import { onTerminal } from "./pty.ts";

const folderOf = (place: Place): string => join(place.home, "proxy", "ledger");

let made: Promise<Place> | undefined;

async function make(): Promise<Place> {
  const place = newPlace();
  const { proxy } = await proxyOf(place, ["--quiet"]);
  await lossyTurns(proxy.url, "rivers");
  await post(proxy.url, UNANSWERED_CALL, {
    authorization: "Bearer sk-other-account-1",
    "user-agent": "other (x)",
  });
  await stopped(proxy);
  return place;
}

/** Three exchanges: passed, put back, healed. The proxy has ended. Every test gets its own copy. */
async function filled(): Promise<Place> {
  made ??= make();
  const place = newPlace();
  cpSync(folderOf(await made), folderOf(place), { recursive: true });
  return place;
}

async function exchangesOf(place: Place): Promise<readonly ExchangeLine[]> {
  const { code, out } = await run(place, ["proxy", "log", "--json", "--limit", "100"]);
  expect(code).toBe(0);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ExchangeLine);
}

const left = async (place: Place): Promise<number> => (await exchangesOf(place)).length;

/** A place whose proxy leads to one upstream, so that no test looks for hosts of the world. */
async function settled(to?: string): Promise<Place> {
  const place = newPlace();
  mkdirSync(place.home);
  const upstream = to ?? (await emulatorOf({ paceMs: 0 })).emulator.url;
  writeFileSync(join(place.home, "config.json"), JSON.stringify({ proxy: { to: upstream } }));
  return place;
}

async function used(place: Place): Promise<ProxyRun> {
  const proxy = await proxying(place, ["--quiet"]);
  await lossyTurns(proxy.url, "rivers");
  return proxy;
}

describe("log", () => {
  test.concurrent("lists the last exchanges, oldest first, as text and as JSON", async () => {
    const place = await filled();
    const lines = await exchangesOf(place);
    expect(lines.map(({ type, outcome, status, restored }) => [type, outcome, status, restored])).toEqual([
      ["exchange", "passed", 200, 0],
      ["exchange", "restored", 200, 1],
      ["exchange", "healed", 200, 0],
    ]);
    const { out, err } = await run(place, ["proxy", "log", "--limit", "2"]);
    expect(err).toBe("");
    const [first, second, ...more] = out.trimEnd().split("\n");
    expect(first).toMatch(
      /^x\w+ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}upstream\/responses emu-reasoner 200 put back 1 \(was 0 of 1, now 1 of 1\) \d+ ms$/,
    );
    expect(first).toContain(lines[1]?.id);
    expect(second).toMatch(/ healed after 1 refusal \(TOOLPAIR: /);
    expect(more).toEqual([]);
  });

  test.concurrent("says that there is nothing yet, in any folder", async () => {
    const place = newPlace();
    const ran = await run(place, ["proxy", "log", "--ledger", "elsewhere"]);
    expect(ran).toMatchObject({ code: 0, out: "" });
    expect(ran.err).toMatch(/^There are no exchanges in \S+\/elsewhere yet\. Start throughline proxy/);
  });

  test.concurrent("--follow goes on with new ones until Ctrl-C", async () => {
    const place = newPlace();
    const { proxy } = await proxyOf(place, ["--quiet"]);
    await post(proxy.url, UNANSWERED_CALL);
    const following = start(place, ["proxy", "log", "--follow", "--json"]);
    await following.seen(({ out }) => out.includes('"outcome":"healed"'), "the first");
    await lossyTurns(proxy.url, "rivers");
    await following.seen(({ out }) => out.includes('"outcome":"restored"'), "the last");
    following.kill("SIGINT");
    const { code, out } = await following.ended;
    expect(code).toBe(0);
    const outcomes = out
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as ExchangeLine).outcome);
    expect(outcomes).toEqual(["healed", "passed", "restored"]);
  });

  test.concurrent("--follow waits for a ledger, and ends when its reader does", async () => {
    const place = newPlace();
    const following = start(place, ["proxy", "log", "--follow"]);
    const { proxy } = await proxyOf(place, ["--quiet"]);
    await post(proxy.url, UNANSWERED_CALL);
    await following.seen(({ out }) => out.includes("healed"), "the first");
    following.child.stdout.destroy();
    await post(proxy.url, UNANSWERED_CALL);
    expect((await following.ended).code).toBe(0);
  });
});

describe("show", () => {
  test.concurrent("has every decision with its reason, refusals and repairs; a unique prefix is enough", async () => {
    const place = await filled();
    const [, restored, healed] = await exchangesOf(place);
    const shown = await run(place, ["proxy", "show", restored?.id.slice(0, -2) ?? ""]);
    expect(shown).toMatchObject({ code: 0, err: "" });
    for (const part of [
      "path      /v1/responses\n",
      "client    lossy/1.2\n",
      `account   ${restored?.account}\n`,
      "mode      repair\n",
      "thoughts  0 of 1 came, 1 of 1 were sent\n",
      "answer    in the ledger\n",
      `Decisions:\n  input[1]  put back 1 thought (known by ${restored?.decisions[0]?.tier}, issued in ${restored?.decisions[0]?.group})\n`,
    ])
      expect(shown.out).toContain(part);
    const other = await run(place, ["proxy", "show", healed?.id ?? ""]);
    expect(other.out).toMatch(
      /\nRefusals:\n {2}400 TOOLPAIR: No tool output found for function call call_1\.\n {4}repaired: .+\n$/,
    );
    expect(other.out).toContain("attempts  2\n");
    const json = await run(place, ["proxy", "show", healed?.id ?? "", "--json"]);
    expect(JSON.parse(json.out)).toEqual(healed);
  });

  test.concurrent("an unknown id and one that several have are errors with a hint", async () => {
    const place = await filled();
    const unknown = await run(place, ["proxy", "show", "y123"]);
    expectProblem(unknown, 2, "exchange_not_found");
    expect(unknown.err).toContain("throughline proxy log shows the last ones");
    const several = await run(place, ["proxy", "show", "x"]);
    expectProblem(several, 2, "exchange_ambiguous");
    expect(several.err).toContain('3 exchanges begin with "x": x');
    expectProblem(await run(place, ["proxy", "show", ""]), 2, "exchange_not_found");
  });
});

describe("stats", () => {
  test.concurrent("counts requests, recall before and after, tiers, refusals and reasons", async () => {
    const place = await filled();
    const observed = await proxying(place, [
      "--observe",
      "--to",
      (await emulatorOf({ paceMs: 0 })).emulator.url,
    ]);
    await post(observed.url, UNANSWERED_CALL);
    await stopped(observed);
    const { out } = await run(place, ["proxy", "stats", "--json"]);
    const none = { restorable: 0, carried: 0, restored: 0, before: null, after: null };
    const one = { restorable: 1, carried: 0, restored: 1, before: 0, after: 1 };
    expect(JSON.parse(out)).toEqual({
      requests: 4,
      first: expect.any(Number),
      last: expect.any(Number),
      statuses: { "200": 3, "400": 1 },
      outcomes: { passed: 1, restored: 1, healed: 1, observed: 1 },
      recall: { requests: 4, ...one },
      clients: { lossy: { requests: 3, ...one }, other: { requests: 1, ...none } },
      models: { "emu-reasoner": { requests: 4, ...one } },
      tiers: { place: 1 },
      refusals: { TOOLPAIR: { refusals: 2, healed: 1 } },
      lost: expect.any(Object),
    });
    const text = (await run(place, ["proxy", "stats"])).out;
    for (const part of [
      /^4 requests from \d{4}-\d\d-\d\d [\d:]+ to /,
      /\nrecall: 0\.0 % before, 100 % after \(0 and 1 of 1 thought\)\n/,
      /\nby client:\n {2}lossy {2}3 requests, 0\.0 % before, 100 % after .+\n {2}other {2}1 request, nothing that could go back\n/,
      /\nrefusals, by class:\n {2}TOOLPAIR {2}2, of which 1 healed\n/,
    ])
      expect(text).toMatch(part);
    expect((await run(newPlace(), ["proxy", "stats"])).out).toMatch(/^no requests yet/);
  });
});

describe("erase", () => {
  test.concurrent("needs --yes where nobody can be asked, and says what the provider still has", async () => {
    const place = await filled();
    const asked = await run(place, ["proxy", "erase", "--all"]);
    expect(asked).toMatchObject({
      code: 2,
      out: "",
      err: "would erase 3 exchanges, with what was issued in them; add --yes to do it\n",
    });
    expect(await left(place)).toBe(3);
    const done = await run(place, ["proxy", "erase", "--all", "--yes"]);
    expect(done).toMatchObject({ code: 0, out: "erased 3 exchanges and 3 answers\n" });
    expect(done.err).toBe(
      "The provider still has what it stores, and so have the client and your backups.\n",
    );
    expect(await left(place)).toBe(0);
    expect(readdirSync(folderOf(place))).toEqual(["secret"]);
    const again = await run(place, ["proxy", "erase", "--all"]);
    expect(again).toMatchObject({ code: 0, err: `there is nothing to erase in ${folderOf(place)}\n` });
  });

  test.concurrent("--exchange, --account and --before choose", async () => {
    const place = await filled();
    const [first, , last] = await exchangesOf(place);
    const erase = async (...args: readonly string[]): Promise<string> =>
      (await run(place, ["proxy", "erase", "--yes", ...args])).out;
    expect(await erase("--exchange", first?.id.slice(0, -1) ?? "")).toBe("erased 1 exchange and 1 answer\n");
    expect(await erase("--account", last?.account ?? "")).toBe("erased 1 exchange and 1 answer\n");
    expect(await erase("--before", "2001-02-03")).toBe("erased 0 exchanges and 0 answers\n");
    expect(await left(place)).toBe(1);
    expect(await erase("--before", "2999-01-01T00:00Z")).toBe("erased 1 exchange and 1 answer\n");
    expect(await left(place)).toBe(0);
  });

  test.concurrent("asks on a terminal", async () => {
    const place = await filled();
    const no = onTerminal(place, ["proxy", "erase", "--all"]);
    await no.shows("Erase 3 exchanges, with what was issued in them for good? [y/N] ");
    no.type("n");
    expect((await no.ended).code).toBe(2);
    expect(await left(place)).toBe(3);
    const yes = onTerminal(place, ["proxy", "erase", "--all"]);
    await yes.shows("[y/N] ");
    yes.type("y");
    await yes.shows("erased 3 exchanges");
    expect((await yes.ended).code).toBe(0);
    expect(await left(place)).toBe(0);
  });

  test.concurrent("is refused while a proxy writes, and for what is not there", async () => {
    const place = newPlace();
    const { proxy } = await proxyOf(place, ["--quiet"]);
    await post(proxy.url, UNANSWERED_CALL);
    expectProblem(await run(place, ["proxy", "erase", "--all", "--yes"]), 2, "ledger_in_use");
    expect(await left(place)).toBe(1);
    expectProblem(await run(place, ["proxy", "erase", "--exchange", "y", "--yes"]), 2, "exchange_not_found");
    expectProblem(await run(place, ["proxy", "erase", "--account", "y", "--yes"]), 2, "exchange_not_found");
  });
});

describe("doctor", () => {
  test.concurrent("finds nothing wrong with a proxy that works, and names the process that writes", async () => {
    const place = await settled();
    const before = await run(place, ["proxy", "doctor"]);
    expect(before).toMatchObject({ code: 0, err: "" });
    expect(before.out).toMatch(/^ok {3}routes {5}upstream at http:\/\/127\.0\.0\.1:\d+ answers\n/);
    expect(before.out).toContain("does not exist yet; the first request makes it");
    expect(before.out).toContain("no problems found\n");
    const proxy = await used(place);
    const { code, out } = await run(place, ["proxy", "doctor"]);
    expect(code).toBe(0);
    expect(out).toMatch(/\nok {3}ledger {5}2 answers and 2 exchanges in 1 file, [\d.]+ KiB\n/);
    expect(out).toContain(`process ${proxy.child.pid} writes to this ledger\n`);
    expect(out).toMatch(/\nok {3}clock {6}it is \d{4}-/);
  });

  test.concurrent("says where the ledger is damaged: file and byte", async () => {
    const place = await settled();
    await stopped(await used(place));
    const [name = ""] = readdirSync(folderOf(place)).filter((one) => one.endsWith(".jsonl"));
    const file = join(folderOf(place), name);
    const at = readFileSync(file).length;
    appendFileSync(file, '{"type":"exchange","torn');
    const ran = await run(place, ["proxy", "doctor", "--json"]);
    expect(ran.code).toBe(1);
    const report = JSON.parse(ran.out) as { readonly ok: boolean; readonly findings: readonly object[] };
    expect(report.ok).toBe(false);
    expect(report.findings.filter((one) => "status" in one && one.status === "bad")).toEqual([
      {
        check: "ledger",
        status: "bad",
        message: `${name} has a line that cannot be read, at byte ${at}`,
        fix: "only this line is lost; check the disk, and restore the file if you have a copy",
      },
    ]);
    expect(await exchangesOf(place)).toHaveLength(2);
  });

  test.concurrent("says that an upstream is not reachable, and goes on", async () => {
    const place = await settled("http://127.0.0.1:9");
    const { code, out } = await run(place, ["proxy", "doctor"]);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^BAD {2}routes {5}upstream at http:\/\/127\.0\.0\.1:9 is not reachable: nothing listens there\n {7}to do: /,
    );
    expect(out).toContain("\nok   clock ");
    expect(out).toContain("1 problem found\n");
    expect((await run(place, ["proxy", "doctor", "--offline"])).code).toBe(0);
  });

  test.concurrent("says that the clock was set back, that others can look in, and that a folder cannot be used", async () => {
    const place = await settled();
    await stopped(await used(place));
    const [line] = await exchangesOf(place);
    const future = JSON.stringify({ ...line, at: Date.now() + 86_400_000 });
    writeFileSync(join(folderOf(place), "1-a-0001.jsonl"), frameOpen(future.slice(0, -1)), { mode: 0o600 });
    chmodSync(folderOf(place), 0o755);
    const { code, out } = await run(place, ["proxy", "doctor"]);
    expect(code).toBe(1);
    expect(out).toMatch(
      /\nBAD {2}clock {6}the last exchange is 86\d{3} s in the future: the clock was set back\n/,
    );
    expect(out).toMatch(/\nBAD {2}folder {5}other users can look into /);
    const file = place.write("file", "");
    const nowhere = await run(place, ["proxy", "doctor", "--ledger", join(file, "below")]);
    expect(nowhere.code).toBe(1);
    expect(nowhere.out).toMatch(/\nBAD {2}folder {5}\S+ cannot be made: a part of its path is a file\n/);
  });
});
