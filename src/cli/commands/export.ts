/**
 * `throughline sessions export`: a session as Markdown or a page to read, or as a bundle to carry away byte for byte.
 *
 * @module
 */

import { statSync } from "node:fs";
import { resolve } from "node:path";

import { Command, Option } from "commander";

import type { SessionHandle } from "../../api/index.ts";
import { replaceFile, sessionsFolder } from "../../config/index.ts";
import type { LoggedEvent } from "../../events/index.ts";
import { blocksOf } from "../../fragments/index.ts";
import {
  blobsIn,
  bundleText,
  eraseFrom,
  fileStore,
  linesFrom,
  readBundle,
  type SessionBundle,
} from "../../log/index.ts";
import { ThroughlineError } from "../../support/index.ts";
import { resolveSession } from "../choose-session.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { toHtml } from "../export/html.ts";
import { type ExportView, toMarkdown } from "../export/markdown.ts";
import { secretReplacer } from "../export/secret-patterns.ts";
import { withoutReasoning } from "../export/without-reasoning.ts";
import type { Terminal } from "../terminal.ts";
import { writeProblem } from "../write-problem.ts";

export interface ExportFlags {
  readonly last?: boolean;
  readonly format: "jsonl" | "markdown" | "html";
  readonly reasoning: boolean;
  readonly redact?: boolean;
  readonly output?: string;
  /** Over a file that is there. */
  readonly force?: boolean;
}

export function exportCommand(terminal: Terminal, finish: Finish): Command {
  return new Command("export")
    .description("a session as JSONL (byte for byte, with its blobs), Markdown or HTML")
    .argument("[session]", "its id, a unique beginning of it, or its title")
    .option("--last", "the last session of this directory")
    .addOption(
      new Option("--format <format>", "jsonl, markdown or html")
        .choices(["jsonl", "markdown", "html"])
        .default("jsonl"),
    )
    .option("--no-reasoning", "without the model's thoughts")
    .option("--redact", "without what looks like a secret, and without this environment's keys")
    .option("-o, --output <file>", "write to this new file instead of stdout")
    .option("--force", "with -o: over a file that is there")
    .action(async (name: string | undefined, flags: ExportFlags) => {
      await exportSession(name, flags, terminal);
      finish(EXIT.ok);
    });
}

async function exportSession(
  name: string | undefined,
  flags: ExportFlags,
  terminal: Terminal,
): Promise<void> {
  const store = fileStore(sessionsFolder());
  const id = await resolveSession(store, { name, last: flags.last === true }, process.cwd());
  const log = await store.open(id, { mode: "read" });
  const whole = await readBundle(log);
  await log.close();
  await writeBundle(id, whole, flags, terminal);
  if (flags.output === undefined) return;
  terminal.stderr.write(
    `exported ${id}: ${whole.events.length} events, ${whole.blobs.size} ${whole.blobs.size === 1 ? "blob" : "blobs"}\n`,
  );
}

/** `/export` of the chat: wherever the session is, its handle gives everything that is in it. */
export async function exportHandle(
  handle: SessionHandle,
  flags: ExportFlags,
  terminal: Terminal,
): Promise<void> {
  const events: LoggedEvent[] = [];
  for await (const event of handle.events()) events.push(event);
  const blobs = new Map<string, Uint8Array>();
  for (const name of blobsIn(events)) {
    const bytes = await handle.blob(name);
    if (bytes !== undefined) blobs.set(name, bytes);
  }
  await writeBundle(handle.id, { events, lines: linesFrom(events), blobs }, flags, terminal);
}

async function writeBundle(
  id: string,
  whole: SessionBundle,
  flags: ExportFlags,
  terminal: Terminal,
): Promise<void> {
  const thoughtless = flags.reasoning ? whole : withoutReasoning(whole);
  const bundle = flags.redact === true ? redacted(thoughtless, terminal) : thoughtless;
  const pieces = [...contentOf(bundle, id, flags)];
  if (flags.output === undefined) {
    for (const piece of pieces) await written(terminal.stdout, piece);
    return;
  }
  const path = resolve(flags.output);
  if (flags.force !== true && statSync(path, { throwIfNoEntry: false })?.isFile() === true) {
    throw new ThroughlineError({
      code: "file_exists",
      message: `-o ${flags.output}: it is there already: give another name, or --force`,
    });
  }
  try {
    replaceFile(path, Buffer.concat(pieces));
  } catch (error) {
    throw new ThroughlineError({
      code: "file_unwritable",
      message: `-o ${flags.output}: cannot be written: ${writeProblem(error, path)}`,
      cause: error,
    });
  }
}

/** A pipe takes what it can: a large session is not kept in memory twice. */
function written(stream: NodeJS.WritableStream, piece: Buffer): Promise<void> {
  return new Promise((done) => {
    if (stream.write(piece)) done();
    else stream.once("drain", () => done());
  });
}

function redacted(bundle: SessionBundle, terminal: Terminal): SessionBundle {
  const { bundle: clean, report } = eraseFrom(bundle, secretReplacer(process.env));
  const places = report.events.reduce((sum, event) => sum + event.places, 0);
  terminal.stderr.write(
    `redacted ${places} ${places === 1 ? "place" : "places"}${
      report.opaque.length === 0
        ? ""
        : `; ${report.opaque.length} sealed items were made after that and cannot be looked into (--no-reasoning leaves them out)`
    }\n`,
  );
  return clean;
}

function* contentOf(
  bundle: SessionBundle,
  id: string,
  { format, reasoning }: ExportFlags,
): Generator<Buffer> {
  if (format === "jsonl") {
    yield* bundleText(bundle);
    return;
  }
  const view: ExportView = {
    title: bundle.events.findLast((event) => event.type === "title")?.title ?? "",
    id,
    startedAt: bundle.events[0]?.at ?? "",
    blocks: blocksOf(bundle.events, { writerAlive: false }),
    reasoning,
  };
  yield Buffer.from(format === "html" ? toHtml(view) : toMarkdown(view));
}
