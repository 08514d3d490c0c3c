import manifest from "../../../package.json" with { type: "json" };

/** The version of this package. Bundlers inline it; nothing reads `package.json` at run time. */
export const VERSION: string = manifest.version;
