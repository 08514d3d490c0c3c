/** `--output-schema FILE` and `-o FILE`: both are checked before anything is sent, so that a wrong name costs nothing. */

import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { assertFileCanBeMade, readText, replaceFile, writeProblem } from "../../base/files/index.ts";
import {
  codedError,
  isObject,
  type JsonObject,
  messageOf,
  ThroughlineError,
  tryParseJson,
  readProblem,
} from "../../base/support/index.ts";
import { createOutputFormat } from "../../runtime/session/index.ts";
import { jsonProblem } from "../config/index.ts";

const MAX_SCHEMA_BYTES = 1024 * 1024;

export function readOutputSchema(file: string): JsonObject {
  const fail = (why: string): never => {
    throw codedError("schema_file_invalid", `--output-schema ${file}: ${why}`);
  };
  let text = "";
  try {
    const found = statSync(file);
    if (!found.isFile()) fail("not a regular file");
    if (found.size > MAX_SCHEMA_BYTES) fail(`it is larger than ${MAX_SCHEMA_BYTES} bytes`);
    text = readText(file);
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    fail(`cannot read this file: ${readProblem(error)}`);
  }
  const schema = tryParseJson(text);
  const problem = jsonProblem(text);
  if (problem !== undefined) return fail(problem);
  if (!isObject(schema)) return fail('it must be a JSON Schema of an object ({"type":"object", …})');
  try {
    createOutputFormat(schema); // the check that `send` makes
  } catch (error) {
    fail(messageOf(error));
  }
  return schema;
}

/** The file that receives the whole answer once the turn has completed. */
export class AnswerFile {
  readonly #path: string;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
    this.#path = resolve(name);
    this.#try(() => {
      const found = statSync(this.#path, { throwIfNoEntry: false });
      if (found?.isFile() === false) throw new Error("not a regular file");
      if (found !== undefined) accessSync(this.#path, constants.W_OK);
      assertFileCanBeMade(dirname(this.#path));
    });
  }

  write(text: string): void {
    this.#try(() => replaceFile(this.#path, text.endsWith("\n") ? text : `${text}\n`, { mode: 0o666 }));
  }

  #try(action: () => void): void {
    try {
      action();
    } catch (error) {
      throw codedError(
        "output_unwritable",
        `-o ${this.#name}: cannot write this file: ${writeProblem(error, this.#path)}`,
        error,
      );
    }
  }
}
