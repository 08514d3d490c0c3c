/**
 * Secret values this process has loaded never reach the log: exact, URL-encoded and base64 forms.
 * Provider items are exempt: they must go back exactly (SECURITY.md).
 *
 * @module
 */

const SHORTEST_SECRET = 8;

export function createRedactor(secrets: () => readonly string[]): (text: string) => string {
  return (text) => {
    let clean = text;
    for (const secret of secrets()) {
      if (secret.length < SHORTEST_SECRET) continue;
      for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")]) {
        if (clean.includes(form)) clean = clean.replaceAll(form, "[redacted]");
      }
    }
    return clean;
  };
}
