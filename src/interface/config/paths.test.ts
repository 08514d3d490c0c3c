import { homedir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { sessionsFolder } from "./paths.ts";

const usual = join(homedir(), ".local", "share", "throughline", "sessions");

test.for([
  [{}, usual],
  [{ XDG_DATA_HOME: "/data" }, "/data/throughline/sessions"],
  [{ XDG_DATA_HOME: "relative" }, usual],
  [{ XDG_DATA_HOME: "" }, usual],
  [{ THROUGHLINE_HOME: "/own", XDG_DATA_HOME: "/data" }, "/own/sessions"],
  [{ THROUGHLINE_HOME: "", XDG_DATA_HOME: "/data" }, "/data/throughline/sessions"],
] as const)("%j keeps sessions in %s", ([env, folder]) => {
  expect(sessionsFolder(env)).toBe(folder);
});

test.for([
  [{ HOME: "" }, "HOME is empty"],
  [{ HOME: "here", XDG_DATA_HOME: "relative" }, "HOME is a relative path"],
  [
    { THROUGHLINE_HOME: "here", XDG_DATA_HOME: "/data" },
    "THROUGHLINE_HOME is a relative path, so there is no folder for settings and sessions: set it to an absolute path, or unset it",
  ],
] as const)("%j is refused: %s", ([env, why]) => {
  expect(() => sessionsFolder(env)).toThrow(
    expect.objectContaining({ code: "home_invalid", message: expect.stringContaining(why) as unknown }),
  );
});

test("an absolute XDG folder needs no HOME", () => {
  expect(sessionsFolder({ HOME: "", XDG_DATA_HOME: "/data" })).toBe("/data/throughline/sessions");
});
