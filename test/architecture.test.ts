import { readdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

import { expect, test } from "vitest";

/** Who may import whom. A folder may always import itself. `cli` is the composition root: it may import all. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  support: [],
  files: ["support"],
  events: ["support"],
  api: ["events", "fold", "support"],
  wire: ["support"],
  rules: ["wire", "support"],
  fold: ["events", "support"],
  fragments: ["events", "support"],
  log: ["events", "files", "support"],
  check: ["rules", "fold", "events", "wire", "support"],
  trace: ["events", "log", "wire", "support"],
  config: ["files", "support"],
  tools: ["events", "support"],
  providers: ["events", "fold", "rules", "wire", "trace", "support"],
  models: ["providers", "emulator", "support"],
  turn: ["events", "fold", "log", "providers", "tools", "trace", "support"],
  session: ["api", "events", "fold", "log", "providers", "tools", "turn", "trace", "config", "support"],
  emulator: ["wire", "support"],
  conform: ["providers", "rules", "wire", "support"],
  client: ["api", "events", "support"],
  server: ["api", "session", "log", "events", "support"],
  tui: ["api", "fragments", "events", "support"],
  web: ["api", "client", "fragments", "events", "support"],
};
const COMPOSITION_ROOTS: ReadonlySet<string> = new Set(["cli", "index.ts"]);

const root = resolve(import.meta.dirname, "..");

/** `src/log/file-log.ts` -> `log`; `src/index.ts` -> `index.ts`; `web/app.tsx` -> `web`. */
function folderOf(path: string): string {
  const [top = "", second = ""] = path.split("/");
  return top === "src" ? second : top;
}

test("every folder imports only the folders below it, through their index.ts", () => {
  const forbidden: string[] = [];
  let seen = 0;
  for (const top of ["src", "web"]) {
    for (const name of readdirSync(resolve(root, top), { recursive: true, encoding: "utf8" })) {
      if (!/(?<!\.test)\.tsx?$/.test(name)) continue;
      const file = `${top}/${name}`;
      const from = folderOf(file);
      const source = readFileSync(resolve(root, file), "utf8");
      for (const [, a, b] of source.matchAll(/(?:from|import) "(\.[^"]+)"|import\("(\.[^"]+)"\)/g)) {
        seen += 1;
        const target = relative(root, resolve(root, dirname(file), a ?? b ?? ""));
        const to = folderOf(target);
        if (to === from || COMPOSITION_ROOTS.has(from)) continue;
        if (!MAY_IMPORT[from]?.includes(to)) forbidden.push(`${file} must not import ${target}`);
        else if (!target.endsWith("/index.ts")) forbidden.push(`${file} reaches into ${target}`);
      }
    }
  }
  expect(seen).toBeGreaterThan(0); // a checker that looked at nothing must not pass
  expect(forbidden).toEqual([]);
});
