/**
 * A bundle in which every function of the proxy begins with a call of `globalThis.plant`, which may throw. So a fault
 * can be planted at each of them, without a list that grows old and without touching the source.
 *
 * @module
 */

import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";

import { build, transform } from "esbuild";
import { parseAst } from "vite";

const root = resolve(import.meta.dirname, "../../..");

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** Bundles a program for Node. */
export async function buildPlanted(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [resolve(root, entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    plugins: [
      {
        name: "plant",
        setup: (plugin) =>
          plugin.onLoad({ filter: /[/\\]src[/\\]proxy[/\\].*\.ts$/ }, async ({ path }) => {
            const { code } = await transform(await readFile(path, "utf8"), {
              loader: "ts",
              target: "node20",
            });
            return { contents: planted(code, relative(resolve(root, "src/proxy"), path)), loader: "js" };
          }),
      },
    ],
  });
}

/** The code with a call in front of every function body. The name of a point is its file, its function and a number. */
export function planted(code: string, file: string): string {
  const edits: { readonly at: number; readonly text: string }[] = [];
  const numbers = new Map<string, number>();
  const visit = (node: Node, name: string): void => {
    const own = nameOf(node) ?? name;
    if (/^(?:Arrow)?Function/.test(node.type) && isNode(node["body"])) {
      const nth = (numbers.get(own) ?? 0) + 1;
      numbers.set(own, nth);
      const call = `globalThis.plant(${JSON.stringify(`${file} ${own}${nth === 1 ? "" : ` ${nth}`}`)})`;
      const { body } = node;
      if (body.type === "BlockStatement") edits.push({ at: body.start + 1, text: `${call};` });
      else edits.push({ at: body.start, text: `(${call},` }, { at: body.end, text: ")" });
    }
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, own);
  };
  visit(parseAst(code) as unknown as Node, "module");
  let text = code;
  for (const { at, text: more } of edits.toSorted((a, b) => b.at - a.at))
    text = text.slice(0, at) + more + text.slice(at);
  return text;
}

/** The name that a function has, from itself or from what holds it. */
function nameOf(node: Node): string | undefined {
  const named = ["id", "key"].map((field) => node[field]).find(isNode);
  const name = named?.["name"];
  if (typeof name !== "string" || !/Declarat|Definition|Property/.test(node.type)) return undefined;
  return named?.type === "PrivateIdentifier" ? `#${name}` : name;
}
