/** compose.yaml and the Dockerfile say what the program understands. No container is started here. */

import type { Command } from "commander";
import { expect, test } from "vitest";
import { parse } from "yaml";

import { addAllCommands, createProgram } from "../../src/interface/cli/program.ts";
import { systemTerminal } from "../../src/interface/cli/terminal.ts";
import { parseStoreUrl } from "../../src/runtime/postgres/index.ts";
import { quoted, read, rows, section } from "./documents.ts";

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: string;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly secrets?: readonly string[];
  readonly configs?: readonly { readonly source: string }[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, unknown>> | readonly string[];
  readonly deploy?: { readonly replicas?: number };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const compose = parse(read("compose.yaml"), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image === "throughline");

const terminal = systemTerminal();
const program = createProgram(terminal, () => undefined);
await addAllCommands(program, terminal, () => undefined);

/** The flags of a command line by their names. Throws if a word means nothing to the program. */
function understood(words: readonly string[]): Readonly<Record<string, unknown>> {
  let command: Command = program;
  let rest = [...words];
  for (;;) {
    const inner = command.commands.find((one) => one.name() === rest[0]);
    if (inner === undefined) break;
    command = inner;
    rest = rest.slice(1);
  }
  if (command === program) throw new Error(`there is no command ${words.join(" ")}`);
  const { operands, unknown } = command.parseOptions(rest);
  const named = command.registeredArguments.length;
  if (unknown.length > 0 || operands.length > named)
    throw new Error(`${words.join(" ")}: ${[...unknown, ...operands.slice(named)].join(" ")}`);
  return command.opts();
}

test("there are a database, a migration, three nodes and a balancer", () => {
  expect(services.map(([name]) => name)).toEqual(["db", "init", "node", "balancer"]);
  expect(ours.map(([name]) => name)).toEqual(["init", "node"]);
  expect(compose.services["node"]?.deploy?.replicas).toBe(3);
});

test("every command, flag and health check exists", () => {
  const words = ours.flatMap(([, { command = "", healthcheck }]) => {
    const [, name, ...check] = healthcheck?.test ?? [];
    expect([undefined, "throughline"]).toContain(name);
    return [command.split(" "), ...(name === undefined ? [] : [check])];
  });
  expect(words.map(([first]) => first)).toEqual(["migrate", "serve", "health"]);
  for (const line of words) expect(() => understood(line)).not.toThrow();
  // In the comment, too.
  const said = [...read("compose.yaml").matchAll(/^#.* throughline (tokens .+)$/gm)].map(
    ([, line = ""]) => line,
  );
  expect(said.length).toBe(1);
  for (const line of said) expect(() => understood(line.split(" "))).not.toThrow();
  for (const wrong of [
    ["serve", "--public-uri", "x"],
    ["migrat"],
    ["serve", "now"],
    ["health", "--port", "1"],
  ])
    expect(() => understood(wrong)).toThrow();
});

test("every variable is one that the program documents, and every secret, volume and config is declared", () => {
  const documented = new Set(
    rows(section(read("docs/cli.md"), "Environment")).flatMap(([variable = ""]) => quoted(variable)),
  );
  for (const [name, { environment = {}, secrets = [], configs = [], volumes = [] }] of services) {
    const isOurs = ours.some(([own]) => own === name);
    if (isOurs)
      for (const variable of Object.keys(environment))
        expect([name, variable, documented.has(variable)]).toEqual([name, variable, true]);
    for (const [variable, value] of Object.entries(environment))
      if (variable.endsWith("_FILE"))
        expect([variable, secrets.map((secret) => `/run/secrets/${secret}`)]).toEqual([
          variable,
          expect.arrayContaining([value]),
        ]);
    for (const secret of secrets) expect(Object.keys(compose.secrets)).toContain(secret);
    for (const { source } of configs) expect(Object.keys(compose.configs)).toContain(source);
    for (const volume of volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(":")[0]);
  }
});

test("no secret is in the file: the address of the store has no password, and keys come from outside", () => {
  for (const [, { environment = {} }] of ours) {
    const { password, host } = parseStoreUrl(String(environment["THROUGHLINE_STORE"]));
    expect([password, Object.keys(compose.services).includes(host)]).toEqual([undefined, true]);
    for (const [variable, value] of Object.entries(environment))
      if (/KEY|TOKEN$|PASSWORD$/.test(variable)) expect([variable, value]).toEqual([variable, null]);
  }
  for (const file of [".gitignore", ".dockerignore"]) expect(read(file)).toMatch(/^\/?secrets\/?$/m);
});

test("the parts fit: ports, the public address, the time to stop, and who waits for whom", () => {
  const { node, balancer, init } = compose.services;
  const flags = understood((node?.command ?? "").split(" "));
  const [from = ""] = balancer?.ports ?? [];
  const [address = "", port = "", inside = ""] = from.split(":");
  expect([flags["publicUrl"], address]).toEqual([`http://localhost:${port}`, "127.0.0.1"]);
  const caddy = compose.configs["caddyfile"]?.content ?? "";
  expect(caddy).toContain(`:${inside} {`);
  expect(caddy).toContain(`dynamic a node ${String(flags["port"])}`);
  expect(String(understood(["health"])["url"])).toBe(`http://127.0.0.1:${String(flags["port"])}`);
  expect(Number.parseInt(node?.stop_grace_period ?? "", 10)).toBeGreaterThan(Number(flags["drain"]) + 5);
  expect([flags["host"], flags["expose"]]).toEqual(["0.0.0.0", true]);
  expect(node?.depends_on).toEqual({ init: { condition: "service_completed_successfully" } });
  expect(init?.depends_on).toEqual({ db: { condition: "service_healthy" } });
});

test("the image runs the package of this repository with the driver, not as root", () => {
  const lines = read("Dockerfile").split("\n");
  const last = lines.lastIndexOf("FROM node:22-slim");
  expect(lines.filter((line) => line.startsWith("FROM "))).toEqual([
    "FROM node:22-slim AS build",
    "FROM node:22-slim",
  ]);
  const final = lines.slice(last).join("\n");
  expect(final).toMatch(/^USER node$/m);
  expect(final).toMatch(/^ENTRYPOINT \["throughline"\]$/m);
  const { peerDependencies, engines } = JSON.parse(read("package.json")) as {
    readonly peerDependencies: { readonly pg: string };
    readonly engines: { readonly node: string };
  };
  const [, major = ""] = /\^(\d+)\./.exec(peerDependencies.pg) ?? [];
  expect(final).toContain(`pg@${major} `);
  expect(Number(/\d+/.exec(engines.node)?.[0])).toBeLessThanOrEqual(22);
  for (const scripts of lines.join("\n").matchAll(/npm run (\w+)/g)) expect(scripts[1]).toBe("build");
});
