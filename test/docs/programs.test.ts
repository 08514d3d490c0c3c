import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

import { afterAll, expect, test } from "vitest";

import { ENTRIES, examplesOf, publicExports } from "../support/public-exports.ts";
import { compiled, linkPackage, read, root, runNodeAlongside } from "./documents.ts";

/** A block of TypeScript in a document or in an `@example`. */
interface Program {
  readonly name: string;
  readonly code: string;
  /** What its fence says: `ts` alone is a program, `ts vitest` a file of tests, `ts no-run` a fragment. */
  readonly kind: "program" | "tests" | "fragment";
}

function blocksIn(text: string, name: string): readonly Program[] {
  return [...text.matchAll(/^```ts(?<info>[^\n]*)\n(?<code>[\s\S]*?)^```$/gm)].map(({ groups }, index) => ({
    name: `${name}-${index + 1}`,
    code: groups?.["code"] ?? "",
    kind: kindOf(groups?.["info"] ?? ""),
  }));
}

function kindOf(info: string): Program["kind"] {
  if (/\bno-run\b/.test(info)) return "fragment";
  return /\bvitest\b/.test(info) ? "tests" : "program";
}

const documents = [
  "README.md",
  ...["docs", "docs/guides"].flatMap((one) => readdirSync(join(root, one)).map((name) => `${one}/${name}`)),
].filter((name) => name.endsWith(".md"));
const exported = new Map(publicExports().map((one) => [`${one.file} ${one.name}`, one]));

const programs: readonly Program[] = [
  ...documents.flatMap((name) => blocksIn(read(name), basename(name, ".md"))),
  ...[...exported.values()].flatMap((one) =>
    examplesOf(one).map((code, index) => ({
      name: `example-${one.name}-${index + 1}`,
      code,
      kind: "program" as const,
    })),
  ),
];

/** A fragment without imports is checked as a part of a program that has a session. */
function withImports({ code, kind }: Program): string {
  if (kind !== "fragment" || code.includes("import ")) return code;
  const names = publicExports({ throughline: ENTRIES["throughline"] ?? "" })
    .filter((one) => one.kind === "function" && code.includes(`${one.name}(`))
    .map(({ name }) => name);
  return `import { ${["type Session", ...names].join(", ")} } from "throughline";\ndeclare const session: Session;\n${code}`;
}

const folder = mkdtempSync(join(tmpdir(), "throughline-programs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("finds the programs of the documents and of the comments", () => {
  const names = programs.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["README-1", "api-1", "api-12", "example-createAgent-1"]));
  expect(
    blocksIn("```ts\na();\n```\n\n```ts no-run\nb();\n```\n\n```ts vitest\nc();\n```\n\n```\nd\n```\n", "d"),
  ).toEqual([
    { name: "d-1", code: "a();\n", kind: "program" },
    { name: "d-2", code: "b();\n", kind: "fragment" },
    { name: "d-3", code: "c();\n", kind: "tests" },
  ]);
});

test("every program compiles under our own strict settings, and a wrong one does not", async () => {
  linkPackage(folder);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const one of programs) writeFileSync(join(folder, `${one.name}.ts`), withImports(one));
  writeFileSync(
    join(folder, "wrong.ts"),
    'import { createAgent, emulator } from "throughline";\ncreateAgent({ modle: emulator() });\n',
  );
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        typeRoots: [join(root, "node_modules/@types")],
        paths: Object.fromEntries(
          Object.entries(ENTRIES).map(([entry, file]) => [entry, [join(root, file)]]),
        ),
      },
      include: ["*.ts"],
    }),
  );
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await runNodeAlongside([tsc, "-p", folder, "--pretty", "false"], folder);
  const errors = stdout.split("\n").filter((line) => /^\S/.test(line));
  expect(errors).toEqual([expect.stringMatching(/^wrong\.ts\(2,15\): error TS2561: .*'modle'/)]);
});

/** Loaded before each program: a connection to another machine is an error. */
const guard = join(folder, "loopback-only.mjs");
writeFileSync(
  guard,
  `import net from "node:net";
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  const { host = "localhost", path } = typeof options === "object" ? options : {};
  if (typeof path !== "string" && !["localhost", "127.0.0.1", "::1"].includes(host))
    throw new Error("a connection to " + host);
  return Reflect.apply(connect, this, args);
};
`,
);

async function run({ name, code, kind }: Program): Promise<unknown> {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  linkPackage(cwd);
  const file = join(cwd, kind === "tests" ? "program.test.mjs" : "program.mjs");
  writeFileSync(file, compiled(code));
  const vitest =
    kind === "tests" ? [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", cwd] : [file];
  const { status, stderr } = await runNodeAlongside(["--import", pathToFileURL(guard).href, ...vitest], cwd);
  return { status, stderr };
}

test.concurrent.for(programs.filter(({ kind }) => kind !== "fragment"))(
  "$name runs without a key",
  async (program) => {
    expect(await run(program)).toEqual({ status: 0, stderr: "" });
  },
);

test("a program that connects to another machine fails", async () => {
  const code = 'import { get } from "node:http";\nget("http://192.0.2.1/");\n';
  expect(await run({ name: "elsewhere", code, kind: "program" })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("a connection to 192.0.2.1"),
  });
});
