/**
 * A recording, read and checked. It comes from outside – a bug report – so nothing in it is trusted: a file that is
 * damaged, cut off in a line or not a recording at all is a coded error that names the line.
 *
 * @module
 */

import { type LoggedEvent, parseLine } from "../../base/events/index.ts";
import {
  isObject,
  type JsonObject,
  messageOf,
  numberOf,
  sliceMember,
  stringOf,
  ThroughlineError,
  tryParseJson,
} from "../../base/support/index.ts";
import { FORMAT, type RunFacts } from "./records.ts";

interface RecordedPiece {
  /** Milliseconds since the request. */
  readonly after: number;
  readonly bytes: Uint8Array;
}

export interface RecordedExchange {
  readonly n: number;
  readonly path: string;
  readonly hash: string;
  /** Undefined: the connection failed before anything was answered. */
  readonly answer:
    | {
        readonly after: number;
        readonly status: number;
        readonly headers: Readonly<Record<string, string>>;
        readonly pieces: readonly RecordedPiece[];
      }
    | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

export interface Recording {
  readonly program: string;
  readonly at: string;
  readonly run: RunFacts;
  /** What the log held before the run. */
  readonly earlier: readonly LoggedEvent[];
  readonly events: readonly LoggedEvent[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  readonly exchanges: readonly RecordedExchange[];
}

interface OpenExchange {
  readonly n: number;
  readonly t: number;
  readonly path: string;
  readonly hash: string;
  answer:
    | { after: number; status: number; headers: Record<string, string>; pieces: RecordedPiece[] }
    | undefined;
  error: { readonly code: string; readonly message: string } | undefined;
}

export function readRecording(text: string, file: string): Recording {
  const reader = new Reader(file);
  const lines = text.split("\n");
  const tail = lines.pop();
  const [first = "", ...rest] = lines;
  const header = reader.header(first);
  if (tail !== undefined && tail !== "") throw reader.problem(lines.length + 1, "the line is cut off");
  for (const [index, line] of rest.entries()) reader.take(line, index + 2);
  return reader.finish(header);
}

class Reader {
  readonly #file: string;
  readonly #earlier: LoggedEvent[] = [];
  readonly #events: LoggedEvent[] = [];
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #exchanges: OpenExchange[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  header(line: string): Pick<Recording, "program" | "at" | "run"> {
    const value = tryParseJson(line);
    const run = isObject(value) ? value["run"] : undefined;
    if (!isObject(value) || (value["type"] !== "recording" && value["type"] !== "trace") || !isObject(run)) {
      throw new ThroughlineError({
        code: "recording_foreign",
        message: `${this.#file} is not a recording: one is made with --record FILE (a trace in JSONL can be played back too)`,
      });
    }
    if (value["v"] !== FORMAT) {
      throw new ThroughlineError({
        code: "recording_version",
        message: `${this.#file} has the format ${JSON.stringify(value["v"])}; this version reads ${FORMAT}: use the version that made it (${String(value["program"])})`,
      });
    }
    return {
      program: stringOf(value["program"]) ?? "",
      at: stringOf(value["at"]) ?? "",
      run: this.#run(run),
    };
  }

  take(line: string, number: number): void {
    const value = tryParseJson(line);
    if (!isObject(value)) throw this.problem(number, "it is not a JSON object");
    const t = this.#number(value["t"], "t", number);
    switch (value["type"]) {
      case "event":
        return this.#event(line, value, number);
      case "blob":
        this.#blobs.set(this.#string(value["name"], "name", number), this.#bytes(value, number));
        return;
      case "request": {
        const n = this.#number(value["n"], "n", number);
        if (n !== this.#exchanges.length + 1) throw this.problem(number, `request ${n} is out of order`);
        const path = this.#string(value["path"], "path", number);
        const hash = this.#string(value["hash"], "hash", number);
        this.#exchanges.push({ n, t, path, hash, answer: undefined, error: undefined });
        return;
      }
      case "response": {
        const exchange = this.#exchange(value, number);
        const headers = isObject(value["headers"]) ? value["headers"] : {};
        exchange.answer = {
          after: t - exchange.t,
          status: this.#number(value["status"], "status", number),
          headers: Object.fromEntries(Object.entries(headers).map(([name, one]) => [name, String(one)])),
          pieces: [],
        };
        return;
      }
      case "data": {
        const exchange = this.#exchange(value, number);
        if (exchange.answer === undefined) throw this.problem(number, "data comes before its response");
        exchange.answer.pieces.push({ after: t - exchange.t, bytes: this.#bytes(value, number) });
        return;
      }
      case "end": {
        const { error } = value;
        if (!isObject(error)) return;
        const code = this.#string(error["code"], "error.code", number);
        this.#exchange(value, number).error = { code, message: String(error["message"]) };
        return;
      }
      default:
        // A later version may add records; what it adds cannot be needed for these bytes.
        return;
    }
  }

  finish(header: Pick<Recording, "program" | "at" | "run">): Recording {
    return {
      ...header,
      earlier: this.#earlier,
      events: this.#events,
      blobs: this.#blobs,
      exchanges: this.#exchanges.map(({ n, path, hash, answer, error }) => ({
        n,
        path,
        hash,
        answer,
        error,
      })),
    };
  }

  problem(line: number, why: string): ThroughlineError {
    return new ThroughlineError({
      code: "recording_damaged",
      message: `${this.#file}, line ${line}: ${why}; the recording is damaged and cannot be played back`,
      details: { line },
    });
  }

  #event(line: string, value: JsonObject, number: number): void {
    try {
      const event = parseLine(sliceMember(line, "event") ?? "");
      (value["earlier"] === true ? this.#earlier : this.#events).push(event);
    } catch (error) {
      throw this.problem(number, messageOf(error));
    }
  }

  #exchange(value: JsonObject, number: number): OpenExchange {
    const found = this.#exchanges[this.#number(value["n"], "n", number) - 1];
    if (found === undefined) throw this.problem(number, `there is no request ${String(value["n"])}`);
    return found;
  }

  #run(run: JsonObject): RunFacts {
    const access = isObject(run["access"]) ? run["access"] : {};
    const maxSteps = numberOf(run["maxSteps"]);
    const maxCostUsd = numberOf(run["maxCostUsd"]);
    return {
      session: this.#string(run["session"], "run.session", 1),
      permissions: this.#string(run["permissions"], "run.permissions", 1),
      canAsk: run["canAsk"] === true,
      maxSteps,
      maxCostUsd,
      access: Object.fromEntries(Object.entries(access).map(([name, one]) => [name, String(one)])),
    };
  }

  #bytes(value: JsonObject, number: number): Uint8Array {
    const text = stringOf(value["text"]);
    if (text !== undefined) return Buffer.from(text);
    return Buffer.from(this.#string(value["base64"], "text or base64", number), "base64");
  }

  #number(value: unknown, name: string, line: number): number {
    const number = numberOf(value);
    if (number === undefined || number < 0) throw this.problem(line, `${name} is not a number`);
    return number;
  }

  #string(value: unknown, name: string, line: number): string {
    const text = stringOf(value);
    if (text === undefined) throw this.problem(line, `${name} is missing`);
    return text;
  }
}
