/** The token of a server, for `serve` and `--server`: in a variable, or in a file, where no list of processes shows it. */

import { readText } from "../../base/files/index.ts";
import { codedError, readProblem } from "../../base/support/index.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined if neither variable is set. An empty variable counts as unset. */
export function serverToken(env: Environment = process.env): string | undefined {
  const [token, file] = [env["THROUGHLINE_TOKEN"] || undefined, env["THROUGHLINE_TOKEN_FILE"] || undefined];
  if (file === undefined) return token;
  if (token !== undefined)
    throw codedError("usage", "THROUGHLINE_TOKEN and THROUGHLINE_TOKEN_FILE are both set: keep one of them");
  let text: string;
  try {
    text = readText(file).trim();
  } catch (error) {
    throw codedError(
      "file_unreadable",
      `THROUGHLINE_TOKEN_FILE: the file of the token cannot be read: ${readProblem(error)}`,
    );
  }
  if (text !== "") return text;
  throw codedError("file_unreadable", "THROUGHLINE_TOKEN_FILE: the file of the token is empty");
}
