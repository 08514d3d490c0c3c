import { describe, expect, test } from "vitest";

import { addressProblem, publicAddress, secretsInAddress } from "./addresses.ts";

const SECRET = "sk-secret-0123456789";

/** Every part of an address that can hold a key, and spellings that parsers read as one of them. */
const PRIVATE: readonly string[] = [
  `https://h.test/v1?api_key=${SECRET}`,
  `https://h.test/v1?${SECRET}`,
  `https://h.test?api-version=2026-01&code=${SECRET}`,
  `https://h.test/v1#${SECRET}`,
  `https://h.test/v1/?a#b=${SECRET}`,
  `https://me:${SECRET}@h.test/v1`,
  `https://${SECRET}@h.test/v1`,
  `https://:${SECRET}@h.test/v1`,
  `https:\\\\me:${SECRET}@h.test/v1`,
  `https:me:${SECRET}@h.test/v1`,
  `HTTPS://me:${SECRET}@h.test/v1`,
  `https://me:${SECRET}@other@h.test/v1?x=${SECRET}#y`,
];

describe("addressProblem", () => {
  test.for([
    ...PRIVATE,
    "https://h.test/v1?",
    "https://h.test/v1#",
    "https://@h.test/v1",
    "https://:@h.test",
  ])("%j is refused and not repeated in the message", (text) => {
    const problem = addressProblem(text);
    expect(problem).toMatch(/^holds a (?:user name or password|query|fragment)/);
    expect(problem).not.toContain(SECRET);
  });

  test.for(["", "v1", SECRET, "ftp://h.test", "file:///etc", "javascript:alert(1)", "https://", "//h.test"])(
    "%j is not an address",
    (text) => {
      expect(addressProblem(text)).toBe("is not an http or https URL");
    },
  );

  test.for([
    ["http://127.0.0.1:99999/v1", "has the port 99999, but the highest is 65535"],
    ["http://h.test:70000", "has the port 70000, but the highest is 65535"],
    ["http://h.test:80x/v1", "has an invalid host or port"],
    ["http://256.1.1.1/v1", "has an invalid host or port"],
    ["http://[::1/v1", "has an invalid host or port"],
    [`https://me:${SECRET}/v1`, "has an invalid host or port"],
  ] as const)("%j has a bad host or port", ([text, problem]) => {
    expect(addressProblem(text)).toBe(problem);
  });

  test.for([
    "https://api.openai.com/v1",
    "http://127.0.0.1:4320/v1/",
    "http://[::1]:8080",
    "https://h.test/a/b%3Fc/@me/v1",
  ])("%j is accepted", (text) => {
    expect(addressProblem(text)).toBeUndefined();
  });
});

describe("publicAddress", () => {
  test.for(PRIVATE)("removes the secret from %j and keeps it different from others", (text) => {
    const shown = publicAddress(text);
    expect(shown).not.toContain(SECRET);
    expect(shown).not.toBe(publicAddress(text.replaceAll(SECRET, "another")));
    expect(shown).not.toBe(publicAddress("https://h.test/v1"));
    expect(shown).toMatch(/h\.test/);
    expect(publicAddress(text)).toBe(shown);
    expect(secretsInAddress(text).join(" ")).toContain(SECRET);
  });

  test("leaves anything else unchanged", () => {
    for (const text of ["https://h.test/v1", "built-in", "e", "", "http://[::1]:1/@x"])
      expect(publicAddress(text)).toBe(text);
  });
});
