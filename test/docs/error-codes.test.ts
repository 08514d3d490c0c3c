import { expect, test } from "vitest";

import { ERROR_CODES, isRetryable } from "../../src/base/support/error-codes.ts";
import { sourceFiles, sourceText } from "../support/source-imports.ts";
import { quoted, read, section } from "./documents.ts";

const LIST = "src/base/support/error-codes.ts";

/** Codes that the source builds from a status: `turn_${status}`, `compaction_${status}`. */
const STATUSES = "cancelled failed incomplete interrupted".split(" ");
const computed = new Set(STATUSES.flatMap((status) => [`turn_${status}`, `compaction_${status}`]));

test("the source uses every code, or builds it from a status", () => {
  const source = sourceFiles()
    .filter((file) => file !== LIST && !file.startsWith("src/emulator/"))
    .map(sourceText)
    .join("\n");
  const written = new Set([...source.matchAll(/"([a-z_]+)"/g)].map(([, code]) => code));
  expect(ERROR_CODES.filter((code) => !written.has(code) && !computed.has(code))).toEqual([]);
  expect(source).toContain("`turn_${status}`");
  expect(source).toMatch(/`compaction_\$\{\w+(?:\.\w+)*\}`/);
});

test("docs/api.md or docs/cli.md names every code", () => {
  const documents = `${read("docs/api.md")}\n${read("docs/cli.md")}`;
  expect(ERROR_CODES.filter((code) => !documents.includes(`\`${code}\``))).toEqual([]);
});

test("docs/api.md lists the retryable codes and says where all codes are", () => {
  const errors = section(read("docs/api.md"), "Errors");
  const listed = /`retryable` is true for ([^.]*)\./.exec(errors)?.[1] ?? "";
  expect(quoted(listed)).toEqual(ERROR_CODES.filter(isRetryable));
  expect(errors).toContain(LIST);
});
