/**
 * `--tools FILE`: a JavaScript module that exports tools made with `tool()`.
 *
 * @module
 */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { isObject, messageOf, ThroughlineError } from "../support/index.ts";
import type { Tool } from "../tools/index.ts";

export async function loadTools(file: string): Promise<readonly Tool[]> {
  let module: unknown;
  try {
    module = await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    throw invalid(
      file,
      `it could not be loaded: ${(messageOf(error).split("\n")[0] ?? "").replace(/ imported from .*/, "")}`,
      error,
    );
  }
  const exported = Object.values(module as Readonly<Record<string, unknown>>).flatMap((value) =>
    Array.isArray(value) ? (value as readonly unknown[]) : [value],
  );
  const tools = exported.filter(isTool);
  if (tools.length === 0)
    throw invalid(file, "it exports no tool; export what tool() returns, or an array of them");
  return tools;
}

function isTool(value: unknown): value is Tool {
  return (
    isObject(value) &&
    typeof value["name"] === "string" &&
    typeof value["run"] === "function" &&
    typeof value["validate"] === "function"
  );
}

function invalid(file: string, why: string, cause?: unknown): ThroughlineError {
  return new ThroughlineError({ code: "tools_file_invalid", message: `--tools ${file}: ${why}`, cause });
}
