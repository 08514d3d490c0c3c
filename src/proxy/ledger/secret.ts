/** The secret of a ledger: whoever has it can test guesses against its marks, so only its owner may read it. */

import { hash, randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { codeOf, codedError } from "../../base/support/index.ts";
import type { Mark } from "../marks/index.ts";

const BYTES = 32;

export function newSecret(): string {
  return randomBytes(BYTES).toString("hex");
}

/** Reads the secret of a folder, or makes one. Of two processes that begin together, one wins. */
export function secretOf(folder: string): string {
  const path = join(folder, "secret");
  const known = read(path);
  if (known !== undefined) return known;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${newSecret()}\n`, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const made = read(path);
  if (made === undefined)
    throw codedError("ledger_damaged", `cannot read the secret of the ledger in ${folder}`);
  return made;
}

function read(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw codedError(
    "ledger_damaged",
    `${path} is damaged, and without it nothing in the ledger can be found. Restore the file, or start with an empty folder`,
  );
}

/** 132 bits of a keyed SHA-256: too many to collide, too few to extend. */
export function markWith(secret: string): Mark {
  return (text) => hash("sha256", `${secret}${text}`, "base64url").slice(0, 22);
}
