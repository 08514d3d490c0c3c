import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { idPrefixes, maxOutputItems, Seal, type Sealed } from "./seal.ts";

const seal = new Seal({ secret: "one" });
const other = new Seal({ secret: "two" });

const uid = fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString("hex"));
const place = fc.record({ uid, at: fc.nat(0xffffffff), index: fc.nat(maxOutputItems - 1) });

const sealed: Sealed = {
  stage: "done",
  id: "rs_1",
  uid: "0011223344556677",
  index: 0,
  model: "emu-reasoner",
  account: "org-a",
  prefix: "p",
  follower: null,
  notes: "42",
};

describe("ids", () => {
  test("encode where they come from and what they need", () => {
    const type = fc.constantFrom(...Object.keys(idPrefixes));
    const needs = fc.uniqueArray(fc.nat(maxOutputItems - 1)).map((list) => list.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(place, type, needs, (where, kind, needed) => {
        const id = seal.itemId(where, kind, needed);
        expect(id).toMatch(/^[a-z]+_[0-9a-f]{50}$/);
        expect(id.length).toBeLessThanOrEqual(64);
        expect(seal.readId(id)).toEqual({ ...where, type: kind, needs: needed });
        expect(other.readId(id)).toBeUndefined();
      }),
    );
  });

  test("are rejected if a digit changed or the prefix differs", () => {
    fc.assert(
      fc.property(place, fc.nat(49), (where, at) => {
        const id = seal.itemId(where, "function_call");
        const digit = id[3 + at] === "a" ? "b" : "a";
        expect(seal.readId(id.slice(0, 3 + at) + digit + id.slice(4 + at))).toBeUndefined();
        expect(seal.readId(id.replace("fc_", "rs_"))).toBeUndefined();
      }),
    );
    expect(seal.readId("rs_")).toBeUndefined();
  });

  test("of the reasoning an item needs can be derived from the item's own", () => {
    const where = { uid: seal.newUid(), at: 1_700_000_000, index: 0 };
    const reasoning = seal.itemId(where, "reasoning");
    const call = seal.readId(seal.itemId({ ...where, index: 1 }, "function_call", [0]));
    expect(
      call?.needs.map((index) => seal.itemId({ uid: call.uid, at: call.at, index }, "reasoning")),
    ).toEqual([reasoning]);
  });

  test("for calls look like real ones and lead back", () => {
    fc.assert(
      fc.property(place, (where) => {
        const callId = seal.callId(where);
        expect(callId).toMatch(/^call_[0-9A-Za-z]{24}$/);
        expect(seal.readCallId(callId)).toEqual({ uid: where.uid, index: where.index });
        expect(other.readCallId(callId)).toBeUndefined();
      }),
    );
    for (const foreign of ["call_1", "call_000000000000000000000000", "call_zzzzzzzzzzzzzzzzzzzzzzzz", ""]) {
      expect(seal.readCallId(foreign)).toBeUndefined();
    }
  });
});

describe("ciphertext", () => {
  test("opens with its secret, differs every time, and fails if a character changes", () => {
    const text = seal.seal(sealed, 1_765_552_659);
    expect(text).toMatch(/^gAAAAAB[\w-]+={0,2}$/);
    expect(seal.open(text)).toMatchObject({ ok: true, sealed });
    expect(seal.seal(sealed, 1_765_552_659)).not.toBe(text);
    expect(other.open(text)).toEqual({ ok: false, rotated: false });
    fc.assert(
      fc.property(fc.integer({ min: 8, max: text.length - 4 }), (at) => {
        const changed = text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
        expect(seal.open(changed).ok).toBe(false);
      }),
    );
  });

  test("with a rotated key is told apart from nonsense", () => {
    const rotating = new Seal({ secret: "one" });
    const text = rotating.seal(sealed, 1_765_552_659);
    rotating.rotate();
    expect(rotating.open(text)).toEqual({ ok: false, rotated: true });
    expect(rotating.open("Work it out.")).toEqual({ ok: false, rotated: false });
    // A test clock may be at 1970.
    expect(rotating.open(rotating.seal(sealed, 0)).ok).toBe(true);
  });

  test("is the same in every run with a seed", () => {
    const [one, two] = [new Seal({ secret: "one", seed: "s" }), new Seal({ secret: "one", seed: "s" })].map(
      (seeded) => [seeded.newUid(), seeded.newUid(), seeded.seal(sealed, 1_765_552_659)],
    );
    expect(one).toEqual(two);
    expect(new Set(one).size).toBe(3);
  });
});
