/** Type-checks a program against the installed package: every entry, and `consumer.ts`, which uses the main ones. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { run } from "./commands.mjs";

const typescript = fileURLToPath(import.meta.resolve("typescript/package.json"));
const types = join(dirname(typescript), "../@types");

/** `skipLibCheck` is off: an error in a declaration file of the package is an error here. */
const OPTIONS = {
  target: "es2022",
  lib: ["es2023", "esnext.disposable"],
  module: "nodenext",
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
  typeRoots: [types],
  types: ["node"],
};

/** @param {string} place where the package is installed @param {string} root the repository @param {readonly string[]} entries */
export async function typecheckConsumer(place, root, entries) {
  const modules = entries.filter((name) => !name.endsWith(".json"));
  const imports = modules.map((name, index) => `import * as entry${index} from ${JSON.stringify(name)};\n`);
  const list = modules.map((_, index) => `entry${index}`).join(", ");
  writeFileSync(
    join(place, "entries.ts"),
    `${imports.join("")}export const entries: object[] = [${list}];\n`,
  );
  copyFileSync(join(root, "scripts/release/consumer.ts"), join(place, "consumer.ts"));
  const config = { compilerOptions: OPTIONS, files: ["entries.ts", "consumer.ts"] };
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(dirname(typescript), JSON.parse(readFileSync(typescript, "utf8")).bin.tsc);
  await run(process.execPath, [tsc, "-p", place]);
}
