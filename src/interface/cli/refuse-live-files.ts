/**
 * Prevents code that runs from the trusted copy from importing a file in the project by a computed path, because the
 * user has not trusted that file. Uses Node's module hooks. From Node 22.15, one hook sees both `import` and `require`.
 * In earlier versions, a hook in a separate thread sees `import`, and the CommonJS function that resolves file names is
 * wrapped for `require`.
 */

import nodeModule from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

import { codedError } from "../../base/support/index.ts";

interface Resolved {
  readonly url: string;
}

interface Hooks {
  readonly resolve: (
    specifier: string,
    context: { readonly parentURL?: string },
    next: (specifier: string, context: object) => Resolved,
  ) => Resolved;
}

type ResolveFilename = (
  request: string,
  parent: { readonly filename?: string } | undefined,
  ...rest: unknown[]
) => string;

const RESOLVE = "_resolveFilename";

interface Loaders {
  readonly registerHooks?: (hooks: Hooks) => unknown;
  [RESOLVE]: ResolveFilename;
}

/** Both folders end with a separator. */
export function refuseLiveFiles(copy: string, project: string): void {
  const loaders = nodeModule as unknown as Loaders;
  const [copyUrl, projectUrl] = [pathToFileURL(copy).href, pathToFileURL(project).href];
  if (loaders.registerHooks !== undefined) {
    loaders.registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context);
        if (isFromCopy(context.parentURL, copyUrl) && isLive(found.url, copyUrl, projectUrl))
          throw refused(fileURLToPath(found.url));
        return found;
      },
    });
    return;
  }
  const hooks = `data:text/javascript,${encodeURIComponent(THREAD_HOOKS)}`;
  nodeModule.register(hooks, { data: { copyUrl, projectUrl } });
  const before = loaders[RESOLVE];
  loaders[RESOLVE] = function resolveFilename(request, parent, ...rest) {
    const found = before.call(this, request, parent, ...rest);
    if (parent?.filename?.startsWith(copy) === true && isLive(found, copy, project)) throw refused(found);
    return found;
  };
}

/** A `data:` module has no path; only trusted code can have created one. */
function isFromCopy(parent: string | undefined, copy: string): boolean {
  return parent !== undefined && (parent.startsWith(copy) || parent.startsWith("data:"));
}

function isLive(found: string, copy: string, project: string): boolean {
  return found.startsWith(project) && !found.startsWith(copy);
}

function refused(file: string): Error {
  return codedError("code_untrusted", `${file} is not one of the trusted files`);
}

/** The same check as source text, because the hooks thread shares no modules with this one. */
const THREAD_HOOKS = `
let copy, project;
export function initialize(data) {
  copy = data.copyUrl;
  project = data.projectUrl;
}
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const parent = context.parentURL ?? "";
  const fromCopy = parent.startsWith(copy) || parent.startsWith("data:");
  if (fromCopy && found.url.startsWith(project) && !found.url.startsWith(copy)) {
    const error = new Error(found.url + " is not one of the trusted files");
    throw Object.assign(error, { code: "code_untrusted" });
  }
  return found;
}
`;
