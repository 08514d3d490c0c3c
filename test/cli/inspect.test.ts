import { expect, test } from "vitest";
import { parse } from "yaml";

import { newPlace, run } from "./harness.ts";

test("inspect shows the same as YAML and as JSON", async () => {
  const place = newPlace();
  expect(await run(place, ["-m", "emulator/emu-reasoner", "-p", "one"])).toMatchObject({ code: 0 });
  for (const which of [[], ["--request", "1"], ["--preview"]]) {
    const words = ["inspect", "--last", ...which];
    const yaml = await run(place, [...words, "--format", "yaml"]);
    expect(yaml).toMatchObject({ code: 0, err: "" });
    const json = await run(place, [...words, "--format", "json"]);
    expect(parse(yaml.out)).toEqual(JSON.parse(json.out));
  }
});
