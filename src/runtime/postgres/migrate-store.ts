/** `throughline migrate`, for a store given by its address. */

import { Lane } from "./lane.ts";
import { migrate, type MigrateOptions, type Migration } from "./migrate.ts";
import { parseStoreUrl } from "./store-url.ts";

const ATTEMPT_MS = 10_000;

export async function migrateStore(
  url: string,
  options: MigrateOptions & { readonly password?: string | undefined } = {},
): Promise<Migration> {
  const address = parseStoreUrl(url, options.password);
  const closing = new AbortController();
  const lane = new Lane({
    address,
    attemptMs: ATTEMPT_MS,
    prepare: { names: false },
    closing: closing.signal,
  });
  try {
    return await migrate(lane, address.schema, options);
  } finally {
    closing.abort();
  }
}
