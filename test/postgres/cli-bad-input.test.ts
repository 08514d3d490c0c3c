/**
 * A database that cannot be used: one line with a code, a non-zero exit, and nothing of the address. Every case has a
 * password of its own, which must appear nowhere: not on the screen, not with stack traces, not in a trace, not in a
 * session.
 */

import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import {
  environment,
  expectProblem,
  newPlace,
  type Place,
  type Ran,
  run,
  toolsFile,
  treeOf,
} from "../cli/harness.ts";
import { PACKAGE } from "../support/built.ts";
import { afterTest } from "../support/clean-up.ts";
import { type Cluster, startCluster } from "../support/postgres-cluster.ts";
import { good, storePlace } from "./cli-fixture.ts";
import { database } from "./fixture.ts";

const MARKER = "Kanarie-7f3a9b1c/+%";
const FORMS = [MARKER, encodeURIComponent(MARKER), Buffer.from(MARKER).toString("base64"), "Kanarie"];

/** A server that asks for passwords: role `app` with the marker as its password. */
let cluster: Cluster;
let admin: pg.Client;

beforeAll(async () => {
  cluster = await startCluster({ settings: ["password_encryption = 'scram-sha-256'"] });
  admin = new pg.Client(cluster.url);
  await admin.connect();
  await admin.query(`create role app login password '${MARKER}'`);
  await admin.query("create database shop owner app");
  await admin.query("create database latin encoding 'LATIN1' template template0");
  await admin.query("create database ascii encoding 'SQL_ASCII' template template0");
  const hba = join(cluster.folder, "data", "pg_hba.conf");
  writeFileSync(hba, "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n");
  await admin.query("select pg_reload_conf()");
});

afterAll(async () => {
  await admin.end();
  await cluster.remove();
});

function urlOf(user: string, name: string, password = MARKER): string {
  return `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${cluster.port}/${name}`;
}

/** Nothing of the address is shown: neither the password in any form, nor the port, which stands for the rest. */
function expectHidden(place: Place, ran: Ran, url: string): void {
  const files = treeOf(place.home)
    .concat(treeOf(place.work))
    .filter((path) => statSync(path).isFile() && !path.endsWith("config.json") && !path.endsWith("password"));
  const texts = [ran.out, ran.err, ...files.map((path) => readFileSync(path, "utf8"))];
  const { port, username } = new URL(url);
  for (const text of texts)
    for (const form of [...FORMS, ...(port === "" ? [] : [`:${port}`]), `${username}:`])
      expect(text.includes(form), `${form} in: ${text.slice(0, 300)}`).toBe(false);
}

/** Commands that fail alike, with and without stack traces and a trace. */
async function failing(
  url: string,
  code: string,
  part: string,
  env: Record<string, string> = {},
): Promise<void> {
  const place = newPlace();
  const all = { THROUGHLINE_STORE: url, ...env };
  for (const args of [["-p", "hello"], ["sessions"], ["store", "status"]]) {
    const ran = await run(place, args, { env: all });
    expectProblem(ran, 2, code);
    expect(ran.err).toContain(part);
    expectHidden(place, ran, url);
  }
  const traced = await run(place, ["-p", "--debug", "--trace", "t.jsonl", "hello"], { env: all });
  expect(traced.code).toBe(2);
  expect(traced.err).toContain(`[${code}]`);
  expect(traced.err).toContain("    at ");
  expectHidden(place, traced, url);
  const doctor = await run(place, ["doctor", "--json"], { env: all });
  expect(doctor.code).toBe(1);
  expectHidden(place, doctor, url);
  expect(existsSync(place.sessions)).toBe(false);
}

test("a server that does not answer", async () => {
  const server = createServer();
  await new Promise<void>((done) => {
    server.listen(0, "127.0.0.1", done);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => {
    server.close(done);
  });
  const url = `postgres://app:${encodeURIComponent(MARKER)}@127.0.0.1:${port}/shop`;
  await failing(url, "store_unreachable", "does not answer (ECONNREFUSED): check that it runs");
});

test("a host that does not exist", async () => {
  const url = `postgres://app:${encodeURIComponent(MARKER)}@no-such-host.invalid/shop`;
  await failing(url, "store_unreachable", "the host name of the store was not found");
});

test("a program that is no database", async () => {
  const server = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  await new Promise<void>((done) => {
    server.listen(0, "127.0.0.1", done);
  });
  afterTest(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = `postgres://app:${encodeURIComponent(MARKER)}@127.0.0.1:${port}/shop`;
  await failing(url, "store_unreachable", "does not answer");
});

test("a wrong password, an unknown user, and no password", async () => {
  await failing(urlOf("app", "shop", `${MARKER}x`), "store_login_refused", "the database refused the login");
  await failing(urlOf("nobody", "shop"), "store_login_refused", "the database refused the login");
  await failing(
    `postgres://app@127.0.0.1:${cluster.port}/shop`,
    "store_login_refused",
    "the database refused the login",
  );
});

test("a server without the TLS that sslmode asks for, and a user whom it lets in only otherwise", async () => {
  await failing(
    `${urlOf("app", "shop")}?sslmode=require`,
    "store_unreachable",
    "the database server offers no TLS, which sslmode asks for",
  );
  await admin.query("create role tlsonly login password 'x'");
  const hba = join(cluster.folder, "data", "pg_hba.conf");
  const before = readFileSync(hba, "utf8");
  writeFileSync(hba, `host all tlsonly 127.0.0.1/32 reject\n${before}`);
  await admin.query("select pg_reload_conf()");
  afterTest(async () => {
    writeFileSync(hba, before);
    await admin.query("select pg_reload_conf()");
  });
  await failing(
    urlOf("tlsonly", "shop"),
    "store_login_refused",
    "add sslmode=require if it accepts only TLS",
  );
});

test("no such database", async () => {
  await failing(urlOf("app", "shpo"), "store_login_refused", "the server has no such database");
});

test.for(["latin", "ascii"])("a database in another encoding: %s", async (name) => {
  await admin.query(`grant all on database ${name} to app`);
  await failing(urlOf("app", name), "store_encoding", "createdb --encoding=UTF8");
  const ran = await run(newPlace(), ["migrate"], { env: { THROUGHLINE_STORE: urlOf("app", name) } });
  expectProblem(ran, 2, "store_encoding");
});

test("no tables yet, then too new ones: the program says what to do and writes nothing", async () => {
  const place = newPlace();
  const url = urlOf("app", "shop");
  await failing(url, "store_too_old", "Run: throughline migrate");
  await good(run(place, ["migrate"], { env: { THROUGHLINE_STORE: url } }));
  const shop = new pg.Client(`postgres://postgres@127.0.0.1:${cluster.port}/shop`);
  await shop.connect();
  try {
    await shop.query("update throughline.store set version = 9, oldest_writer = 9");
    await failing(url, "store_too_new", "Update throughline");
    expectProblem(await run(place, ["migrate"], { env: { THROUGHLINE_STORE: url } }), 2, "store_too_new");
    await shop.query("update throughline.store set version = 9, oldest_writer = 1");
    await good(run(place, ["-p", "hello"], { env: { THROUGHLINE_STORE: url } }));
    await shop.query("update throughline.store set version = 0");
    await failing(url, "store_too_old", "has no tables yet");
    await shop.query("update throughline.store set version = 1");
    await good(run(place, ["-p", "-c", "hello"], { env: { THROUGHLINE_STORE: url } }));
  } finally {
    await shop.query("drop schema throughline cascade");
    await shop.end();
  }
});

test("no rights on the tables, and no right to make them", async () => {
  await admin.query(`create role guest login password '${MARKER}'`);
  const place = newPlace();
  const owner = { THROUGHLINE_STORE: urlOf("app", "shop") };
  await good(run(place, ["migrate"], { env: owner }));
  const shop = new pg.Client(`postgres://postgres@127.0.0.1:${cluster.port}/shop`);
  await shop.connect();
  try {
    await failing(urlOf("guest", "shop"), "store_no_rights", "lacks a right on the store's tables");
    await shop.query("grant usage on schema throughline to guest");
    await shop.query("grant select on all tables in schema throughline to guest");
    const guest = { THROUGHLINE_STORE: urlOf("guest", "shop") };
    const ran = await run(place, ["-p", "hello"], { env: guest });
    expectProblem(ran, 2, "store_no_rights");
    const doctor = await run(place, ["doctor"], { env: guest });
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(
      /BAD {2}store {6}the database user lacks rights: blobs: delete, blobs: insert/,
    );
    await shop.query("drop schema throughline cascade");
    expectProblem(await run(place, ["migrate"], { env: guest }), 2, "store_no_rights");
  } finally {
    await shop.query("drop schema if exists throughline cascade");
    await shop.end();
  }
});

test("a server that takes no writes", async () => {
  const place = newPlace();
  const url = urlOf("app", "shop");
  await good(run(place, ["migrate"], { env: { THROUGHLINE_STORE: url } }));
  await admin.query("alter role app set default_transaction_read_only = on");
  try {
    const ran = await run(place, ["-p", "hello"], { env: { THROUGHLINE_STORE: url } });
    expectProblem(ran, 2, "store_no_rights");
    expect(ran.err).toContain("takes no writes: it is a replica, or read-only");
    await good(run(place, ["sessions"], { env: { THROUGHLINE_STORE: url } }));
    const doctor = await run(place, ["doctor"], { env: { THROUGHLINE_STORE: url } });
    expect(doctor.out).toContain("BAD  store      the server takes no writes");
  } finally {
    await admin.query("alter role app reset default_transaction_read_only");
    const shop = new pg.Client(`postgres://postgres@127.0.0.1:${cluster.port}/shop`);
    await shop.connect();
    await shop.query("drop schema throughline cascade");
    await shop.end();
  }
});

test("without the package pg, the command says how to install it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-no-driver-"));
  afterTest(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(PACKAGE, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(PACKAGE, "package.json"), join(folder, "package.json"));
  const { url } = await database();
  const place = newPlace();
  const main = join(folder, "dist", "cli", "main.js");
  const env = environment(place, { THROUGHLINE_STORE: url });
  const running = promisify(execFile)(process.execPath, [main, "-p", "hello"], { cwd: place.work, env });
  running.child.stdin?.end();
  const ran = await running.then(
    () => undefined,
    (error: { readonly code: number; readonly stderr: string }) => error,
  );
  expect(ran?.code).toBe(2);
  expect(ran?.stderr).toMatch(/^throughline: .*npm install pg \[store_driver_missing\]\n$/);
  const files = await promisify(execFile)(process.execPath, [main, "sessions"], {
    cwd: place.work,
    env: environment(place),
  });
  expect(files.stderr).toContain("No sessions yet");
});

describe("an address that cannot be used", () => {
  test.for([
    ["mysql://u@h/db", "postgres://USER@HOST:PORT/DATABASE"],
    ["/var/lib/sessions", "postgres://USER@HOST:PORT/DATABASE"],
    ["files", "postgres://USER@HOST:PORT/DATABASE"],
    ["postgres:", "postgres://USER@HOST:PORT/DATABASE"],
    ["postgres://", "it must have the form"],
    ["postgres://h:99999999/db", "it must have the form"],
    ["postgres://u@h/db?sslmod=require", 'unknown parameter "sslmod"; did you mean "sslmode"?'],
    ["postgres://u@h/db?sslmode=prefer", "sslmode must be disable, require, verify-ca, verify-full"],
    ["postgres://u@h/db?schema=Pub-lic", "the schema must have 1 to 51 lower-case letters"],
    [
      "postgres://u@h/db?sslmode=verify-full&sslrootcert=nowhere.pem",
      "sslrootcert names a file that cannot be read",
    ],
    ["postgres://u%zz@h/db", "a percent sign in it does not begin an escape"],
  ] as const)("%s", async ([url, part]) => {
    const place = newPlace();
    for (const [args, env] of [
      [["sessions", "--store", url], {}],
      [["sessions"], { THROUGHLINE_STORE: url }],
    ] as const) {
      const ran = await run(place, args, { env });
      expectProblem(ran, 2, "store_url_invalid");
      expect(ran.err).toContain(part);
    }
  });

  test("config set refuses it and repeats nothing of it", async () => {
    const place = newPlace();
    const ran = await run(place, ["config", "set", "store", `mysql://app:${MARKER}@h/db`]);
    expectProblem(ran, 2, "store_url_invalid");
    for (const form of FORMS) expect(ran.err).not.toContain(form);
    expect(treeOf(place.home)).toEqual([]);
  });
});

describe("a password", () => {
  test("in a flag is refused before anything is contacted, and is not repeated", async () => {
    const place = newPlace();
    const url = urlOf("app", "shop");
    for (const args of [
      ["-p", "--store", url, "hi"],
      ["sessions", "list", "--store", url],
      ["migrate", "--store", url],
      ["serve", "--store", url],
      ["sessions", "copy", "x", "--to", url],
      ["sessions", "copy", "x", "--from", url],
      ["--store", `postgres://app:p@ss:word@${MARKER}/db`, "-p", "hi"],
      ["--store", `postgres://app@corp:${encodeURIComponent(MARKER)}@localhost/db`, "-p", "hi"],
    ]) {
      const ran = await run(place, args);
      expectProblem(ran, 2, "store_url_invalid");
      expect(ran.err).toContain("holds a password, and other users of this machine can read command lines");
      expectHidden(place, ran, url);
    }
    for (const args of [
      ["store", url],
      ["sessions", url],
      ["--stroe", url],
    ]) {
      const ran = await run(place, args);
      expect(ran.code).toBe(2);
      for (const form of FORMS) expect(ran.err, args[0]).not.toContain(form);
    }
  });

  test("comes from a file, PGPASSWORD, the variable or the user's settings", async () => {
    const place = newPlace();
    const bare = `postgres://app@127.0.0.1:${cluster.port}/shop`;
    const file = place.write("password", `${MARKER}\n`);
    await good(run(place, ["migrate", "--store", bare], { env: { THROUGHLINE_STORE_PASSWORD_FILE: file } }));
    await good(run(place, ["-p", "--store", bare, "hi"], { env: { PGPASSWORD: MARKER } }));
    await good(run(place, ["-p", "hi"], { env: { THROUGHLINE_STORE: urlOf("app", "shop") } }));
    // The file wins over the one in the address.
    await good(
      run(place, ["-p", "hi"], {
        env: { THROUGHLINE_STORE: urlOf("app", "shop", "wrong"), THROUGHLINE_STORE_PASSWORD_FILE: file },
      }),
    );
    mkdirSync(place.home, { recursive: true });
    writeFileSync(join(place.home, "config.json"), JSON.stringify({ store: urlOf("app", "shop") }));
    const list = await good(run(place, ["sessions", "list", "--json"]));
    expect(JSON.parse(list.out)).toHaveLength(3);
    for (const args of [["config"], ["config", "--json"], ["config", "get", "store"], ["doctor"]])
      expectHidden(place, await run(place, args), urlOf("app", "shop"));
  });

  test("file that is missing, a folder or empty is an error that names the variable", async () => {
    const place = newPlace();
    const empty = place.write("password", "\n");
    const env = { THROUGHLINE_STORE: `postgres://app@127.0.0.1:${cluster.port}/shop` };
    for (const [path, part] of [
      ["/nowhere/password", "no such file"],
      [place.work, "it is a folder"],
      [empty, "is empty"],
    ] as const) {
      const ran = await run(place, ["sessions"], { env: { ...env, THROUGHLINE_STORE_PASSWORD_FILE: path } });
      expectProblem(ran, 2, "file_unreadable");
      expect(ran.err).toContain("THROUGHLINE_STORE_PASSWORD_FILE");
      expect(ran.err).toContain(part);
    }
  });

  test("for the other side of a copy has its own file", async () => {
    const { place, env, on } = await storePlace();
    await good(on(["-p", "hello"]));
    const file = place.write("password", MARKER);
    const to = `postgres://app@127.0.0.1:${cluster.port}/shop?schema=other`;
    const args = ["sessions", "copy", "--all", "--to", to];
    const refused = await run(place, args, { env: { ...env, THROUGHLINE_STORE_PASSWORD_FILE: file } });
    expectProblem(refused, 2, "store_login_refused"); // this file is for the store in use
    expect(refused.err).toContain("--to: the database refused the login");
    const right = { ...env, THROUGHLINE_STORE_TO_PASSWORD_FILE: file };
    const empty = await run(place, args, { env: right });
    expectProblem(empty, 2, "store_too_old"); // not once for each session
    await good(run(place, ["migrate", "--store", to], { env: { THROUGHLINE_STORE_PASSWORD_FILE: file } }));
    expect((await good(run(place, args, { env: right }))).out).toContain("copied 1 session, ");
  });

  test("that a tool reads is in no session, trace or debug output", async () => {
    const { place, db } = await storePlace();
    const file = place.write("password", `${MARKER}\n`);
    const env = {
      THROUGHLINE_STORE: db.url,
      PGPASSWORD: `${MARKER}-1`,
      THROUGHLINE_STORE_PASSWORD_FILE: file,
      THROUGHLINE_STORE_DIRECT: db.url.replace("postgres@", `postgres:${encodeURIComponent(`${MARKER}-2`)}@`),
    };
    const tools = toolsFile(
      place,
      `export const t = tool({ name: "leak_it", description: "d", access: "read", input: { type: "object" },
         run: () => [process.env.THROUGHLINE_STORE, process.env.PGPASSWORD, process.env.THROUGHLINE_STORE_DIRECT,
                     fs.readFileSync(process.env.THROUGHLINE_STORE_PASSWORD_FILE, "utf8")].join(" and ") });`,
    );
    const args = ["-p", "--debug", "--tools", tools, "--trace", "t.jsonl", "--record", "r.jsonl"];
    const ran = await good(run(place, [...args, "please leak_it"], { env }));
    expect(ran.err).toContain("leak_it: [redacted] and [redacted] and [redacted] and [redacted]");
    expectHidden(place, ran, db.url);
    const rows = await db.sql("select line as text from s.events union all select summary from s.sessions");
    const texts = rows.map(({ text }) => String(text));
    expect(texts.some((text) => text.includes("leak_it"))).toBe(true);
    for (const text of texts)
      for (const form of [...FORMS, db.url]) expect(text.includes(form), text.slice(0, 200)).toBe(false);
  });
});

test("THROUGHLINE_LEASE_MS and THROUGHLINE_STORE_DIRECT are checked", async () => {
  const { on } = await storePlace();
  for (const lease of ["0", "299", "many", "1e99"])
    expectProblem(await on(["sessions"], { env: { THROUGHLINE_LEASE_MS: lease } }), 2, "number_invalid");
  const bad = await on(["sessions"], { env: { THROUGHLINE_STORE_DIRECT: "http://example.com" } });
  expectProblem(bad, 2, "store_url_invalid");
  expect(bad.err).toContain("THROUGHLINE_STORE_DIRECT");
  await good(on(["-p", "hello"], { env: { THROUGHLINE_LEASE_MS: "900", THROUGHLINE_STORE_DIRECT: "" } }));
});

test("the test server of this run is not the one with passwords", () => {
  expect(inject("postgresUrl")).not.toContain(`:${cluster.port}/`);
});
