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
