import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { ByteRedactor, createRedactor, secretsOf } from "./redact.ts";

const SECRET = 'sk-canary/12"34+=';

test("a secret is redacted verbatim, URL-encoded, in base64 and JSON-escaped", () => {
  const redact = createRedactor(() => [SECRET]);
  const forms = [
    SECRET,
    encodeURIComponent(SECRET),
    Buffer.from(SECRET).toString("base64"),
    JSON.stringify({ key: SECRET }),
    JSON.stringify({ key: SECRET }).replaceAll("/", String.raw`\/`),
  ];
  expect(forms.map(redact)).toEqual([
    "[redacted]",
    "[redacted]",
    "[redacted]",
    '{"key":"[redacted]"}',
    '{"key":"[redacted]"}',
  ]);
});

test("values too short to be a secret are left alone", () => {
  expect(createRedactor(() => ["true", "", "1234567"])("true 1234567")).toBe("true 1234567");
});

function pieces(text: string, cuts: readonly number[]): readonly Uint8Array[] {
  const bytes = Buffer.from(text);
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
}

function through(redactor: ByteRedactor, parts: readonly Uint8Array[]): string {
  const out = [...parts.map((part) => redactor.push(part)), redactor.flush()];
  return Buffer.concat(out).toString("utf8");
}

describe("bytes that arrive in chunks", () => {
  const cuts = fc.array(fc.nat(400), { maxLength: 12 });
  const word = fc.string({ unit: "grapheme", maxLength: 40 });

  test("have a secret redacted wherever the network split it", () => {
    fc.assert(
      fc.property(word, word, cuts, (before, after, places) => {
        const text = `${before}|${SECRET}|${after}`;
        const clean = through(new ByteRedactor([SECRET]), pieces(text, places));
        expect(clean).toBe(Buffer.from(`${before}|[redacted]|${after}`).toString("utf8"));
      }),
    );
  });

  test("come out unchanged if they hold no secret, even if they look like the start of one", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("sk-canary", "sk-", "é", "x"), { maxLength: 20 }),
        cuts,
        (words, places) => {
          const text = words.join("");
          expect(through(new ByteRedactor([SECRET]), pieces(text, places))).toBe(text);
        },
      ),
    );
  });
});

test("environment variables are secret if their names say so", () => {
  const value = "long enough";
  const env = {
    OPENAI_API_KEY: value,
    GITHUB_TOKEN: `${value}2`,
    DB_PASSWORD: `${value}3`,
    PGPASSWORD: `${value}6`,
    DB_PASSWORD_FILE: "/run/secrets/db", // a path
    MY_SECRET: "short",
    KEYBOARD: `${value}4`,
    PATH: `${value}5`,
    UNSET_KEY: undefined,
  };
  expect(secretsOf(env)).toEqual([value, `${value}2`, `${value}3`, `${value}6`]);
});
