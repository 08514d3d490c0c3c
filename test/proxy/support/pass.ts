/** One request through a proxy to an upstream that always answers the same. */

import { answerBytes, ask, JSON_TYPE, openProxy, startUpstream } from "./wire.ts";

export const OK = answerBytes("200 OK", [JSON_TYPE], "{}");

/** What one request makes of an upstream that always answers the same. */
export async function pass(request: (port: number) => Buffer, answer: Buffer = OK, headers?: boolean) {
  const upstream = await startUpstream(answer);
  const proxy = await openProxy({ to: upstream.origin, headers });
  const got = await ask(proxy.port, request(proxy.port));
  return { got, upstream, proxy };
}
