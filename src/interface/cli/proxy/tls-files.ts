/** The certificate and the key that a proxy speaks TLS with. They are checked before it listens. */

import { createPrivateKey, X509Certificate } from "node:crypto";

import { readText } from "../../../base/files/index.ts";
import { codedError, readProblem } from "../../../base/support/index.ts";
import type { ProxyOptions } from "../../../proxy/relay/index.ts";
import { inertLine } from "../inert-text.ts";

export interface TlsFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

export function tlsFrom({ tlsCert, tlsKey }: TlsFlags): ProxyOptions["tls"] {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw codedError("usage", "--tls-cert and --tls-key go together: name both files");
  const tls = { cert: pemText("--tls-cert", tlsCert), key: pemText("--tls-key", tlsKey) };
  const certificate = parsed("--tls-cert", "a certificate", () => new X509Certificate(tls.cert));
  const key = parsed("--tls-key", "a private key without a passphrase", () => createPrivateKey(tls.key));
  if (certificate.checkPrivateKey(key)) return tls;
  throw codedError("file_unreadable", "--tls-key: the key does not belong to the certificate of --tls-cert");
}

function pemText(flag: string, file: string): string {
  try {
    return readText(file);
  } catch (error) {
    throw codedError(
      "file_unreadable",
      `${flag}: cannot read ${inertLine(file, 300)}: ${readProblem(error)}`,
      error,
    );
  }
}

function parsed<T>(flag: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw codedError("file_unreadable", `${flag}: the file does not hold ${what} in PEM form`, error);
  }
}
