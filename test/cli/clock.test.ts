/** The command line on machines whose clock is wrong, or is changed while a command runs. */

import { expect, test } from "vitest";

import { logsOf, newPlace, run } from "./harness.ts";

/** Each call of Date.now() returns the next of these values; `new Date()` follows it. */
function clockSays(...times: readonly (number | string)[]): { readonly NODE_OPTIONS: string } {
  const patch = `const times=[${times.join()}];let looks=0;const now=()=>times[looks++%times.length];const RealDate=Date;globalThis.Date=class extends RealDate{constructor(...given){super(...(given.length===0?[now()]:given))}static now(){return now()}};`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(patch)}` };
}

const NOW = Date.UTC(2026, 10, 17, 12);
const CLOCKS: Readonly<Record<string, readonly (number | string)[]>> = {
  "is before 1970": [-86_400_000],
  "jumps between 1970, 2100 and now": [0, Date.UTC(2100, 0, 1), NOW],
  "goes back an hour with each reading": Array.from({ length: 50 }, (_, index) => NOW - index * 3_600_000),
  "is not a valid time": ["NaN", "Infinity", "-Infinity"],
};

const ABSURD = /NaN|Infinity|Invalid|-\d+(?:\.\d+)?\s?(?:m?s|h|min|d|seconds?|hours?|days?)\b/;

test.each(Object.keys(CLOCKS))("a clock that %s stops no command and loses no event", async (name) => {
  const place = newPlace();
  const env = clockSays(...(CLOCKS[name] ?? []));
  place.write("scenario.yaml", "about: One.\nturns:\n  - send: Hello\n");
  const commands = [
    ["-p", "Hello", "--trace", "trace.jsonl"],
    ["-p", "-c", "And now?", "--json"],
    ["sessions", "list"],
    ["sessions", "show", "--last"],
    ["stats", "--all"],
    ["stats", "--days", "7"],
    ["inspect", "--last"],
    ["eval", "scenario.yaml"],
    ["config", "list"],
  ];
  for (const words of commands) {
    const { code, out, err } = await run(place, words, { env });
    expect({ words, code, err }).toEqual({ words, code: 0, err: expect.any(String) as string });
    expect(`${out}${err}`, words.join(" ")).not.toMatch(ABSURD);
  }
  const [events = []] = (await logsOf(place)).values();
  expect(events.filter(({ type }) => type === "turn_end")).toHaveLength(2);
  expect(events.filter(({ at }) => Number.isNaN(Date.parse(at)))).toEqual([]);
});
