/**
 * Remembers which MCP servers speak only the earlier era of the protocol. Such a server may stay mute when it is asked,
 * and every start would wait for it. What is remembered is only a shortcut: it may be lost or wrong, lasts a week, and is
 * dropped when the server cannot be connected.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";

import { readText, replaceFile } from "../../../base/files/index.ts";
import { isObject, numberOf, tryParseJson } from "../../../base/support/index.ts";
import type { EraMemory, McpServerConfig } from "../../../runtime/mcp/index.ts";
import { dataFolder } from "../../config/index.ts";

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

export function eraMemory(file = join(dataFolder(), "mcp-eras.json"), now = Date.now): EraMemory {
  let known: Record<string, number> | undefined;
  const read = (): Record<string, number> => (known ??= readFile(file));
  return {
    isLegacy: (server) => {
      const at = read()[keyOf(server)];
      return at !== undefined && at <= now() && now() - at < WEEK_MS;
    },
    remember: (server, era) => {
      const key = keyOf(server);
      const isKnown = Object.hasOwn(read(), key);
      if (era === "legacy" ? isKnown && now() - (read()[key] ?? 0) < WEEK_MS : !isKnown) return;
      // Another process may have written meanwhile.
      const others = Object.entries(readFile(file)).filter(([one]) => one !== key);
      known = Object.fromEntries(era === "legacy" ? [...others, [key, now()]] : others);
      try {
        replaceFile(file, `${JSON.stringify(known)}\n`, { makeFolder: true });
      } catch {
        // The next start asks the server again.
      }
    },
  };
}

/** Of the whole entry: a changed command may start another server. Nothing of it can be read from the hash. */
function keyOf(server: McpServerConfig): string {
  return createHash("sha256").update(JSON.stringify(server)).digest("hex").slice(0, 32);
}

function readFile(file: string): Record<string, number> {
  try {
    const value = tryParseJson(readText(file));
    if (!isObject(value)) return {};
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, at]) => (numberOf(at) === undefined ? [] : [[key, Number(at)]])),
    );
  } catch {
    return {};
  }
}
