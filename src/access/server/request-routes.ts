/** Inspection: the next request, past ones, why each item is in them, and the blobs of the log. */

import { diffRequests, type RequestSummary } from "../../base/api/index.ts";
import { codedError } from "../../base/support/index.ts";
import type { RequestFacts } from "../../runtime/facts/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import {
  type App,
  hostedOf,
  numberIn,
  type RouteContext,
  type ServerParts,
  textIn,
  wholeNumber,
} from "./context.ts";
import type { HostedSession } from "./hosted-session.ts";

/** Parameters are read before the session is looked up. */
type Look = (session: Session, hosted: HostedSession) => Promise<object>;

export function addRequestRoutes(app: App, parts: ServerParts): void {
  look("preview", (c) => {
    const model = textIn(c, "model");
    return (session) => session.preview({ model });
  });
  look("switch", (c) => {
    const model = textIn(c, "model");
    if (model === undefined) throw codedError("parameter_invalid", "model is missing");
    return (session) => session.previewSwitch(model);
  });
  look("explain", (c) => {
    const request = numberIn(c, "request", 1);
    return async (session) => ({ decisions: await session.explain({ request }) });
  });
  look("requests", () => async (session, hosted) => {
    const { requests } = await hosted.factsOf(session);
    return { requests: requests.map(summaryOf) };
  });
  look("requests/:n", (c) => {
    const request = requestIn(c, "n");
    return (session) => session.rebuild(request);
  });
  look("requests/:n/diff/:m", (c) => {
    const [from, to] = [requestIn(c, "n"), requestIn(c, "m")];
    return async (session) => diffRequests(await session.rebuild(from), await session.rebuild(to));
  });

  app.get("/api/sessions/:id/blobs/:name", async (c) => {
    const name = c.req.param("name");
    const hosted = await hostedOf(parts, c);
    const bytes = /^[0-9a-f]{64}$/.test(name)
      ? await hosted.withSession("read", (session) => session.blob(name))
      : undefined;
    if (bytes === undefined) throw codedError("blob_not_found", "there is no such blob in this session");
    const image = imageType(bytes);
    return c.body(new Uint8Array(bytes), 200, {
      "content-type": image ?? "application/octet-stream",
      ...(image === undefined
        ? { "content-disposition": `attachment; filename="${name.slice(0, 12)}.bin"` }
        : {}),
    });
  });

  function look(path: string, read: (c: RouteContext) => Look): void {
    app.get(`/api/sessions/:id/${path}`, async (c) => {
      const work = read(c);
      const hosted = await hostedOf(parts, c);
      return c.json(await hosted.withSession("read", (session) => work(session, hosted)));
    });
  }
}

function requestIn(c: RouteContext, name: string): number {
  return wholeNumber("request", c.req.param(name) ?? "", 1);
}

function summaryOf({ request, start, end, model }: RequestFacts): RequestSummary {
  const { seq, turn, response, step, attempt, at } = start;
  const { status = "open", usage, durationMs } = end ?? {};
  return { request, seq, turn, response, step, attempt, model, at, status, usage, durationMs };
}

/**
 * Detected by the first bytes, and only formats in which a browser can run nothing. A declared type is never trusted.
 */
function imageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (head.startsWith("\u0089PNG\r\n\u001A\n")) return "image/png";
  if (head.startsWith("\u00FF\u00D8\u00FF")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return /^RIFF[\s\S]{4}WEBP/.test(head) ? "image/webp" : undefined;
}
