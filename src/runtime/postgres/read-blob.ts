/** Reads a blob. Its bytes must hash to its name, so a changed blob is never mistaken for the stored one. */

import { createHash } from "node:crypto";

import { ThroughlineError } from "../../base/support/index.ts";
import type { PostgresLogParts } from "./log-parts.ts";

/** Resolves to undefined if there is no such blob. */
export async function readBlob(
  { connections, statements, tenant, id }: PostgresLogParts,
  name: string,
): Promise<Uint8Array | undefined> {
  if (!/^[0-9a-f]{64}$/.test(name)) return undefined;
  const [row] = await connections.read(statements.getBlob, [tenant, id, name]);
  if (row === undefined) return undefined;
  const bytes = row["bytes"] as Buffer;
  if (createHash("sha256").update(bytes).digest("hex") === name) return bytes;
  throw new ThroughlineError({
    code: "blob_damaged",
    message: `blob ${name} of session "${id}" is damaged: its bytes do not match its name. Restore the database from a backup`,
    details: { blob: name },
  });
}
