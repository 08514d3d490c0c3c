/**
 * A project's `.mcp.json` and the `mcpServers` of its settings need trust: of their bytes, and of every file of the
 * project that an entry names. Each attack changes one thing between the decision and the run.
 */

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import { expectProblem, newPlace, onlyLog, type Place, type Ran, run, start } from "./harness.ts";
import { onTerminal } from "./pty.ts";

type Files = Readonly<Record<string, string>>;

const ASK = ["-p", "--ephemeral", "hi"];
/** A field that nobody knows: its warning shows that the entry is in force. */
const MARK = { marker: 1 };
const inForce = ({ err }: Pick<Ran, "err">): boolean => err.includes('the field "marker" is not known');

function write(place: Place, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place.work, name)), { recursive: true });
    writeFileSync(join(place.work, name), text);
  }
}

const fileOf = (entry: object): string =>
  JSON.stringify({ mcpServers: { files: { ...entry, ...MARK, enabled: false } } });

function projectOf(entry: object, files: Files = {}, name = ".mcp.json"): Place {
  const place = newPlace();
  mkdirSync(place.home);
  write(place, { [name]: fileOf(entry), ...files });
  return place;
}

const SCRIPT: Files = { "srv/a.mjs": 'import "./b.mjs";', "srv/b.mjs": "" };

interface Attack {
  readonly what: string;
  readonly entry: object;
  readonly files?: Files;
  readonly does: (place: Place) => void;
  readonly told: string;
}

const edit =
  (name: string) =>
  (place: Place): void =>
    writeFileSync(join(place.work, name), `${place.read(name)}\n`);

const ATTACKS: readonly Attack[] = [
  {
    what: "the file is edited",
    entry: { command: "node" },
    does: edit(".mcp.json"),
    told: ".mcp.json was edited",
  },
  {
    what: "the script is edited",
    entry: { command: "node", args: ["srv/a.mjs"] },
    does: edit("srv/a.mjs"),
    told: "srv/a.mjs was edited",
  },
  {
    what: "an import of the script is edited",
    entry: { command: "node", args: ["./srv/a.mjs"] },
    does: edit("srv/b.mjs"),
    told: "srv/b.mjs was edited",
  },
  {
    what: "the command itself is edited",
    entry: { command: "./run.sh" },
    files: { "run.sh": "#!/bin/sh\n" },
    does: edit("run.sh"),
    told: "run.sh was edited",
  },
  {
    what: "a script in a cwd is edited",
    entry: { command: "python3", args: ["tool.py"], cwd: "py" },
    files: { "py/tool.py": "1" },
    does: edit("py/tool.py"),
    told: "py/tool.py was edited",
  },
  {
    what: "the file of a flag is edited",
    entry: { command: "server", args: ["--config=conf/x.json"] },
    files: { "conf/x.json": "{}" },
    does: edit("conf/x.json"),
    told: "conf/x.json was edited",
  },
  {
    what: "a file that a variable names is edited",
    entry: { command: "node", env: { NODE_OPTIONS: "--require ./srv/pre.cjs" } },
    files: { "srv/pre.cjs": "" },
    does: edit("srv/pre.cjs"),
    told: "srv/pre.cjs was edited",
  },
  {
    what: "a script inside a shell command is edited",
    entry: { command: "sh", args: ["-c", "exec python3 'py/tool.py' --fast"] },
    files: { "py/tool.py": "1" },
    does: edit("py/tool.py"),
    told: "py/tool.py was edited",
  },
  {
    what: "a file whose path has a default is edited",
    entry: { command: "node", args: ["${WHERE:-srv}/b.mjs"] },
    does: edit("srv/b.mjs"),
    told: "srv/b.mjs was edited",
  },
  {
    what: "the script is removed",
    entry: { command: "node", args: ["srv/b.mjs"] },
    does: (place) => rmSync(join(place.work, "srv/b.mjs")),
    told: "srv/b.mjs was removed",
  },
  {
    what: "a script appears where there was none",
    entry: { command: "node", args: ["late.mjs"] },
    does: (place) => write(place, { "late.mjs": "" }),
    told: "late.mjs was added",
  },
  {
    what: "the script becomes a link out of the project",
    entry: { command: "node", args: ["srv/b.mjs"] },
    does: (place) => {
      writeFileSync(join(place.work, "../evil.mjs"), "");
      rmSync(join(place.work, "srv/b.mjs"));
      symlinkSync("../../evil.mjs", join(place.work, "srv/b.mjs"));
    },
    told: "outside the project",
  },
  {
    what: "the file becomes a link out of the project",
    entry: { command: "node" },
    does: (place) => {
      writeFileSync(join(place.work, "../evil.json"), place.read(".mcp.json"));
      rmSync(join(place.work, ".mcp.json"));
      symlinkSync("../evil.json", join(place.work, ".mcp.json"));
    },
    told: "[project_file_outside]",
  },
];

describe("after the decision to trust .mcp.json", () => {
  test.concurrent.for(ATTACKS)("no server counts if $what", async ({ entry, files, does, told }) => {
    const place = projectOf(entry, { ...SCRIPT, ...files });
    expect(await run(place, [...ASK, "--trust"])).toMatchObject({ code: 0 });
    const before = await run(place, ASK);
    expect(inForce(before)).toBe(true);
    expect(before.err).not.toContain("trust");
    does(place);
    const ran = await run(place, ASK);
    expect(ran.code).toBe(0);
    expect(inForce(ran)).toBe(false);
    expect(ran.err).toContain(told);
  });

  test("a refused decision is kept, and nothing is said again until something changes", async () => {
    const place = projectOf({ command: "node" });
    await run(place, ["config", "trust", "--revoke"]);
    const refused = await run(place, ASK);
    expect(inForce(refused)).toBe(false);
    expect(refused.err).not.toContain("[project_untrusted]");
    edit(".mcp.json")(place);
    expect((await run(place, ASK)).err).toContain("[project_untrusted]");
  });

  test("the servers of the settings file need the same trust, with the files that they name", async () => {
    const place = projectOf({ command: "node", args: ["srv/a.mjs"] }, SCRIPT, ".throughline/config.json");
    expect(inForce(await run(place, ASK))).toBe(false);
    expect(inForce(await run(place, [...ASK, "--trust"]))).toBe(true);
    edit("srv/b.mjs")(place);
    const ran = await run(place, ASK);
    expect(inForce(ran)).toBe(false);
    expect(ran.err).toContain("srv/b.mjs was edited");
  });
});

describe("without a decision", () => {
  test("a run starts without the servers and says so once, whoever asks", async () => {
    const place = projectOf({ command: "node", args: ["srv/a.mjs"] }, SCRIPT);
    const ran = await run(place, ASK);
    expect(ran.code).toBe(0);
    expect(inForce(ran)).toBe(false);
    expect(ran.err.match(/\[project_untrusted\]/g)).toHaveLength(1);
    expect(ran.err).toContain(`${join(place.work, ".mcp.json")} sets the MCP server files, which is ignored`);
    const doctor = await run(place, ["doctor", "--offline"]);
    expect(doctor.out).toContain(
      "sets the MCP server files, which is ignored because the file is not trusted",
    );
    expect(doctor.out).toContain("names srv/b.mjs");
    const config = await run(place, ["config"]);
    expect(config.err).toContain("also sets the MCP server files");
    const json = JSON.parse((await run(place, ["config", "--json"])).out) as {
      readonly parts: readonly { readonly type: string; readonly files: object }[];
    };
    expect(json.parts).toMatchObject([{ type: "servers" }]);
    expect(Object.keys(json.parts[0]?.files ?? {})).toEqual(["srv/a.mjs", "srv/b.mjs"]);
  });

  test("--mcp-config is the user's own word and needs no trust", async () => {
    const place = projectOf({ command: "node" });
    expect(inForce(await run(place, [...ASK, "--mcp-config", ".mcp.json"]))).toBe(true);
    expectProblem(await run(newPlace(), [...ASK, "--mcp-config", "no.json"]), 2, "config_unreadable");
  });

  test("a file that names a script outside by a link cannot be trusted", async () => {
    const place = projectOf({ command: "node", args: ["a.mjs"] });
    writeFileSync(join(place.work, "../evil.mjs"), "");
    symlinkSync("../evil.mjs", join(place.work, "a.mjs"));
    const refused = await run(place, [...ASK, "--trust"]);
    expectProblem(refused, 2, "project_untrustable");
    expect(refused.err).toContain("--mcp-config");
    expect(inForce(await run(place, ASK))).toBe(false);
  });

  test("more servers than a person can read cannot be trusted", async () => {
    const place = projectOf({ command: "x".repeat(70_000) });
    expectProblem(await run(place, [...ASK, "--trust"]), 2, "project_untrustable");
  });
});

describe("the question", () => {
  test("shows each server exactly, its files and the limits of trust, and asks about each part", async () => {
    const place = projectOf({ command: "node", args: ["srv/a.mjs", "two words", "p\u0430y"] }, SCRIPT);
    write(place, {
      ".throughline/config.json": JSON.stringify({ permissions: "auto" }),
      ".mcp.json": JSON.stringify({
        mcpServers: {
          files: {
            command: "node",
            args: ["srv/a.mjs", "two words", "p\u0430y"],
            env: { API_KEY: "sk-hunter2-hunter2", MODE: "fast" },
            ...MARK,
            enabled: false,
          },
          docs: { url: "https://docs.example/mcp", headers: { Authorization: "hunter2" }, enabled: false },
        },
      }),
    });
    const asked = onTerminal(place, ASK, {});
    await asked.shows("Trust it as it is now? [y/N] ");
    asked.type("n");
    await asked.shows("downloads");
    const screen = (): string => asked.screen.replaceAll(/\s+/g, " ");
    await asked.shows("Trust it as it is now? [y/N] ");
    expect(screen()).toContain(
      String.raw`files: node srv/a.mjs "two words" "p\u{430}y", with API_KEY=[hidden] MODE=fast`,
    );
    expect(screen()).toContain("docs: https://docs.example/mcp, with the headers Authorization");
    expect(screen()).toContain("srv/a.mjs srv/b.mjs");
    expect(screen()).toContain("a package runner (npx, uvx, bunx, pnpm dlx, docker run …) downloads");
    expect(screen()).not.toContain("hunter2");
    asked.type("y");
    const { code, screen: all } = await asked.ended;
    expect(code).toBe(0);
    expect(inForce({ err: all.replaceAll(/\s+/g, " ") })).toBe(true);
    // Each part has its own decision: the settings stay refused, the servers stay trusted.
    const again = await run(place, ASK);
    expect(inForce(again)).toBe(true);
    expect(again.err).not.toContain("[project_untrusted]");
    expect((await run(place, ["config", "get", "permissions"])).out).toBe("ask\n");
  });

  test("Ctrl-C at the question ends the command and decides nothing", async () => {
    const place = projectOf({ command: "node", args: ["srv/a.mjs"] }, SCRIPT);
    for (const args of [ASK, []]) {
      const asked = onTerminal(place, args, { TERM: "xterm" });
      await asked.shows("Trust it as it is now? [y/N] ");
      asked.press("\u0003");
      const { code, screen } = await asked.ended;
      expect(code).toBe(130);
      expect(screen).toContain("stopped: you are asked again the next time [stopped]");
      // The movements of the line editor take effect; they are not shown.
      expect(screen).not.toContain("␛");
    }
  });

  test("covers what was shown: a file that changes while it is open is not trusted", async () => {
    const place = projectOf({ command: "node", args: ["srv/a.mjs"] }, SCRIPT);
    const asked = onTerminal(place, ASK, {});
    await asked.shows("Trust it as it is now? [y/N] ");
    edit("srv/b.mjs")(place);
    asked.type("y");
    const { screen } = await asked.ended;
    expect(screen.replaceAll(/\s+/g, " ")).toContain("srv/b.mjs was edited");
    expect(inForce({ err: screen.replaceAll(/\s+/g, " ") })).toBe(false);
  });
});

describe("serve", () => {
  test("asks nothing: a session's folder has its servers only if they are trusted", async () => {
    const place = newPlace();
    const other = projectOf({ command: "node", args: ["srv/a.mjs"] }, SCRIPT);
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
      await (await fetch(`${at}/${name}?wait=30`, { headers })).json();
      server.kill("SIGTERM");
      return (await server.ended).err;
    };
    const untrusted = await turn();
    expect(untrusted).toContain("[project_untrusted]");
    expect(inForce({ err: untrusted })).toBe(false);
    await run(place, ["config", "trust"], there);
    const trusted = await turn();
    expect(trusted).not.toContain("[project_untrusted]");
    expect(inForce({ err: trusted })).toBe(true);
  });
});
