/** Returns whether an address to listen on can be reached only from this machine. */

import { isIP } from "node:net";

export function isLoopback(host: string): boolean {
  if (host === "localhost" || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}
