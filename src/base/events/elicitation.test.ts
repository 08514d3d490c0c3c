import { describe, expect, test } from "vitest";

import { hostOfAddress, plainAddress, readElicitation } from "./elicitation-limits.ts";
import { asksForSecret } from "./elicitation-secrets.ts";
import {
  checkElicitationValues,
  readElicitationAnswer,
  typedElicitationValue,
} from "./elicitation-values.ts";
import type { Elicitation, ElicitationField } from "./elicitation.ts";

const options = [
  { value: "s", title: "Small" },
  { value: "l", title: "Large" },
  { value: "1", title: "One" },
];
const FIELDS: readonly ElicitationField[] = [
  { name: "who", type: "string", required: true, minLength: 2, maxLength: 5 },
  { name: "mail", type: "string", required: false, format: "email" },
  { name: "count", type: "integer", required: false, minimum: 1, maximum: 9, default: 3 },
  { name: "share", type: "number", required: false },
  { name: "sure", type: "boolean", required: false, default: false },
  { name: "size", type: "choice", required: false, options, default: "l" },
  { name: "more", type: "choices", required: false, options, minItems: 1, maxItems: 2 },
];
const form = (fields: readonly ElicitationField[], message = "Please fill in"): Elicitation => ({
  server: "files",
  message,
  mode: "form",
  fields,
});
const field = (more: object): ElicitationField => ({ name: "x", type: "string", required: false, ...more });

const url = (address: string): Elicitation => ({ server: "s", message: "m", mode: "url", url: address });

describe("the values of a form", () => {
  test("get their defaults and the type of their field", () => {
    expect(
      checkElicitationValues(FIELDS, { who: "Ada", share: " 0.5 ", sure: "yes", more: ["1", "s"] }),
    ).toEqual({
      ok: true,
      content: { who: "Ada", count: 3, share: 0.5, sure: true, size: "l", more: ["s", "1"] },
    });
  });

  test("that do not fit have one message per field", () => {
    const given = {
      who: "Augusta",
      mail: "nobody",
      count: 10,
      share: "much",
      sure: "perhaps",
      size: "Large",
      more: ["s", "l", "1"],
      other: 1,
    };
    expect(checkElicitationValues(FIELDS, given)).toEqual({
      ok: false,
      problems: {
        who: "must have at most 5 characters",
        mail: "must be an e-mail address, like name@example.com",
        count: "must be at most 9",
        share: "must be a number",
        sure: "must be yes or no",
        size: "must be one of the options",
        more: "takes at most 2 of the options",
        other: "is not a field of this form",
      },
    });
  });

  test("that are empty are absent: an optional field is left out, a required one refused", () => {
    const fields = [field({ name: "a", default: "d" }), field({ name: "b", required: true })];
    expect(checkElicitationValues(fields, { a: "", b: "x" })).toEqual({ ok: true, content: { b: "x" } });
    expect(checkElicitationValues(fields, { b: "" })).toEqual({
      ok: false,
      problems: { b: "needs a value" },
    });
  });

  test.each([
    ["count", 2.5, "must be a whole number"],
    ["count", "0x5", "must be a number"],
    ["share", "Infinity", "must be a number"],
    ["share", Number.NaN, "must be a number"],
    ["more", ["s", "s"], "must be options, each at most once"],
    ["more", "s", "must be a list of the options"],
    ["who", 7, "must be a text"],
    ["who", "👩👩👩👩👩👩", "must have at most 5 characters"],
  ])("%s as %j is refused: %s", (name, value, problem) => {
    expect(checkElicitationValues(FIELDS, { who: "Ada", [name]: value })).toEqual({
      ok: false,
      problems: { [name]: problem },
    });
  });

  test.each([
    ["email", "a@b.example", "a@b c"],
    ["uri", "https://example.com/x", "example.com"],
    ["date", "2024-02-29", "2023-02-29"],
    ["date-time", "2026-01-31T14:00:00+01:00", "2026-01-31T24:00:00Z"],
  ])("of the format %s are checked", (format, good, bad) => {
    const fields = [field({ format })];
    expect(checkElicitationValues(fields, { x: good }).ok).toBe(true);
    expect(checkElicitationValues(fields, { x: bad }).ok).toBe(false);
  });

  test("may have the name of a member that every object has", () => {
    const fields = [field({ name: "__proto__" }), field({ name: "constructor", required: true })];
    expect(checkElicitationValues(fields, {})).toEqual({
      ok: false,
      problems: { constructor: "needs a value" },
    });
    const values = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, unknown>;
    const checked = checkElicitationValues(fields, values);
    expect(JSON.stringify(checked)).toBe('{"ok":true,"content":{"__proto__":"a","constructor":"b"}}');
  });
});

describe("a line that a person typed", () => {
  const size = FIELDS[5] as ElicitationField;
  const more = FIELDS[6] as ElicitationField;
  test("chooses by the number on the screen before the value, and by value or title in any case", () => {
    expect(typedElicitationValue(size, "1")).toEqual({ ok: true, value: "s" });
    expect(typedElicitationValue(size, "LARGE")).toEqual({ ok: true, value: "l" });
    expect(typedElicitationValue(size, "9").ok).toBe(false);
    expect(typedElicitationValue(more, "2, one")).toEqual({ ok: true, value: ["l", "1"] });
  });

  test("is the default if it is empty, and nothing if it is a hyphen", () => {
    expect(typedElicitationValue(size, " ")).toEqual({ ok: true, value: "l" });
    expect(typedElicitationValue(size, "-")).toEqual({ ok: true, value: undefined });
    expect(typedElicitationValue(field({ required: true }), "-")).toEqual({ ok: true, value: "-" });
  });
});

describe("an answer from outside", () => {
  const asked = form([field({ title: "Name", required: true })]);
  test.each([
    [undefined, "the answer needs an action"],
    ["accept", "the answer needs an action"],
    [{ action: "yes" }, "the answer needs an action"],
    [{ action: "accept" }, '"Name" needs a value'],
    [{ action: "accept", content: [] }, "content must be an object"],
    [{ action: "decline", content: {} }, "only an answer that accepts has content"],
    [{ action: "decline", by: "person" }, 'unknown field "by"'],
    [{ action: "accept", content: { x: "a", y: 1 } }, '"y" is not a field of this form'],
  ])("%j is no answer", (given, problem) => {
    const read = readElicitationAnswer(asked, given);
    expect(read).toEqual({ ok: false, problem: expect.stringContaining(problem) as string });
  });

  test("to an address has no values", () => {
    const page = url("https://a.example/");
    expect(readElicitationAnswer(page, { action: "accept" })).toEqual({
      ok: true,
      value: { action: "accept", content: {} },
    });
    expect(readElicitationAnswer(page, { action: "accept", content: { code: "1" } }).ok).toBe(false);
  });
});

describe("a form that asks for a secret", () => {
  test.each([
    ["password"],
    ["user_password"],
    ["apiKey"],
    ["API_KEY"],
    ["api-key"],
    ["authToken"],
    ["pin"],
    ["cvc"],
    ["CVV2"],
    ["clientSecret"],
    ["seed_phrase"],
    ["cardNumber"],
    ["passcode"],
  ])("is found by the name %s", (name) => {
    expect(asksForSecret(form([field({ name })]))).toBe(true);
  });

  test.each([
    ["Your passphrase, please"],
    ["Paste the token from the page"],
    ["Enter your PIN"],
    ["What is your pin?"],
    ["The 3 digits of the security code"],
    ["Credit card"],
    ["The words of your recovery phrase"],
    ["p\u0430ssw\u043Erd"],
    ["ｐａｓｓｗｏｒｄ"],
    ["pass\u200Bword"],
    ["Passwort"],
    ["Mot de passe"],
    ["Contraseña"],
    ["密码"],
    ["Пароль"],
  ])("is found in the title, the description or the message: %s", (text) => {
    expect(asksForSecret(form([field({ title: text })]))).toBe(true);
    expect(asksForSecret(form([field({ description: text })]))).toBe(true);
    expect(asksForSecret(form([field({})], text))).toBe(true);
  });

  test.each([
    ["Pinned items"],
    ["How many tokens may it use?"],
    ["Your name"],
    ["The key signature of the song"],
    ["Where shall I pin the note?"],
  ])("is not seen in: %s", (text) => {
    expect(asksForSecret(form([field({ title: text })], text))).toBe(false);
  });
});

describe("a question of a server", () => {
  test("is copied without what this version does not know", () => {
    const given = {
      ...form([field({ title: "T", extra: "x".repeat(9) })]),
      type: "notice",
    };
    expect(readElicitation(given)).toEqual({ ok: true, value: form([field({ title: "T" })]) });
  });

  const many = (count: number): readonly ElicitationField[] =>
    Array.from({ length: count }, (_, n) => field({ name: `f${n}` }));
  test.each<readonly [string, unknown, string]>([
    ["10,000 fields", form(many(10_000)), "has 10000 fields, and at most 20 are shown"],
    ["no fields", form([]), "has no field that this version knows"],
    ["an unknown field", form([field({ type: "object" })]), "has a form that this version does not know"],
    ["two fields of one name", form([field({}), field({})]), "has two fields of one name"],
    ["a password", form([field({ name: "password" })]), "asks for a secret, or mentions one"],
    ["a long message", form(many(1), "x".repeat(4001)), "has a message of more than 4000 characters"],
    [
      "a long title",
      form([field({ title: "x".repeat(201) })]),
      "has a field whose name or title is empty or too long",
    ],
    [
      "a wrong default",
      form([field({ maxLength: 1, default: "ab" })]),
      "has a default that does not fit its own field",
    ],
    ["no options", form([field({ type: "choice", options: [] })]), "has a field without options"],
    ["no object", "form", "has a form that this version does not know"],
    ["no sender", { ...form(many(1)), server: "" }, "does not say who asks"],
  ])("is not shown if it has %s", (_what, given, problem) => {
    expect(readElicitation(given)).toEqual({ ok: false, problem });
  });

  test.each([
    ["javascript:alert(1)"],
    ["data:text/html,x"],
    ["file:///etc/passwd"],
    ["http://example.com/"],
    ["https://bank.example@evil.example/"],
    ["https://@evil.example/"],
    ["not an address"],
    [`https://a.example/${"x".repeat(2000)}`],
  ])("is not shown with the address %s", (address) => {
    expect(readElicitation(url(address)).ok).toBe(false);
  });

  test.each([
    ["https://auth.example/login?x=1"],
    ["http://127.0.0.1:8080/"],
    ["http://localhost/"],
    ["http://[::1]:1/"],
  ])("may have the address %s", (address) => {
    expect(readElicitation(url(address)).ok).toBe(true);
  });

  test("shows the host of an address as the network knows it", () => {
    expect(hostOfAddress("https://ex\u0430mple.com/")).toBe("xn--exmple-4nf.com");
    expect(plainAddress("https://ex\u0430mple.com/\u202Egpj.exe")).toBe(
      "https://xn--exmple-4nf.com/%E2%80%AEgpj.exe",
    );
  });
});
