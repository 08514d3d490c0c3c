/** A tools file whose tool asks the person, as a tool server does, and writes down the answer it got. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Elicitation } from "../../src/base/events/index.ts";
import { type Place, toolsFile } from "./harness.ts";

export const ASK_STEPS = [
  { output: [{ function_call: { name: "ask", arguments: {} } }] },
  { output: [{ message: "After it." }] },
];

export function elicitTool(place: Place, ...requests: readonly Elicitation[]): string {
  return toolsFile(
    place,
    `export const ask = tool({
      name: "ask", description: "Asks the person", access: "read",
      input: { type: "object", properties: {} },
      run: async (_input, context) => {
        const elicit = context[Symbol.for("throughline.elicit/1")];
        const got = await Promise.all(${JSON.stringify(requests)}.map((request) => elicit(request)));
        fs.writeFileSync(${JSON.stringify(join(place.work, "got.json"))}, JSON.stringify(got));
        return "asked";
      },
    });`,
  );
}

/** What the tool got; undefined if it got no answer. */
export function gotAnswers(place: Place): unknown {
  const file = join(place.work, "got.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as unknown) : undefined;
}
