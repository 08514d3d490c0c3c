/**
 * Secret values this process has loaded never reach a log, a trace or a recording: exact, URL-encoded, base64 and as
 * they stand inside JSON. In the log provider items are exempt: they must go back exactly (SECURITY.md).
 */

const SHORTEST_SECRET = 8;
const REDACTED = "[redacted]";

let known: Readonly<Record<"secrets" | "forms", readonly string[]>> = { secrets: [], forms: [] };

/** Every form in which a value is looked for, longest first: one may hold another. Made once: they hardly ever change. */
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
 * The same for bytes that come in pieces. A piece that ends with what may be the beginning of a secret is held back by
 * that much; a secret cut in two by the network is one all the same.
 */
export class ByteRedactor {
  readonly #forms: readonly string[];
  #held = "";

  constructor(secrets: readonly string[]) {
    // latin1: one character per byte, so that whatever is no secret comes out as it went in.
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

/** How much of the end of `text` is a beginning of `form`. */
function beginningAtEnd(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(form.slice(0, length))) return length;
  }
  return 0;
}

const SECRET_NAME = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:$|_)/i;

/** Values of the environment whose names say that they are secret, also those no model was given. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    SECRET_NAME.test(name) && value !== undefined && value.length >= SHORTEST_SECRET ? [value] : [],
  );
}
