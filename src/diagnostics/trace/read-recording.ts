/**
 * Reads and checks a recording. It may come from a bug report, so nothing in it is trusted: a file that is damaged, cut off
 * within a line or not a recording causes a coded error that names the line.
 */

import { type LoggedEvent, parseLine } from "../../base/events/index.ts";
import {
  isObject,
  type JsonObject,
  messageOf,
  numberOf,
  objectOf,
  sliceMember,
  stringOf,
  ThroughlineError,
  tryParseJson,
  codedError,
} from "../../base/support/index.ts";
import { FORMAT, type RunFacts } from "./records.ts";
import type { SeenError } from "./wire-tap.ts";

interface RecordedPiece {
  /** Milliseconds since the request. */
  readonly after: number;
  readonly bytes: Uint8Array;
}

interface RecordedAnswer {
  readonly after: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly RecordedPiece[];
}

/** A request and its answer. */
export interface RecordedRequest {
  readonly n: number;
  readonly path: string;
  readonly hash: string;
  /** Undefined if the connection failed before the answer began. */
  readonly answer: RecordedAnswer | undefined;
  readonly error: SeenError | undefined;
}

export interface Recording {
  readonly program: string;
  readonly at: string;
  readonly run: RunFacts;
  /** The events in the log before the run. */
  readonly earlier: readonly LoggedEvent[];
  readonly events: readonly LoggedEvent[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  readonly requests: readonly RecordedRequest[];
}

interface OpenRequest extends RecordedRequest {
  readonly t: number;
  answer: (RecordedAnswer & { readonly pieces: RecordedPiece[] }) | undefined;
  error: SeenError | undefined;
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
  readonly #requests: OpenRequest[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  header(line: string): Pick<Recording, "program" | "at" | "run"> {
    const value = tryParseJson(line);
    const run = isObject(value) ? value["run"] : undefined;
    if (!isObject(value) || (value["type"] !== "recording" && value["type"] !== "trace") || !isObject(run)) {
      throw codedError(
        "recording_foreign",
        `${this.#file} is not a recording. Make one with --record FILE; a trace in JSONL can be played back too`,
      );
    }
    if (value["v"] !== FORMAT) {
      throw codedError(
        "recording_version",
        `${this.#file} has the format ${JSON.stringify(value["v"])}; this version reads ${FORMAT}: use the version that made it (${String(value["program"])})`,
      );
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
        if (n !== this.#requests.length + 1) throw this.problem(number, `request ${n} is out of order`);
        const path = this.#string(value["path"], "path", number);
        const hash = this.#string(value["hash"], "hash", number);
        this.#requests.push({ n, t, path, hash, answer: undefined, error: undefined });
        return;
      }
      case "response": {
        const request = this.#request(value, number);
        request.answer = {
          after: t - request.t,
          status: this.#number(value["status"], "status", number),
          headers: texts(value["headers"]),
          pieces: [],
        };
        return;
      }
      case "data": {
        const request = this.#request(value, number);
        if (request.answer === undefined) throw this.problem(number, "data comes before its response");
        request.answer.pieces.push({ after: t - request.t, bytes: this.#bytes(value, number) });
        return;
      }
      case "end": {
        const { error } = value;
        if (!isObject(error)) return;
        const code = this.#string(error["code"], "error.code", number);
        this.#request(value, number).error = { code, message: String(error["message"]) };
        return;
      }
      default:
        // A later version may add kinds of records. Playing back these bytes does not need them.
        return;
    }
  }

  finish(header: Pick<Recording, "program" | "at" | "run">): Recording {
    return {
      ...header,
      earlier: this.#earlier,
      events: this.#events,
      blobs: this.#blobs,
      requests: this.#requests.map(({ t: _t, ...request }) => request),
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

  #request(value: JsonObject, number: number): OpenRequest {
    const found = this.#requests[this.#number(value["n"], "n", number) - 1];
    if (found === undefined) throw this.problem(number, `there is no request ${String(value["n"])}`);
    return found;
  }

  #run(run: JsonObject): RunFacts {
    return {
      session: this.#string(run["session"], "run.session", 1),
      permissions: this.#string(run["permissions"], "run.permissions", 1),
      allow: Array.isArray(run["allow"]) ? run["allow"].map(String) : undefined,
      interactive: (run["interactive"] ?? run["canAsk"]) === true, // `canAsk` in recordings of earlier versions
      maxSteps: numberOf(run["maxSteps"]),
      maxCostUsd: numberOf(run["maxCostUsd"]),
      access: texts(run["access"]),
      ...(Array.isArray(run["serial"]) ? { serial: run["serial"].map(String) } : {}),
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

function texts(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(objectOf(value)).map(([name, one]) => [name, String(one)]));
}
