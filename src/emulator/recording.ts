/** Records exchanges and reports as they arrive. Bounded: an emulator left running does not grow forever. */

import type { IncomingMessage } from "node:http";

import type { JsonObject } from "../base/support/index.ts";
import { redacted } from "./accounts.ts";
import type { Script } from "./faults/apply.ts";
import type { RecordedExchange, RequestReport } from "./report.ts";

const maxEntries = 1000;
const maxReports = 10_000;
const maxRecordedChars = 64 * 1024 * 1024;

/** Headers recorded without their key. */
const secretHeaders: readonly string[] = ["authorization", "x-api-key"];

/** An exchange while it is open; exposed as read-only. */
export type OpenEntry = {
  -readonly [Key in Exclude<keyof RecordedExchange, "events">]: RecordedExchange[Key];
} & Pick<RecordedExchange, "events">;

export class Recording {
  readonly entries: OpenEntry[] = [];
  readonly reports: RequestReport[] = [];
  readonly #scripts = new WeakMap<OpenEntry, Script>();
  #served = 0;
  #chars = 0;

  begin(request: IncomingMessage, path: string, text: string): OpenEntry {
    const scripts = this.#scripts;
    const entry: OpenEntry = {
      index: this.#served,
      method: request.method ?? "",
      path,
      headers: publicHeaders(request),
      requestText: text,
      status: 0,
      responseHeaders: {},
      // Computed on access: most are never read.
      get events() {
        return eventsOf(scripts.get(entry));
      },
      responseText: "",
      report: null,
    };
    this.#served += 1;
    this.entries.push(entry);
    this.#chars += text.length;
    while (this.entries.length > maxEntries || this.#chars > maxRecordedChars) {
      if (this.entries.length <= 1) break;
      this.#chars -= this.entries.shift()?.requestText.length ?? 0;
    }
    return entry;
  }

  judged(entry: OpenEntry, report: RequestReport | undefined): void {
    entry.report = report ?? null;
    if (report === undefined) return;
    this.reports.push(report);
    if (this.reports.length > maxReports) this.reports.shift();
  }

  playing(entry: OpenEntry, script: Script): void {
    this.#scripts.set(entry, script);
  }

  settled(entry: OpenEntry, report: RequestReport | undefined): void {
    if (report === undefined) return;
    const at = entry.report === null ? -1 : this.reports.lastIndexOf(entry.report);
    if (at !== -1) this.reports[at] = report;
    entry.report = report;
  }
}

function eventsOf(script: Script | undefined): readonly JsonObject[] {
  const whole = script?.frames.filter((frame) => frame.partial === undefined) ?? [];
  return whole.flatMap(({ event }) => (event === undefined ? [] : [event]));
}

function publicHeaders(request: IncomingMessage): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(", ") : value;
    headers[name] = secretHeaders.includes(name) ? text.replace(/\S+$/, (key) => redacted(key)) : text;
  }
  return headers;
}
