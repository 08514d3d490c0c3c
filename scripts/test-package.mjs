/**
 * Packs the package and tests the tarball as a user gets it (release/smoke-test.mjs). Needs a network: npm installs the
 * dependencies and a second Node.
 *
 *   npm run test:package
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runMain } from "./release/commands.mjs";
import { UsageError } from "./release/errors.mjs";
import { findNodes } from "./release/nodes.mjs";
import { buildAndPack } from "./release/pack.mjs";
import { smokeTest } from "./release/smoke-test.mjs";

const report = (line) => process.stdout.write(`${line}\n`);

await runMain("test-package", async () => {
  if (process.argv.length > 2) throw new UsageError("npm run test:package takes no arguments");
  const root = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), "throughline-package-"));
  try {
    const { tarball, summary } = await buildAndPack(root, folder);
    report(`✓ packed ${summary}`);
    await smokeTest({
      tarball,
      root,
      folder,
      nodes: await findNodes(join(folder, "other-node"), report),
      report,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
