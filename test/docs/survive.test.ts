/**
 * The two versions of one program in examples/, killed and cancelled for real, against the same emulator. Each test says
 * what the version has kept.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { build } from "esbuild";
import { expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { fileStore, type LoggedEvent } from "../../src/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { linkPackage, root } from "./documents.ts";

type Version = "survive" | "survive-ai-sdk";

interface Place {
  readonly folder: string;
  readonly emulator: Emulator;
  /** Starts the program. Resolves with its output when it has ended. */
  run(...flags: readonly string[]): Running;
  /** What write_file has written so far. */
  written(): string;
}

interface Running {
  readonly child: ChildProcess;
  /** Resolves when the program has printed a line that contains the text. */
  printed(text: string): Promise<void>;
  readonly ended: Promise<{ readonly status: number | null; readonly out: readonly string[] }>;
}

async function placeFor(version: Version): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "throughline-survive-"));
  afterTest(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  const emulator = await startEmulator();
  afterTest(() => emulator.close());
  linkPackage(folder);
  const program = join(folder, "program.mjs");
  await build({
    entryPoints: [join(root, "examples", `${version}.ts`)],
    outfile: program,
    bundle: true,
    packages: "external",
    tsconfigRaw: "{}", // `throughline` is the built package
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning",
  });
  const env = { PATH: process.env["PATH"], HOME: folder, OPENAI_BASE_URL: emulator.baseUrl };
  return {
    folder,
    emulator,
    run: (...flags) => running(spawn(process.execPath, [program, folder, ...flags], { cwd: folder, env })),
    written: () => readFileSync(join(folder, "notes", "emulator-note.txt"), "utf8"),
  };
}

function running(child: ReturnType<typeof spawn>): Running {
  const out: string[] = [];
  const waiting = new Set<() => void>();
  let errors = "";
  child.stderr?.on("data", (data: Buffer) => (errors += data.toString()));
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on("line", (line) => {
      out.push(line);
      for (const look of waiting) look();
    });
  afterTest(() => void child.kill("SIGKILL"));
  const ended = new Promise<{ readonly status: number | null; readonly out: readonly string[] }>((done) => {
    child.once("close", (status) => done({ status, out }));
  });
  return {
    child,
    ended,
    printed: (text) =>
      new Promise((done, fail) => {
        const look = (): void => {
          if (out.some((line) => line.includes(text))) done();
        };
        waiting.add(look);
        look();
        void ended.then(() => fail(new Error(`it ended without printing "${text}": ${errors}`)));
      }),
  };
}

/** Runs it until write_file has taken effect, kills it with SIGKILL, and runs it again. */
async function killedAndRunAgain(version: Version): Promise<{
  readonly place: Place;
  readonly answer: unknown;
  /** How many requests both runs sent together. */
  readonly requests: number;
  /** Whether the thoughts of the first run were in the last request. The third is the one before the interrupted call. */
  readonly replayed: readonly boolean[];
}> {
  const place = await placeFor(version);
  const first = place.run("--slow");
  await first.printed("→ write_file");
  first.child.kill("SIGKILL");
  await first.ended;
  const { status, out } = await place.run().ended;
  expect(status).toBe(0);
  const { exchanges } = place.emulator;
  const { requests } = place.emulator.report();
  expect(requests.filter(({ verdict }) => verdict === "refused")).toEqual([]);
  return {
    place,
    answer: JSON.parse(out.at(-1) ?? ""),
    requests: exchanges.length,
    replayed: exchanges.slice(0, 3).map((one) => isReplayed(one, exchanges.at(-1))),
  };
}

type Exchange = Emulator["exchanges"][number];

/** Whether a request has the thought of an answer. A stream has it several times, each time encrypted anew. */
function isReplayed({ responseText, events }: Exchange, request: Exchange | undefined): boolean {
  const answer = `${responseText}${JSON.stringify(events)}`;
  const thoughts = answer.match(/(?<=encrypted_content\W+)[\w+/=-]{20,}/g) ?? [];
  return thoughts.some((one) => request?.requestText.includes(one));
}

const LINE = "Written by the emulator.\n";
const ANSWER = { note: expect.any(String) as unknown, lines: expect.any(Number) as unknown };

async function logOf({ folder }: Place): Promise<readonly LoggedEvent[]> {
  const log = await fileStore(join(folder, "sessions")).open("survive", { mode: "read" });
  await log.close();
  return log.events;
}

test("after kill -9, survive.ts continues: nothing is written twice, requested twice or forgotten", async () => {
  const { place, answer, requests, replayed } = await killedAndRunAgain("survive");
  expect(answer).toEqual(ANSWER);
  expect(place.written()).toBe(LINE);
  expect({ requests, replayed }).toEqual({ requests: 5, replayed: [true, true, true] });
  // The model was told about the call that was interrupted, and looked at the note itself.
  const results = (await logOf(place)).flatMap((event) =>
    event.type === "tool_result" ? [event.status] : [],
  );
  expect(results).toEqual(["ok", "ok", "outcome_unknown", "ok"]);
});

test("after kill -9, survive-ai-sdk.ts repeats the step that was not saved: a request, a thought and an effect", async () => {
  const { place, answer, requests, replayed } = await killedAndRunAgain("survive-ai-sdk");
  expect(answer).toEqual(ANSWER);
  expect(place.written()).toBe(LINE + LINE);
  expect({ requests, replayed }).toEqual({ requests: 6, replayed: [true, true, false] });
});

test("without a kill, both versions send the same five requests and write once", async () => {
  for (const version of ["survive", "survive-ai-sdk"] as const) {
    const place = await placeFor(version);
    const { status, out } = await place.run().ended;
    expect({ status, answer: JSON.parse(out.at(-1) ?? "") }).toEqual({ status: 0, answer: ANSWER });
    expect(place.written()).toBe(LINE);
    expect(place.emulator.exchanges).toHaveLength(5);
  }
});

test("Ctrl-C cancels both, and both keep the step of the stopped call with its thought and a result", async () => {
  const kept = await Promise.all(
    (["survive", "survive-ai-sdk"] as const).map(async (version) => {
      const place = await placeFor(version);
      const first = place.run("--slow");
      await first.printed("→ write_file");
      first.child.kill("SIGINT");
      expect(await first.ended).toMatchObject({ status: 0 });
      expect((await first.ended).out.at(-1)).toBe("cancelled");
      return place;
    }),
  );
  const [ours, theirs] = kept as [Place, Place];
  const events = await logOf(ours);
  expect(events.filter(({ type }) => type === "reasoning")).toHaveLength(3);
  expect(events.flatMap((event) => (event.type === "tool_result" ? [event.status] : []))).toEqual([
    "ok",
    "ok",
    "cancelled",
  ]);
  const saved = readFileSync(join(theirs.folder, "messages.json"), "utf8");
  const messages = JSON.parse(saved) as readonly { readonly role: string }[];
  const step = "assistant tool";
  expect(messages.map(({ role }) => role).join(" ")).toBe(`user ${step} ${step} ${step}`);
  expect(saved.match(/"type":"reasoning"/g)).toHaveLength(3);
  expect(JSON.stringify(messages.at(-1))).toContain("aborted");
});
