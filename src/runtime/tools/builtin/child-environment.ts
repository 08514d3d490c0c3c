/**
 * The environment of a command, as an allow-list. Names that carry secrets cannot be listed completely, but names a
 * shell needs can, so a key is never inherited, whatever its name. Names known to hold keys are left out even if they
 * are on the list, and so is any variable that repeats such a key's value.
 */

const ALLOWED: ReadonlySet<string> = new Set(
  [
    // user and location
    "PATH HOME USER LOGNAME SHELL TMPDIR TMP TEMP TZ",
    // terminal
    "TERM COLORTERM NO_COLOR FORCE_COLOR COLUMNS LINES",
    // language; listed one by one, because an arbitrary LC_ name could hold anything
    "LANG LANGUAGE LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES",
    "LC_MONETARY LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME",
    // where tools keep their files
    "XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME CARGO_HOME GOPATH GOROOT",
    "JAVA_HOME NVM_DIR PNPM_HOME PYENV_ROOT RUSTUP_HOME VIRTUAL_ENV",
  ].flatMap((names) => names.split(" ")),
);

/** Shorter values can occur in a PATH by chance. */
const MIN_SECRET_LENGTH = 8;

export function childEnvironment(
  env: Readonly<NodeJS.ProcessEnv>,
  secretNames: readonly string[] = [],
): Record<string, string> {
  const secrets = secretNames.flatMap((name) => {
    const value = env[name];
    return value !== undefined && value.length >= MIN_SECRET_LENGTH ? [value] : [];
  });
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !ALLOWED.has(name) || secretNames.includes(name)) continue;
    if (secrets.some((secret) => value.includes(secret))) continue;
    passed[name] = value;
  }
  return passed;
}
