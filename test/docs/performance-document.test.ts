/**
 * docs/performance.md says what the last run measured, and nothing else: its generated part, tables and sentences alike, is
 * made again from bench/results/latest.json and compared. What is written by hand compares no libraries.
 */

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const PEERS = /`(?:openai|ai|@openai\/agents|agents|pi|langchain)`|\blibrar(?:y|ies)\b/u;

interface DocumentModule {
  readonly documentPart: (record: unknown) => string;
  readonly partOf: (text: string) => string;
}

const { documentPart, partOf } = (await import(
  pathToFileURL(join(ROOT, "bench/document.mjs")).href
)) as DocumentModule;
const document = readFileSync(join(ROOT, "docs/performance.md"), "utf8");
const record: unknown = JSON.parse(readFileSync(join(ROOT, "bench/results/latest.json"), "utf8"));

/** The formatter pads the cells of tables and escapes what it must. */
function unpadded(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.replaceAll(/-{2,}/gu, "---").replaceAll(/ +/gu, " ").replaceAll("\\", "").trim())
    .filter((line) => line !== "");
}

test("the generated part is what the committed results make", () => {
  expect(unpadded(partOf(document))).toEqual(unpadded(documentPart(record)));
});

test("the hand-written part about the profile compares no libraries", () => {
  const [, after = ""] = document.split("## What the profile shows");
  const [profile = ""] = after.split("\n## ");
  const compared = profile
    .split("\n")
    .filter((line) => PEERS.test(line) && !line.includes("](#compared-with-"));
  expect(compared).toEqual([]);
});
