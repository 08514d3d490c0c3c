/**
 * Trust names every file that runs, by content. Each attack changes one thing between the decision and the run: then no
 * code of the project may run, and the warning must say what changed.
 */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import { LIBRARY } from "../support/built.ts";
import { expectProblem, newPlace, onlyLog, type Place, run, start } from "./harness.ts";
import { onTerminal } from "./pty.ts";

type Files = Readonly<Record<string, string>>;

/** Each module records in `ran` that it ran. */
const says = (word: string): string =>
  `require("node:fs").appendFileSync(process.cwd() + "/ran", ${JSON.stringify(`${word}\n`)});`;
const saysModule = (word: string): string =>
  `import { appendFileSync as a${word} } from "node:fs"; a${word}(process.cwd() + "/ran", ${JSON.stringify(`${word}\n`)});`;
const TOOL = `import { tool } from ${JSON.stringify(LIBRARY)};
export const probe = tool({ name: "probe", description: "probes", input: { type: "object" }, run: () => "yes" });\n`;
const ROOT = ".throughline/t.mjs";
const ASK = ["-p", "--ephemeral", "hi"];

function write(place: Place, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place.work, name)), { recursive: true });
    writeFileSync(join(place.work, name), text);
  }
}

/** A project whose tools are `.throughline/t.mjs`; `code` is the rest of that module. */
function projectOf(code: string, files: Files = {}): Place {
  const place = newPlace();
  write(place, {
    ".throughline/config.json": JSON.stringify({ tools: "t.mjs" }),
    [ROOT]: `${TOOL}${saysModule("root")}\n${code}\n`,
    ...files,
  });
  return place;
}

/** The modules that ran since the last call. */
function ranOf(place: Place): readonly string[] {
  const file = join(place.work, "ran");
  const ran = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  rmSync(file, { force: true });
  return ran;
}

const edit = (name: string, text = "\n"): Attack => ({
  does: (place) =>
    writeFileSync(join(place.work, name), `${readFileSync(join(place.work, name), "utf8")}${text}`),
  told: `${name} was edited`,
});
const add = (name: string, text: string): Attack => ({
  does: (place) => write(place, { [name]: text }),
  told: `${name} was added`,
});

interface Attack {
  readonly does: (place: Place) => void;
  readonly told: string;
}

const MANIFEST = (more: object): string => JSON.stringify({ name: "dep", version: "1.0.0", ...more });

const ATTACKS: readonly (readonly [what: string, code: string, files: Files, attack: Attack])[] = [
  ["the module is edited", "", {}, edit(ROOT)],
  [
    "the settings are edited",
    "",
    {},
    { ...edit(".throughline/config.json"), told: "config.json was edited" },
  ],
  ["an import is edited", 'import "../lib/a.mjs";', { "lib/a.mjs": saysModule("a") }, edit("lib/a.mjs")],
  [
    "an import of an import is edited",
    'import "../lib/a.mjs";',
    { "lib/a.mjs": 'export * from "./b.mjs";', "lib/b.mjs": saysModule("b") },
    edit("lib/b.mjs"),
  ],
  [
    "a dynamic import is edited",
    'await import("../lib/a.mjs");',
    { "lib/a.mjs": saysModule("a") },
    edit("lib/a.mjs"),
  ],
  [
    "the name of a dynamic import is in a variable",
    'const name = "../lib/a.mjs"; await import(name);',
    { "lib/a.mjs": saysModule("a") },
    edit("lib/a.mjs"),
  ],
  [
    "a CommonJS file is edited",
    'import "../lib/a.cjs";',
    { "lib/a.cjs": 'require("./b");', "lib/b.js": says("b"), "package.json": "{}" },
    edit("lib/b.js"),
  ],
  [
    "a file loaded by createRequire is edited",
    'import { createRequire as make } from "node:module"; const load = make(import.meta.url); load("../lib/a.cjs");',
    { "lib/a.cjs": says("a") },
    edit("lib/a.cjs"),
  ],
  [
    "a file named by import.meta.resolve is edited",
    'await import(import.meta.resolve("../lib/a.mjs"));',
    { "lib/a.mjs": saysModule("a") },
    edit("lib/a.mjs"),
  ],
  [
    "a file named by a URL relative to the module is edited",
    'import { readFileSync } from "node:fs"; new Function(readFileSync(new URL("code.txt", import.meta.url), "utf8"))();',
    { ".throughline/code.txt": "1;" },
    edit(".throughline/code.txt"),
  ],
  [
    "JSON is edited",
    'import { createRequire } from "node:module"; createRequire(import.meta.url)("../lib/a.json");',
    { "lib/a.json": "{}" },
    edit("lib/a.json"),
  ],
  [
    "the type of the package is changed",
    'import "../lib/a.js";',
    { "lib/a.js": says("a"), "package.json": '{"type":"commonjs"}' },
    edit("package.json", " "),
  ],
  [
    "a nearer package.json is added",
    'import "../lib/a.js";',
    { "lib/a.js": says("a"), "package.json": '{"type":"commonjs"}' },
    add("lib/package.json", '{"type":"commonjs"}'),
  ],
  [
    "a package is edited",
    'import "dep";',
    { "node_modules/dep/package.json": MANIFEST({ main: "m.js" }), "node_modules/dep/m.js": says("dep") },
    edit("node_modules/dep/m.js"),
  ],
  [
    "the entry of a package is changed",
    'import "dep";',
    {
      "node_modules/dep/package.json": MANIFEST({ exports: { ".": { import: "./a.mjs" } } }),
      "node_modules/dep/a.mjs": saysModule("dep"),
    },
    edit("node_modules/dep/package.json"),
  ],
  [
    "a package of a package is edited",
    'import "dep/deep.js";',
    {
      "node_modules/dep/package.json": MANIFEST({ exports: { "./*": "./lib/*" } }),
      "node_modules/dep/lib/deep.js": 'require("@scope/inner/x");',
      "node_modules/@scope/inner/package.json": "{}",
      "node_modules/@scope/inner/x.js": says("inner"),
    },
    edit("node_modules/@scope/inner/x.js"),
  ],
  [
    "a nearer package hides the trusted one",
    'import "dep";',
    { "node_modules/dep/package.json": MANIFEST({ main: "m.js" }), "node_modules/dep/m.js": says("dep") },
    add(".throughline/node_modules/dep/index.js", says("evil")),
  ],
  [
    "a nearer file hides the trusted one",
    'import "../lib/a.cjs";',
    { "lib/a.cjs": 'require("./b");', "lib/b/index.js": says("b"), "package.json": "{}" },
    add("lib/b.js", says("evil")),
  ],
  [
    "a file behind an internal name is edited",
    'import "#a";',
    { "package.json": '{"imports":{"#*":"./lib/*.mjs"}}', "lib/a.mjs": saysModule("a") },
    edit("lib/a.mjs"),
  ],
  [
    "a file behind the package's own name is edited",
    'import "mine/a";',
    { "package.json": '{"name":"mine","exports":{"./a":"./lib/a.mjs"}}', "lib/a.mjs": saysModule("a") },
    edit("lib/a.mjs"),
  ],
  [
    "an imported file is removed",
    'import("../lib/a.mjs").catch(() => undefined);',
    { "lib/a.mjs": saysModule("a") },
    {
      does: (place) => rmSync(join(place.work, "lib/a.mjs")),
      told: "lib/a.mjs was removed",
    },
  ],
];

describe("after the decision to trust", () => {
  test.concurrent.for(ATTACKS)("nothing runs if %s", async ([, code, files, { does, told }]) => {
    const place = projectOf(code, files);
    const trusted = await run(place, [...ASK, "--trust"]);
    expect(trusted).toMatchObject({ code: 0 });
    expect(ranOf(place)).toContain("root");

    does(place);
    const ran = await run(place, ASK);
    expect(ran.code).toBe(0);
    expect(ranOf(place)).toEqual([]);
    expect(ran.err).toContain("[project_untrusted]");
    expect(ran.err).toContain(told);
    expect(trusted.err).toContain("It runs this code:");
  });

  test("the code runs again without a message if nothing changed", async () => {
    const place = projectOf('import "../lib/a.mjs";', { "lib/a.mjs": saysModule("a") });
    await run(place, ["config", "trust"]);
    const ran = await run(place, ASK);
    expect(ran.code).toBe(0);
    expect(ran.err).not.toContain("trust");
    expect(ranOf(place)).toEqual(["a", "root"]);
  });
});

describe("links", () => {
  /** Link swaps in a project that has been trusted. */
  const CASES: readonly (readonly [
    what: string,
    files: Files,
    swap: (place: Place) => void,
    told: string,
  ])[] = [
    [
      "the module becomes a link out of the project",
      {},
      (place) => {
        writeFileSync(join(place.work, "../evil.mjs"), `${TOOL}${saysModule("evil")}`);
        rmSync(join(place.work, ROOT));
        symlinkSync("../../evil.mjs", join(place.work, ROOT));
      },
      "outside the project",
    ],
    [
      "the module becomes a link to another file of the project",
      { "evil.mjs": `${TOOL}${saysModule("evil")}` },
      (place) => {
        rmSync(join(place.work, ROOT));
        symlinkSync("../evil.mjs", join(place.work, ROOT));
      },
      "evil.mjs was added",
    ],
    [
      "the folder becomes a link out of the project",
      {},
      (place) => {
        execFileSync("cp", ["-r", join(place.work, ".throughline"), join(place.work, "../moved")]);
        rmSync(join(place.work, ".throughline"), { recursive: true });
        symlinkSync("../moved", join(place.work, ".throughline"));
      },
      "[project_file_outside]",
    ],
  ];
  test.for(CASES)("%s: nothing runs", async ([, files, swap, told]) => {
    const place = projectOf("", files);
    await run(place, [...ASK, "--trust"]);
    expect(ranOf(place)).toEqual(["root"]);
    swap(place);
    const ran = await run(place, ASK);
    expect(ran.code).toBe(0);
    expect(ran.err).toContain(told);
    expect(ranOf(place)).toEqual([]);
  });

  test("inside the project are followed, copied and named", async () => {
    const place = projectOf('import "dep"; import "../link/a.mjs";', {
      "packages/dep/package.json": MANIFEST({ exports: "./m.mjs" }),
      "packages/dep/m.mjs": saysModule("dep"),
      "lib/a.mjs": saysModule("a"),
    });
    mkdirSync(join(place.work, "node_modules"));
    symlinkSync("../packages/dep", join(place.work, "node_modules/dep"));
    symlinkSync("lib", join(place.work, "link"));
    const ran = await run(place, [...ASK, "--trust"]);
    expect(ran.err).toContain("node_modules/dep, a link to ");
    expect([...ranOf(place)].toSorted()).toEqual(["a", "dep", "root"]);
    rmSync(join(place.work, "link"));
    write(place, { "other/a.mjs": saysModule("evil") });
    symlinkSync("other", join(place.work, "link"));
    expect((await run(place, ASK)).err).toContain("link was edited");
    expect(ranOf(place)).toEqual([]);
  });

  test("of packages may lead out of the project: the package is named there, and its content counts", async () => {
    const place = projectOf('import "dep";');
    const outside = join(place.work, "../linked");
    mkdirSync(outside);
    writeFileSync(join(outside, "package.json"), MANIFEST({ exports: "./m.mjs" }));
    writeFileSync(join(outside, "m.mjs"), saysModule("dep"));
    mkdirSync(join(place.work, "node_modules"));
    symlinkSync(outside, join(place.work, "node_modules/dep"));
    expect((await run(place, [...ASK, "--trust"])).err).toContain(join(place.work, "..", "linked", "m.mjs"));
    expect([...ranOf(place)].toSorted()).toEqual(["dep", "root"]);
    writeFileSync(join(outside, "m.mjs"), saysModule("evil"));
    expect((await run(place, ASK)).err).toContain("linked/m.mjs was edited");
    expect(ranOf(place)).toEqual([]);
  });
});

describe("code that cannot be trusted", () => {
  const CASES: readonly (readonly [
    what: string,
    tools: string,
    make: (place: Place) => void,
    part: string,
  ])[] = [
    ["a folder", "t", (place) => mkdirSync(join(place.work, ".throughline/t")), "not a regular file"],
    [
      "a pipe",
      "t.mjs",
      (place) => {
        execFileSync("mkfifo", [join(place.work, ".throughline/t.mjs")]);
      },
      "not a regular file",
    ],
    ["a device", "/dev/zero", () => undefined, "not a regular file"],
    ["nothing", "t.mjs", () => undefined, "does not exist"],
    ["a data URL", "data:text/javascript,1", () => undefined, "does not exist"],
    ["a web address", "http://127.0.0.1:9/t.mjs", () => undefined, "does not exist"],
    ["a Node module", "node:fs", () => undefined, "does not exist"],
    [
      "a file above the project",
      "../../t.mjs",
      (place) => writeFileSync(join(place.work, "../t.mjs"), TOOL),
      "outside the project",
    ],
    [
      "a link out of the project",
      "t.mjs",
      (place) => {
        writeFileSync(join(place.work, "../t.mjs"), TOOL);
        symlinkSync("../../t.mjs", join(place.work, ".throughline/t.mjs"));
      },
      "outside the project",
    ],
    [
      "an import of a file above the project",
      "t.mjs",
      (place) => {
        writeFileSync(join(place.work, "../evil.mjs"), "");
        write(place, { [ROOT]: `${TOOL}import "../../evil.mjs";` });
      },
      "outside the project",
    ],
    [
      "an import by an absolute path",
      "t.mjs",
      (place) => {
        const file = join(place.work, "evil.mjs");
        write(place, { "evil.mjs": "", [ROOT]: `${TOOL}import ${JSON.stringify(file)};` });
      },
      "by its absolute path",
    ],
    [
      "an import by a file URL",
      "t.mjs",
      (place) => {
        const file = `file://${join(place.work, "evil.mjs")}`;
        write(place, { "evil.mjs": "", [ROOT]: `${TOOL}await import(${JSON.stringify(file)});` });
      },
      "by its absolute path",
    ],
    [
      "a file that is too large",
      "t.mjs",
      (place) => write(place, { [ROOT]: `${TOOL}/* ${"x".repeat(33 * 1024 * 1024)} */` }),
      "32 MiB",
    ],
  ];
  test.for(CASES)(
    "%s: --trust is refused with a code, and a run continues without the code",
    async ([, tools, make, part]) => {
      const place = newPlace();
      write(place, { ".throughline/config.json": JSON.stringify({ tools }) });
      make(place);
      const refused = await run(place, [...ASK, "--trust"]);
      expectProblem(refused, 2, "project_untrustable");
      expect(refused.err).toContain(part);
      const ran = await run(place, ASK);
      expect(ran.code).toBe(0);
      expect(ran.err).toContain(part);
      expect(ran.err).toContain("[project_untrusted]");
    },
  );
});

describe("code that trust does not name", () => {
  test("is missing if the path of an import is computed: an error says why", async () => {
    const place = projectOf('await import(["..", "lib", "a.mjs"].join("/"));', {
      "lib/a.mjs": saysModule("a"),
    });
    const ran = await run(place, [...ASK, "--trust"]);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(`Cannot find module '${join(place.work, "lib/a.mjs")}'`);
    expect(ran.err).toContain("can load only files that its text names");
    expect(ran.err).toContain("[tools_file_invalid]");
    expect(ranOf(place)).toEqual(["root"]);
    // If the user names the same module, it runs unchanged.
    expect(await run(place, [...ASK, "--tools", join(place.work, ROOT)])).toMatchObject({ code: 0 });
    expect(ranOf(place)).toEqual(["root", "a"]);
  });

  test("is refused if the code computes its path in the project, for import and for require", async () => {
    const place = projectOf(
      `import { createRequire } from "node:module"; import "../lib/b.cjs"; const require = createRequire(import.meta.url);
       const at = process.cwd() + "/lib/" + "a.cjs";
       for (const load of [() => import(at), async () => require(at), () => import("data:text/javascript,import " + JSON.stringify("file://" + at))]) await load().catch(({ code }) => console.error(code));`,
      {
        "lib/a.cjs": says("a"),
        "lib/b.cjs":
          'try { require(process.cwd() + "/lib/" + "a.cjs"); } catch ({ code }) { console.error(code); }',
      },
    );
    const ran = await run(place, [...ASK, "--trust"]);
    expect(ran.err.match(/^code_untrusted$/gm)).toHaveLength(4);
    expect(ran.code).toBe(0);
    expect(ranOf(place)).toEqual(["root"]);
  });
});

describe("the decision to trust", () => {
  test("of an older version, without file names, does not cover code; without code it holds", async () => {
    const place = projectOf("");
    const file = join(place.work, ".throughline/config.json");
    await run(place, ["config", "trust"]);
    const store = join(place.home, "trust.json");
    const kept = JSON.parse(readFileSync(store, "utf8")) as Record<string, Record<string, unknown>>;
    expect(Object.keys(kept[file]?.["files"] as object)).toEqual([LIBRARY, ROOT].toSorted());
    const old = { ...kept[file], files: undefined };
    writeFileSync(store, JSON.stringify({ [file]: old }));
    expect((await run(place, ASK)).err).toContain(`${ROOT} was added`);
    expect(ranOf(place)).toEqual([]);
    writeFileSync(file, JSON.stringify({ permissions: "auto" }));
    await run(place, ["config", "trust"]);
    const again = JSON.parse(readFileSync(store, "utf8")) as Record<string, Record<string, unknown>>;
    writeFileSync(store, JSON.stringify({ [file]: { ...again[file], files: undefined } }));
    expect((await run(place, ["config", "get", "permissions"])).out).toBe("auto\n");
  });

  test("is requested with every file by name, and again with what changed", async () => {
    const place = projectOf('import "../lib/a.mjs"; import "dep";', {
      "lib/a.mjs": saysModule("a"),
      "node_modules/dep/index.js": says("dep"),
      "node_modules/dep/package.json": "{}",
    });
    const yes = onTerminal(place, ASK, {});
    await yes.shows("Trust it as it is now? [y/N] ");
    expect(yes.screen).toContain("  lib/a.mjs\r\n");
    expect(yes.screen).toContain("  .throughline/t.mjs\r\n");
    expect(yes.screen).toContain("  node_modules/dep (2 files)\r\n");
    expect(yes.screen).toContain("It does not cover commands they start");
    yes.type("y");
    expect((await yes.ended).code).toBe(0);
    expect(ranOf(place)).toContain("a");
    write(place, { "lib/a.mjs": 'import "./b.mjs";', "lib/b.mjs": "" });
    const no = onTerminal(place, ASK, {});
    await no.shows("Trust it as it is now? [y/N] ");
    expect(no.screen.replaceAll(/\s+/g, " ")).toContain(
      "Since you trusted it, lib/a.mjs was edited, lib/b.mjs was added.",
    );
    no.type("");
    await no.ended;
    expect(ranOf(place)).toEqual([]);
  });

  test("covers what was shown: files that change while the question is open are not trusted", async () => {
    const place = projectOf('import "../lib/a.mjs";', { "lib/a.mjs": saysModule("a") });
    const asked = onTerminal(place, ASK, {});
    await asked.shows("Trust it as it is now? [y/N] ");
    write(place, { "lib/a.mjs": saysModule("evil") });
    asked.type("y");
    const { screen } = await asked.ended;
    expect(screen.replaceAll(/\s+/g, " ")).toContain("lib/a.mjs was edited");
    expect(ranOf(place)).toEqual([]);
  });

  test("is shown by config and doctor, with every file", async () => {
    const place = projectOf('import "../lib/a.mjs";', { "lib/a.mjs": saysModule("a") });
    for (const args of [["config"], ["doctor", "--offline"]]) {
      const { out, err } = await run(place, args);
      expect(`${out}${err}`).toMatch(/lib\/a\.mjs\n/);
    }
    await run(place, ["config", "trust"]);
    write(place, { "lib/a.mjs": saysModule("b") });
    for (const args of [["config"], ["doctor", "--offline"], ["config", "trust"]]) {
      const { out, err } = await run(place, args);
      expect(`${out}${err}`).toContain("lib/a.mjs was edited");
    }
    const listed = JSON.parse((await run(place, ["config", "--json"])).out) as {
      readonly project: { readonly decision: string; readonly files: object };
    };
    expect(listed.project.decision).toBe("trusted");
    expect(Object.keys(listed.project.files)).toContain("lib/a.mjs");
    expect(ranOf(place)).toEqual([]);
  });

  test("leaves no copy of the code behind", async () => {
    const place = projectOf("");
    await run(place, [...ASK, "--trust"]);
    expect(ranOf(place)).toEqual(["root"]);
    expect(execFileSync("ls", [join(place.home, "trusted-code")], { encoding: "utf8" })).toBe("");
  });
});

describe("serve", () => {
  test("uses the settings of a session's own folder and asks nothing: untrusted settings are ignored", async () => {
    const place = newPlace();
    const other = projectOf("");
    const there = { cwd: other.work };
    await run(place, ["-p", "hi"], there);
    const { id } = await onlyLog(place);
    const token = "t".repeat(43);
    const turn = async (): Promise<string> => {
      const server = start(place, ["serve", "--port", "0"], {
        heldOpen: true,
        env: { THROUGHLINE_TOKEN: token },
      });
      await server.seen(({ out }) => out.includes("\n"), "a link");
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const at = `${new URL(server.out.trim()).origin}/api/sessions/${id}/turns`;
      const begun = await fetch(at, { method: "POST", headers, body: JSON.stringify({ input: "hi" }) });
      const { turn: name } = (await begun.json()) as { readonly turn: string };
      const ended = await fetch(`${at}/${name}?wait=30`, { headers });
      expect(await ended.json()).toMatchObject({ result: { status: "completed" } });
      server.kill("SIGTERM");
      const { err } = await server.ended;
      return err;
    };
    expect(await turn()).toContain("[project_untrusted]");
    expect(ranOf(place)).toEqual([]);
    await run(place, ["config", "trust"], there);
    expect(await turn()).not.toContain("[project_untrusted]");
    expect(ranOf(place)).toEqual(["root"]);
    write(other, { [ROOT]: saysModule("evil") });
    expect(await turn()).toContain(`${ROOT} was edited`);
    expect(ranOf(place)).toEqual([]);
  });
});
