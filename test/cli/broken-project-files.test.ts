/**
 * A project's files come from other people, so a broken one must never stop a command or make it wait: it is ignored,
 * and one warning names it and says what is wrong.
 */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import {
  asOrdinaryUser,
  emulatorOf,
  expectNoTrace,
  expectProblem,
  newPlace,
  type Place,
  run,
  start,
} from "./harness.ts";
import { onTerminal } from "./pty.ts";

const CONFIG = ".throughline/config.json";

const text = (content: string | Uint8Array) => (file: string) => writeFileSync(file, content);

const BROKEN: readonly (readonly [what: string, make: (file: string) => void, code: string])[] = [
  ["not JSON", text("{"), "config_invalid"],
  ["not an object", text("[]"), "config_invalid"],
  ["a secret that is not JSON", text('{"model": hunter2}'), "config_invalid"],
  ["an unknown key", text('{"modle":"x"}'), "config_key_unknown"],
  ["a key that moves the cursor", text('{"\\u001b[2J":1}'), "config_key_unknown"],
  ["__proto__", text('{"__proto__":{"model":"x"}}'), "config_key_unknown"],
  ["a value of another type", text('{"maxSteps":"many"}'), "config_value_invalid"],
  [
    "deep JSON",
    text(`{"providerTools":{"openai":[${'{"type":'.repeat(90_000)}1${"}".repeat(90_000)}]}}`),
    "config_invalid",
  ],
  ["deep JSON that never closes", text("[".repeat(400_000)), "config_invalid"],
  ["bytes that are not UTF-8", text(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])), "config_invalid"],
  ["UTF-16", text(Buffer.from("\uFEFF{}", "utf16le")), "config_invalid"],
  ["more than a megabyte", text(" ".repeat(1024 * 1024 + 1)), "config_unreadable"],
  ["a folder", (file) => mkdirSync(file), "project_file_unreadable"],
  ["a pipe", (file) => execFileSync("mkfifo", [file]), "project_file_unreadable"],
  ["a device", (file) => symlinkSync("/dev/zero", file), "project_file_unreadable"],
  ["a dangling link", (file) => symlinkSync("nothing", file), "project_file_unreadable"],
  ["a link to itself", (file) => symlinkSync(file, file), "project_file_unreadable"],
  ["a link out of the project", (file) => symlinkSync("/etc/passwd", file), "project_file_outside"],
];

function broken(make: (file: string) => void, name = CONFIG): Place {
  const place = newPlace();
  mkdirSync(dirname(join(place.work, name)), { recursive: true });
  make(join(place.work, name));
  return place;
}

const warnings = (err: string, code: string): number =>
  err.split("\n").filter((line) => line.includes("is ignored") && line.endsWith(`[${code}]`)).length;

describe("a project's settings file that is", () => {
  test.for(BROKEN)("%s is ignored with one warning by every command", async ([, make, code]) => {
    const place = broken(make);
    const file = join(place.work, CONFIG);
    const [asked, config, doctor, refused] = await Promise.all([
      run(place, ["-p", "--ephemeral", "hi"]),
      run(place, ["config"]),
      run(place, ["doctor", "--offline"]),
      run(place, ["config", "trust"]),
    ]);
    for (const ran of [asked, config]) {
      expect(ran.code).toBe(0);
      expect(warnings(ran.err, code)).toBe(1);
      expect(ran.err).toContain(file);
      expect(ran.err).toContain("correct or remove it");
    }
    expect(doctor.code).toBe(0);
    expect(doctor.out).toMatch(/^note project +/m);
    expect(doctor.out).toContain(`(${code})`);
    expectProblem(refused, 2, code);
    for (const ran of [asked, config, doctor, refused]) {
      expectNoTrace(ran);
      for (const hidden of ["hunter2", "\u001B[2J"]) expect(`${ran.out}${ran.err}`).not.toContain(hidden);
    }
  });

  test("broken does not stop the other commands, a server or a chat; --trust is refused", async () => {
    const place = broken(text("{"));
    for (const args of [
      ["sessions"],
      ["models"],
      ["stats"],
      ["config", "path", "--project"],
      ["config", "--json"],
    ])
      expect(await run(place, args), args.join(" ")).toMatchObject({ code: 0 });
    expectProblem(await run(place, ["-p", "--trust", "hi"]), 2, "config_invalid");
    const chat = onTerminal(place, ["--ephemeral"], { TERM: "dumb" });
    await chat.shows("[config_invalid]");
    await chat.shows("/help");
    chat.type("/quit");
    expect((await chat.ended).code).toBe(0);
    const server = start(place, ["serve", "--port", "0"], { heldOpen: true });
    await server.seen(({ out }) => out.includes("\n"), "a link");
    server.kill("SIGTERM");
    expect(warnings((await server.ended).err, "config_invalid")).toBe(1);
  });

  test("trusted, and broken since then, is ignored like any other", async () => {
    const place = broken(text('{"permissions":"auto"}'));
    await run(place, ["config", "trust"]);
    expect((await run(place, ["config", "get", "permissions"])).out).toBe("auto\n");
    writeFileSync(join(place.work, CONFIG), '{"permissions":"auto"');
    const ran = await run(place, ["config", "get", "permissions"]);
    expect(ran).toMatchObject({ code: 0, out: "ask\n" });
    expect(warnings(ran.err, "config_invalid")).toBe(1);
  });

  test.for([CONFIG, "AGENTS.md"])("%s: not readable for this user is ignored too", async (name) => {
    const place = broken(text("{}"), name);
    mkdirSync(place.home);
    const user = asOrdinaryUser(place);
    chmodSync(join(place.work, name), 0o000);
    const ran = await run(place, ["-p", "--ephemeral", "hi"], user);
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(
      /is ignored: correct or remove it \[(?:config_unreadable|project_file_unreadable)\]/,
    );
  });

  test("setting a cost limit cannot stop a run on a model without a price", async () => {
    const place = broken(text('{"maxCostUsd":1}'));
    const { env } = await emulatorOf();
    const ran = await run(place, ["-p", "--ephemeral", "hi"], { env });
    expect(ran.code).toBe(0);
    expect(ran.err).toContain("ignoring the project's maxCostUsd");
  });
});

describe("a project's .mcp.json that is", () => {
  /** It is other programs' file too, so members that are not known here are fine. */
  const own = BROKEN.filter(
    ([, , code]) => !code.startsWith("config_key") && !code.startsWith("config_value"),
  );
  const FILES: typeof BROKEN = [
    ...own,
    ["a list of servers", text('{"mcpServers":[]}'), "config_value_invalid"],
    ["a text for servers", text('{"mcpServers":"hunter2"}'), "config_value_invalid"],
  ];
  test.for(FILES)("%s is ignored with one warning by every command", async ([, make, code]) => {
    const place = broken(make, ".mcp.json");
    const [asked, config, doctor, refused] = await Promise.all([
      run(place, ["-p", "--ephemeral", "hi"]),
      run(place, ["config"]),
      run(place, ["doctor", "--offline"]),
      run(place, ["config", "trust"]),
    ]);
    for (const ran of [asked, config]) {
      expect(ran.code).toBe(0);
      expect(warnings(ran.err, code)).toBe(1);
      expect(ran.err).toContain(join(place.work, ".mcp.json"));
    }
    expect(doctor.out).toContain(`(${code})`);
    expectProblem(refused, 2, code);
    for (const ran of [asked, config, doctor, refused]) {
      expectNoTrace(ran);
      expect(`${ran.out}${ran.err}`).not.toContain("hunter2");
    }
  });

  test("other programs' too: unknown members, no servers, an empty file", async () => {
    for (const content of ['{"other":1}', '{"mcpServers":{}}', "", "{}"]) {
      const ran = await run(broken(text(content), ".mcp.json"), ["-p", "--ephemeral", "hi"]);
      expect(ran.code).toBe(0);
      expect(ran.err).not.toContain("mcp");
    }
  });
});

describe("an AGENTS.md that is", () => {
  const FILES = BROKEN.filter(([, , code]) => code.startsWith("project_file"));
  test.for(FILES)("%s is ignored with one warning", async ([, make, code]) => {
    const place = broken(make, "AGENTS.md");
    const [asked, doctor] = await Promise.all([
      run(place, ["-p", "--ephemeral", "hi"]),
      run(place, ["doctor", "--offline"]),
    ]);
    expect(asked.code).toBe(0);
    expect(warnings(asked.err, code)).toBe(1);
    expect(asked.err).toContain(join(place.work, "AGENTS.md"));
    expect(doctor.out).toContain(`(${code})`);
  });

  test("huge is truncated", async () => {
    const place = broken(text("A line.\n".repeat(8_000_000)), "AGENTS.md");
    const ran = await run(place, ["-p", "--ephemeral", "hi"]);
    expect(ran.code).toBe(0);
    expect(ran.err).toContain("64000000 bytes, cut to 32");
  });
});
