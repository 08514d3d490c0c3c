/**
 * Keeps secret values that this process has loaded out of logs, traces and recordings: verbatim, URL-encoded, base64
 * and JSON-escaped. Provider items in the log are exempt, because they must be sent back unchanged (SECURITY.md).
 */

const SHORTEST_SECRET = 8;
const REDACTED = "[redacted]";

let known: Readonly<Record<"secrets" | "forms", readonly string[]>> = { secrets: [], forms: [] };

/**
 * Every form in which a value is searched for, longest first, since one may contain another. Cached, because secrets
 * rarely change.
 */
function formsOf(secrets: readonly string[]): readonly string[] {
  const same =
    secrets.length === known.secrets.length &&
    secrets.every((secret, index) => secret === known.secrets[index]);
  if (!same) known = { secrets, forms: allForms(secrets) };
  return known.forms;
}

function allForms(secrets: readonly string[]): readonly string[] {
  const forms = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .flatMap((secret) => {
      const json = JSON.stringify(secret).slice(1, -1);
      return [
        secret,
        encodeURIComponent(secret),
        Buffer.from(secret).toString("base64"),
        json,
        json.replaceAll("/", String.raw`\/`),
      ];
    });
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}

export function createRedactor(secrets: () => readonly string[]): (text: string) => string {
  return (text) => withoutForms(text, formsOf(secrets()));
}

function withoutForms(text: string, forms: readonly string[]): string {
  let clean = text;
  for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
  return clean;
}

/**
 * The same for bytes that arrive in chunks. If a chunk ends with what may be the start of a secret, that part is held
 * back, so a secret split by the network is still found.
 */
export class ByteRedactor {
  readonly #forms: readonly string[];
  #held = "";

  constructor(secrets: readonly string[]) {
    // latin1: one character per byte, so that all other bytes come out unchanged.
    this.#forms = formsOf(secrets).map((form) => Buffer.from(form).toString("latin1"));
  }

  push(bytes: Uint8Array): Uint8Array {
    const text = withoutForms(this.#held + Buffer.from(bytes).toString("latin1"), this.#forms);
    const keep = Math.max(0, ...this.#forms.map((form) => beginningAtEnd(text, form)));
    this.#held = text.slice(text.length - keep);
    return Buffer.from(text.slice(0, text.length - keep), "latin1");
  }

  flush(): Uint8Array {
    const rest = Buffer.from(this.#held, "latin1");
    this.#held = "";
    return rest;
  }
}

/** How much of the end of `text` is a prefix of `form`. */
function beginningAtEnd(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(form.slice(0, length))) return length;
  }
  return 0;
}

/** A name that ends in FILE holds the path of a secret, not the secret. */
const SECRET_NAME = /^(?!.*_FILE$)(?:.*_)?(?:KEY|TOKEN|SECRET|(?:PG)?PASSWORD|PASSWD|CREDENTIALS?)(?:$|_)/i;

/** Values of environment variables whose names suggest a secret, even those that no model uses. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    SECRET_NAME.test(name) && value !== undefined && value.length >= SHORTEST_SECRET ? [value] : [],
  );
}
