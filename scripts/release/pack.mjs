/** Builds a package and packs it into a tarball. */
import { join } from "node:path";

import { run } from "./commands.mjs";

/** @returns {Promise<{ tarball: string, summary: string }>} the tarball's path, and its name and size for the user */
export async function buildAndPack(root, folder) {
  await run("npm", ["run", "build"], { cwd: root });
  // `prepare` would only find that the build is fresh.
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await run("npm", args, { cwd: root });
  const [{ filename, size, unpackedSize, entryCount }] = Object.values(JSON.parse(stdout));
  const summary = `${filename}: ${megabytes(size)} packed, ${megabytes(unpackedSize)} unpacked, ${entryCount} files`;
  return { tarball: join(folder, filename), summary };
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
