/** A proxy with one route, and what a test asks of it. */

import type { Header } from "./http-bytes.ts";
import {
  answerBytes,
  JSON_TYPE,
  openProxy,
  requestTo,
  startUpstream,
  type Upstream,
  type WatchedProxy,
} from "./wire.ts";

export const OK = answerBytes("200 OK", [JSON_TYPE], "{}");

export async function both(
  options: object = {},
): Promise<{ readonly upstream: Upstream; readonly proxy: WatchedProxy }> {
  const upstream = await startUpstream(OK);
  const proxy = await openProxy({ routes: { up: upstream.origin }, ...options });
  return { upstream, proxy };
}

export const codeOf = (body: Buffer): string | undefined => /"code":"(\w+)"/.exec(body.toString())?.[1];
export const get = (port: number, target: string, headers: readonly Header[] = []): Buffer =>
  requestTo(port, target, { method: "GET", headers });
