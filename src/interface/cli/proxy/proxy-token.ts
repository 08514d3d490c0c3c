/** The token of a proxy: in a variable, or in a file, where no list of processes shows it. */

import { readText } from "../../../base/files/index.ts";
import { codedError, readProblem } from "../../../base/support/index.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const LEAST_LENGTH = 32;
/** It may stand in a path. */
const TOKEN = /^[A-Za-z0-9._~-]+$/;

/** Undefined if there is none. An empty variable counts as unset. */
export function proxyToken(file: string | undefined, env: Environment = process.env): string | undefined {
  const token = env["THROUGHLINE_PROXY_TOKEN"] || undefined;
  if (file !== undefined && token !== undefined)
    throw codedError("usage", "--token-file and THROUGHLINE_PROXY_TOKEN are both given: keep one of them");
  const given = file === undefined ? token : tokenIn(file);
  if (given === undefined || (given.length >= LEAST_LENGTH && TOKEN.test(given))) return given;
  throw codedError(
    "token_weak",
    `the token of the proxy must have ${LEAST_LENGTH} or more letters, digits or -._~ : create one with "openssl rand -hex 32"`,
  );
}

function tokenIn(file: string): string {
  let text: string;
  try {
    text = readText(file).trim();
  } catch (error) {
    throw codedError(
      "file_unreadable",
      `--token-file: the file of the token cannot be read: ${readProblem(error)}`,
      error,
    );
  }
  if (text !== "") return text;
  throw codedError("file_unreadable", "--token-file: the file of the token is empty");
}
