import { appendFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { frameOpen } from "../../src/base/files/index.ts";
import { ledgerStatus, readExchanges } from "../../src/proxy/relay/index.ts";
import { randomFrom } from "../chaos/random.ts";
import { ALL, differences, found, segmentsOf, soundLedger, world } from "./support/fail-open-world.ts";
import { openProxy } from "./support/wire.ts";

/** Damage that costs at most the lines it touches. */
const LINE_DAMAGE: Readonly<Record<string, (file: string) => void>> = {
  "a torn tail": (file) => appendFileSync(file, readFileSync(file).subarray(0, 100)),
  "a tail that was cut": (file) => truncateSync(file, statSync(file).size - 7),
  "garbage lines": (file) =>
    appendFileSync(
      file,
      'garbage\n\n{}\n{"type":"group"}\n\0\0\0\n[1]\nnull\n{"type":"group","sum":"00000000"}\n',
    ),
  "binary in front": (file) =>
    writeFileSync(file, Buffer.concat([Buffer.from([0, 255, 10, 10, 0]), readFileSync(file)])),
  "a block of zeros at the end": (file) => appendFileSync(file, Buffer.alloc(4096)),
  "a line of an unknown type": (file) => appendFileSync(file, frameOpen('{"type":"later","what":[1]')),
  "sound lines that hold something else": (file) => {
    for (const text of [
      '{"type":"group"',
      '{"type":"group","id":7,"openings":null',
      '{"type":"asked","id":"x"',
      '{"type":"pin"',
      '{"type":"used"',
      '{"type":"account"',
      '{"x":1',
      '{"type":null',
    ])
      appendFileSync(file, frameOpen(text));
  },
};

describe("a damaged ledger is never fatal", () => {
  test.for(Object.entries(LINE_DAMAGE))("%s costs no other line", async ([, damage]) => {
    const given = await world();
    const folder = await soundLedger(given);
    for (const file of segmentsOf(folder)) damage(file);
    const proxy = await openProxy({ to: given.upstream.origin, ledger: folder });
    expect([proxy.health, await found(given, proxy.port)]).toEqual(["ok", ALL]);
    expect(await differences(given, proxy.port)).toBeUndefined();
    expect(() => [ledgerStatus(folder), readExchanges(folder)]).not.toThrow();
  });

  test("flipped bits at any offset", async () => {
    const given = await world();
    const folder = await soundLedger(given);
    const [file = ""] = segmentsOf(folder);
    const sound = readFileSync(file);
    const random = randomFrom(7).fork("bit flips");
    for (let turn = 0; turn < 12; turn += 1) {
      const bytes = Buffer.from(sound);
      for (let flips = 0; flips < 1 + turn; flips += 1) {
        const at = Math.floor(random.next() * bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
      }
      for (const one of segmentsOf(folder)) rmSync(one);
      writeFileSync(file, bytes);
      const proxy = await openProxy({ to: given.upstream.origin, ledger: folder });
      expect([turn, proxy.health, await differences(given, proxy.port)]).toEqual([turn, "ok", undefined]);
      await proxy.close();
      expect(ledgerStatus(folder).damage.length).toBeGreaterThan(0);
    }
  });
});
