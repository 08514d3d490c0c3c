import { createServer, type IncomingMessage, request as httpRequest } from "node:http";

import { describe, expect, test } from "vitest";

import { afterTest } from "../../../test/support/clean-up.ts";
import type { Denial } from "./denial.ts";
import { headersNamed, hostDenial, originDenial, type OriginRules, targetDenial } from "./request-checks.ts";
import { listen } from "./server-address.ts";

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A server that answers with the status of the denial, or 200. Returns its port. */
async function checked(denialOf: (request: IncomingMessage) => Denial | undefined): Promise<number> {
  const server = createServer((request, response) => {
    response.writeHead(denialOf(request)?.status ?? 200, { connection: "close" }).end();
  });
  const { port } = await listen(server, {}, 0);
  afterTest(() => server.close());
  return port;
}

/** Sends one GET exactly as given: fetch would set or refuse some of these headers. */
function statusOf(port: number, headers: Headers, path = "/"): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const given = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).flatMap(([name, values]) =>
      [values].flat().flatMap((value) => [name, value]),
    );
    const options = { host: "127.0.0.1", port, path, setHost: false, headers: given, agent: false };
    httpRequest(options, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

async function statusesOf(port: number, all: readonly Headers[]): Promise<readonly unknown[]> {
  return Promise.all(all.map(async (headers) => [headers, await statusOf(port, headers)]));
}

const each = (all: readonly Headers[], status: number): readonly unknown[] =>
  all.map((headers) => [headers, status]);

test("a target is a path of at most 8192 characters", async () => {
  const port = await checked(targetDenial);
  const paths = [
    "/",
    `/${"x".repeat(8191)}`,
    `/${"x".repeat(8192)}`,
    "//evil.example/",
    "http://evil.example/",
  ];
  expect(await Promise.all(paths.map((path) => statusOf(port, {}, path)))).toEqual([200, 200, 414, 400, 400]);
});

test("a Host is exactly one of ours, or that of the public origin", async () => {
  const publicOrigin = new URL("https://agents.example");
  const port = await checked((request) =>
    hostDenial(request, { hosts: new Set(["localhost:1"]), publicOrigin }),
  );
  const good = ["localhost:1", "LOCALHOST:1", "agents.example"].map((host) => ({ host }));
  const bad: readonly Headers[] = [
    ...["localhost", "localhost:11", "agents.example:443", "evil.example"].map((host) => ({ host })),
    { host: ["localhost:1", "localhost:1"] },
  ];
  expect(await statusesOf(port, [...good, ...bad])).toEqual([...each(good, 200), ...each(bad, 421)]);
});

test("a header that was sent twice is found twice", async () => {
  let found: readonly string[] = [];
  const port = await checked((request) => {
    found = headersNamed(request, "origin");
    return undefined;
  });
  await statusOf(port, { Origin: ["http://a.example", "http://b.example"] });
  expect(found).toEqual(["http://a.example", "http://b.example"]);
});

const withRules = (rules: OriginRules): Promise<number> => checked((request) => originDenial(request, rules));

describe("an origin check", () => {
  const apps = ["vscode-webview://abc", "chrome-extension://abc", "tauri://localhost"];
  const cross = { "sec-fetch-site": "cross-site" };

  test("without further rules accepts our own pages and programs alone", async () => {
    const port = await withRules({});
    const own = { origin: `http://127.0.0.1:${port}` };
    const good: readonly Headers[] = [
      {},
      own,
      { ...own, "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-mode": "cors" },
    ];
    const bad: readonly Headers[] = [
      { origin: "http://localhost:3000" },
      { origin: "null" },
      { origin: "" },
      ...apps.map((origin) => ({ origin })),
      { origin: [own.origin, "http://evil.example"] },
      { ...own, ...cross },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": ["same-origin", "cross-site"] },
      { ...cross, "sec-fetch-mode": "navigate" },
    ];
    expect(await statusesOf(port, [...good, ...bad])).toEqual([...each(good, 200), ...each(bad, 403)]);
  });

  test("accepts Node's own fetch", async () => {
    const port = await withRules({});
    const answers = await Promise.all(
      [{}, { method: "POST", body: "{}" }].map((init) => fetch(`http://127.0.0.1:${port}/`, init)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("accepts the pages of exactly the allowed origins, on whichever site they are", async () => {
    const port = await withRules({ allowOrigins: new Set(["http://localhost:3000", "app://notes"]) });
    const page = { origin: "http://localhost:3000" };
    const good: readonly Headers[] = [
      page,
      { ...page, ...cross },
      { ...page, "sec-fetch-site": "same-site" },
      { origin: "app://notes", ...cross },
    ];
    const bad: readonly Headers[] = [
      { origin: "http://localhost:3001" },
      { origin: "https://localhost:3000" },
      { origin: "http://localhost:3000.evil.example" },
      { origin: [page.origin, "http://evil.example"] },
      { origin: [page.origin, `http://127.0.0.1:${port}`], ...cross },
      { origin: "app://other" },
      cross,
    ];
    expect(await statusesOf(port, [...good, ...bad])).toEqual([...each(good, 200), ...each(bad, 403)]);
  });

  test("that allows apps accepts an origin that no website can have, and no marked page", async () => {
    const port = await withRules({ allowApps: true });
    const good = apps.map((origin) => ({ origin }));
    const bad: readonly Headers[] = [
      { origin: "http://evil.example" },
      { origin: "HTTPS://evil.example" },
      { origin: "null" },
      { origin: "" },
      { origin: "app://notes, http://evil.example" },
      ...apps.map((origin) => ({ origin, ...cross })),
    ];
    expect(await statusesOf(port, [...good, ...bad])).toEqual([...each(good, 200), ...each(bad, 403)]);
  });

  test("that allows links accepts a navigation from another page, and nothing else from it", async () => {
    const port = await withRules({ allowLinks: true });
    const good = [{ ...cross, "sec-fetch-mode": "navigate" }];
    const bad: readonly Headers[] = [
      cross,
      { ...cross, "sec-fetch-mode": "no-cors" },
      { ...cross, "sec-fetch-mode": "navigate", origin: "http://evil.example" },
    ];
    expect(await statusesOf(port, [...good, ...bad])).toEqual([...each(good, 200), ...each(bad, 403)]);
  });

  test("accepts the public origin, under its own name with its own scheme only", async () => {
    const publicOrigin = new URL("https://agents.example");
    const port = await withRules({ publicOrigin });
    const good: readonly Headers[] = [
      { origin: "https://agents.example" },
      { origin: "https://agents.example", host: "agents.example" },
    ];
    const bad: readonly Headers[] = [{ origin: "http://agents.example", host: "agents.example" }];
    expect(await statusesOf(port, [...good, ...bad])).toEqual([...each(good, 200), ...each(bad, 403)]);
  });
});
