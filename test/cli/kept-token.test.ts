/** The token of `serve` outlives the server, so that browsers stay logged in. Files that others could use are refused. */

import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { ownPort } from "../support/own-port.ts";
import { asOrdinaryUser, expectProblem, newPlace, type Place, run, type Running, start } from "./harness.ts";

interface Serving extends Running {
  readonly url: string;
  readonly link: string;
}

async function serving(
  place: Place,
  args: readonly string[],
  options: Parameters<typeof start>[2] = {},
): Promise<Serving> {
  const server = start(place, ["serve", ...args], options);
  await server.seen(({ out, err }) => out.includes("\n") && err.includes("Throughline serves"), "a welcome");
  const url = /Throughline serves (\S+)\./.exec(server.err)?.[1] ?? "";
  return Object.assign(server, { url, link: server.out.trim() });
}

const onPort = async (): Promise<readonly string[]> => ["--port", String(await ownPort())];

async function cookieOf(link: string): Promise<string> {
  const answer = await fetch(link);
  expect(answer.status).toBe(200);
  return (answer.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
}

const statusOf = async (url: string, cookie: string): Promise<number> =>
  (await fetch(`${url}/api/server`, { headers: { cookie } })).status;

async function kill(server: Serving): Promise<void> {
  server.kill("SIGKILL");
  await server.ended;
}

const folderIn = (place: Place): string => join(place.home, "servers");
const fileIn = (place: Place): string => join(folderIn(place), readdirSync(folderIn(place))[0] ?? "none");

describe("after a restart without THROUGHLINE_TOKEN", () => {
  test("a browser is still logged in, a used link is still used, and the file is private", async () => {
    const place = newPlace();
    const args = await onPort();
    const first = await serving(place, args);
    const cookie = await cookieOf(first.link);
    expect(statSync(fileIn(place)).mode & 0o777).toBe(0o600);
    expect(statSync(folderIn(place)).mode & 0o777).toBe(0o700);
    expect(first.out + first.err).not.toContain(readFileSync(fileIn(place), "utf8").trim());
    await kill(first);
    const second = await serving(place, args);
    expect(await statusOf(second.url, cookie)).toBe(200);
    expect((await fetch(first.link)).status).toBe(401);
    expect(await cookieOf(second.link)).toBe(cookie);
    expect((await fetch(second.link)).status).toBe(401);
    expect(second.err).not.toContain("token");
  });

  test("with --new-token every browser must open a new link, and stays logged in from then on", async () => {
    const place = newPlace();
    const args = await onPort();
    const first = await serving(place, args);
    const cookie = await cookieOf(first.link);
    await kill(first);
    const second = await serving(place, [...args, "--new-token"]);
    expect(await statusOf(second.url, cookie)).toBe(401);
    const next = await cookieOf(second.link);
    await kill(second);
    const third = await serving(place, args);
    expect(await statusOf(third.url, next)).toBe(200);
  });

  test("servers with another port, address or folder have their own tokens", async () => {
    const [place, other] = [newPlace(), newPlace()];
    const port = await onPort();
    const first = await serving(place, port);
    const cookie = await cookieOf(first.link);
    const beside = await serving(place, await onPort());
    const value = cookie.split("=")[1] ?? "";
    const named = `throughline_${new URL(beside.url).port}=${value}`;
    expect(await statusOf(beside.url, named)).toBe(401);
    await kill(first);
    const elsewhere = await serving(other, port);
    expect(await statusOf(elsewhere.url, cookie)).toBe(401);
    await kill(elsewhere);
    const exposed = await serving(place, [...port, "--host", "0.0.0.0", "--expose"]);
    expect(await statusOf(`http://127.0.0.1:${new URL(exposed.url).port}`, cookie)).toBe(401);
    await kill(exposed);
    expect(await statusOf((await serving(place, port)).url, cookie)).toBe(200);
  });

  test("a port that is chosen at random keeps no token", async () => {
    const place = newPlace();
    await kill(await serving(place, ["--port", "0"]));
    expect(existsSync(folderIn(place))).toBe(false);
  });

  test("the folder is in XDG_STATE_HOME", async () => {
    const place = newPlace();
    const state = join(place.home, "state");
    const env = { THROUGHLINE_HOME: "", XDG_STATE_HOME: state, XDG_DATA_HOME: place.home };
    await serving(place, await onPort(), { env });
    expect(readdirSync(join(state, "throughline", "servers"))).toHaveLength(1);
  });
});

describe("a kept token that cannot be used", () => {
  const cases: readonly (readonly [string, (file: string, place: Place) => void, string])[] = [
    ["can be read by others", (file) => chmodSync(file, 0o644), "can be read or written by others"],
    ["can be written by others", (file) => chmodSync(file, 0o620), "can be read or written by others"],
    [
      "is a link",
      (file, place) => {
        renameSync(file, join(place.home, "aside"));
        symlinkSync(join(place.home, "aside"), file);
      },
      "is a link",
    ],
    ["has a second name", (file, place) => linkSync(file, join(place.home, "second")), "has a second name"],
    ["is empty", (file) => writeFileSync(file, ""), "is empty"],
    ["is damaged", (file) => writeFileSync(file, "not a token\n"), "is damaged"],
    ["is huge", (file) => writeFileSync(file, "x".repeat(100_000)), "too large"],
    [
      "is a folder",
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
      "is not a file",
    ],
    [
      "is in a folder that others may write to",
      (file) => chmodSync(join(file, ".."), 0o777),
      "others may write",
    ],
  ];
  test.each(cases)(
    "because it %s is left alone and said so; the server runs",
    async (_what, spoil, words) => {
      const place = newPlace();
      const args = await onPort();
      const first = await serving(place, args);
      const cookie = await cookieOf(first.link);
      await kill(first);
      spoil(fileIn(place), place);
      const second = await serving(place, args);
      expect(second.err).toContain(words);
      expect(second.err).toContain("browsers must open a new link [token_file_unusable]");
      expect(await statusOf(second.url, cookie)).toBe(401);
      expect(await statusOf(second.url, await cookieOf(second.link))).toBe(200);
    },
  );

  test.skipIf(process.getuid?.() !== 0)("because it belongs to another user is left alone", async () => {
    const place = newPlace();
    const args = await onPort();
    await kill(await serving(place, args));
    chownSync(fileIn(place), 12_345, 12_345);
    const second = await serving(place, args);
    expect(second.err).toContain("belongs to another user");
    await kill(second);
    const third = await serving(place, [...args, "--new-token"]);
    expect(third.err).not.toContain("token_file");
    expect(statSync(fileIn(place)).uid).toBe(0);
  });

  test("because its folder cannot be written goes on for this run, but --new-token fails", async () => {
    const place = newPlace();
    for (const name of ["servers", "sessions"]) mkdirSync(join(place.home, name), { recursive: true });
    const user = asOrdinaryUser(place);
    chmodSync(join(place.home, "servers"), 0o500);
    const args = await onPort();
    const first = await serving(place, args, user);
    expect(first.err).toContain("permission denied");
    expect(first.err).toContain("browsers must open a new link [token_file_unwritable]");
    await kill(first);
    const refused = await run(place, ["serve", ...args, "--new-token"], user);
    expectProblem(refused, 2, "token_file_unwritable");
  });
});

describe("serve --link", () => {
  test("prints a link of the running server that works once, and not after a restart", async () => {
    const place = newPlace();
    const args = await onPort();
    const first = await serving(place, args);
    const cookie = await cookieOf(first.link);
    const links: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const ran = await run(place, ["serve", "--link", ...args]);
      expect(ran).toMatchObject({ code: 0, err: "" });
      links.push(ran.out.trim());
    }
    expect(await cookieOf(links[0] ?? "")).toBe(cookie);
    expect((await fetch(links[0] ?? "")).status).toBe(401);
    await kill(first);
    await serving(place, args);
    for (const link of links) expect((await fetch(link)).status).toBe(401);
  });

  test("uses THROUGHLINE_TOKEN if the server does, and its link opens no other server with that token", async () => {
    const place = newPlace();
    const env = { THROUGHLINE_TOKEN: "0123456789abcdef0123456789abcdef" };
    const args = await onPort();
    await serving(place, args, { env });
    const other = await serving(place, await onPort(), { env });
    const { out } = await run(place, ["serve", "--link", ...args], { env });
    const moved = new URL(out.trim());
    moved.port = new URL(other.url).port;
    expect((await fetch(moved)).status).toBe(401);
    expect((await fetch(out.trim())).status).toBe(200);
  });

  test("says what is missing: no server, no token of this place, no port, a contradiction", async () => {
    const place = newPlace();
    const args = await onPort();
    expectProblem(await run(place, ["serve", "--link", ...args]), 2, "server_unreachable");
    await serving(place, args);
    expectProblem(await run(newPlace(), ["serve", "--link", ...args]), 2, "token_file_missing");
    expectProblem(await run(place, ["serve", "--link", "--port", "0"]), 2, "usage");
    expectProblem(await run(place, ["serve", "--link", "--new-token", ...args]), 2, "usage");
    const env = { THROUGHLINE_TOKEN: "0123456789abcdef0123456789abcdef" };
    expectProblem(await run(place, ["serve", "--new-token", ...args], { env }), 2, "usage");
  });
});

test("a browser without access reads what to do, and nothing about headers", async () => {
  const { url } = await serving(newPlace(), ["--port", "0"]);
  const page = await (await fetch(`${url}/login?code=used`)).text();
  expect(page).toContain("throughline serve --link");
  const refused = (await (await fetch(`${url}/api/server`)).json()) as {
    readonly error: { readonly message: string };
  };
  expect(refused.error.message).toContain("open a new link");
  expect(refused.error.message + page).not.toMatch(/bearer|authorization/i);
});
