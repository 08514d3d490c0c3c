/**
 * Makes a session of another tool's history, as a whole or not at all, and says what of it models will get and what was
 * left out.
 */

import { readFileSync, statSync } from "node:fs";
import { basename, isAbsolute } from "node:path";

import {
  codedError,
  codeOf,
  isThroughlineError,
  messageOf,
  ThroughlineError,
  readProblem,
} from "../../base/support/index.ts";
import { type FormatName, MAX_HISTORY_BYTES } from "../../diagnostics/check/index.ts";
import { historySession, type HistorySession, type ImportedHistory } from "../../diagnostics/import/index.ts";
import { memoryStore } from "../../runtime/log/index.ts";
import type { Model } from "../../runtime/providers/index.ts";
import { loadConfig } from "../config/index.ts";
import { amount } from "./amount.ts";
import { requireKey } from "./choose-model.ts";
import type { LongWork } from "./long-work.ts";
import type { StoreFlags } from "./open-store.ts";
import { putSession } from "./put-session.ts";
import type { Terminal } from "./terminal.ts";
import { modelsOf } from "./user-providers.ts";

export interface ImportOtherFlags extends StoreFlags {
  readonly id?: string | undefined;
  readonly format?: FormatName | undefined;
  /** The name of the model whose account made the history. */
  readonly from?: string | undefined;
}

/** Where the bytes come from. */
export interface ImportSource {
  /** The path of the file, or how messages name standard input. */
  readonly name: string;
  /** The bytes of standard input. */
  readonly piped?: Buffer | undefined;
}

export async function importOther(
  source: ImportSource,
  flags: ImportOtherFlags,
  terminal: Terminal,
  { signal, tell }: LongWork,
): Promise<void> {
  const from = flags.from === undefined ? undefined : modelWithKey(flags.from);
  const bytes = source.piped ?? reading(source.name, () => historyBytes(source.name));
  await tell("read", bytes.length, bytes.length);
  const { id, events, blobs, report } = await prepared(source, bytes, flags, from);
  const store = memoryStore();
  await store.create(id, { events, blobs });
  const log = await store.open(id, { mode: "read" });
  await writing(id, flags, async () =>
    putSession(
      flags,
      { lines: await log.lines(), blobs },
      { id, signal, onProgress: (done, all) => void tell("written", done, all) },
    ),
  );
  for (const line of reportLines(report, from)) terminal.stderr.write(`${line}\n`);
  terminal.stdout.write(`${id}\n`);
}

function modelWithKey(name: string): Model {
  const { values } = loadConfig(process.cwd());
  const model = modelsOf(values)(name);
  requireKey(model, values);
  return model;
}

async function prepared(
  { name: file, piped }: ImportSource,
  bytes: Uint8Array,
  { id, format }: ImportOtherFlags,
  from: Model | undefined,
): Promise<HistorySession> {
  try {
    return await historySession(bytes, { id, format, from, name: basename(file), chooseCwd });
  } catch (error) {
    if (!isThroughlineError(error)) throw error;
    const next =
      error.code === "history_damaged"
        ? `. Repair a copy with throughline repair ${piped === undefined ? file : "FILE"}, and import that`
        : "";
    throw codedError(error.code, `${file}: ${messageOf(error)}${next}. Nothing was written`, error);
  }
}

/** The session belongs to the directory where the history was made, if that is on this machine. */
function chooseCwd(named: string | undefined): string {
  return named !== undefined && isAbsolute(named) && isFolder(named) ? named : process.cwd();
}

/** False for any text that names no folder, whatever the file says. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The id is made from the content, so an existing session of that id is the same file. */
async function writing(id: string, flags: ImportOtherFlags, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (codeOf(error) !== "session_exists" || flags.id !== undefined) throw error;
    throw codedError(
      "session_exists",
      `this file was imported before, as session "${id}". Continue it with throughline -r ${id}, or import another copy with --id NAME`,
      error,
    );
  }
}

function reportLines(report: ImportedHistory, from: Model | undefined): readonly string[] {
  const { format, version, messages, responses, openCalls, leftOut, models, id } = report;
  const by = models.length === 0 ? "" : ` by ${models.map(modelName).join(", ")}`;
  return [
    `imported ${amount(messages, "message")} and ${amount(responses, "answer")}${by} from ${format}${version === undefined ? "" : ` ${version}`}`,
    ...(leftOut.length === 0 ? [] : [`left out: ${leftOut.join(", ")}`]),
    ...(openCalls === 0
      ? []
      : [
          `note: the history lacks the result of ${amount(openCalls, "call")}; the model reads that the outcome is unknown`,
        ]),
    ...thoughtLines(report, from),
    `continue with: throughline -r ${id} "…"`,
  ];
}

/** A file need not say which model answered, or whose it is. */
function modelName(name: string): string {
  if (name === "unknown/unknown") return "an unknown model";
  if (name.endsWith("/unknown")) return `an unknown model of ${name.slice(0, -"/unknown".length)}`;
  return name.replace(/^unknown\//, "");
}

/** Says how much of the reasoning a model will get, and what to do about the rest. */
function thoughtLines(report: ImportedHistory, from: Model | undefined): readonly string[] {
  const { thoughts, thoughtsKept, thoughtsDropped, models, id } = report;
  if (thoughts === 0) return [];
  const all = amount(thoughts, "thought");
  if (from === undefined) {
    const named = models.find((name) => !/^unknown\/|\/unknown$/.test(name)) ?? "PROVIDER/MODEL";
    const [goes, it] = thoughts === 1 ? ["goes", "it"] : ["go", "them"];
    return [
      `reasoning: ${all} ${goes} back only to the account that made ${it}, and a file does not say whose that is. The session keeps ${it}; models get text, calls and results. If your account made ${it}: throughline sessions rm ${id} --yes, then import with --from ${named}`,
    ];
  }
  const reasons = Object.entries(thoughtsDropped).map(([reason, count]) => `${count} ${reason}`);
  const rest =
    reasons.length === 0 ? "" : `; not: ${reasons.join(", ")} (throughline inspect ${id} --preview says why)`;
  return [
    `reasoning: ${thoughtsKept} of ${all} ${thoughtsKept === 1 ? "goes" : "go"} back to ${from.label}${rest}`,
  ];
}

function historyBytes(file: string): Buffer {
  const { size } = statSync(file);
  if (size > MAX_HISTORY_BYTES)
    throw codedError(
      "file_too_large",
      `${file} has ${size} bytes, more than the limit of ${MAX_HISTORY_BYTES}: import only the newest part of it. Nothing was written`,
    );
  return readFileSync(file);
}

export function reading<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    throw codedError("file_unreadable", `${file}: cannot read this file: ${readProblem(error)}`, error);
  }
}
