/** Looking closer: the next request, past ones, why each item is in them, and the bytes beside the log. */

import { diffRequests, type RequestSummary } from "../../base/api/index.ts";
import { codedError } from "../../base/support/index.ts";
import type { RequestFacts } from "../../runtime/facts/index.ts";
import { type App, hostedOf, numberIn, type ServerParts, textIn, wholeNumber } from "./context.ts";

export function addRequestRoutes(app: App, parts: ServerParts): void {
  app.get("/api/sessions/:id/preview", async (c) => {
    const model = textIn(c, "model");
    const hosted = await hostedOf(parts, c);
    return c.json(
      await hosted.withSession("read", (session) => session.preview(model === undefined ? {} : { model })),
    );
  });

  app.get("/api/sessions/:id/switch", async (c) => {
    const model = textIn(c, "model");
    if (model === undefined) throw codedError("parameter_invalid", "model is missing");
    const hosted = await hostedOf(parts, c);
    return c.json(await hosted.withSession("read", (session) => session.previewSwitch(model)));
  });

  app.get("/api/sessions/:id/explain", async (c) => {
    const request = numberIn(c, "request", 1);
    const hosted = await hostedOf(parts, c);
    const decisions = await hosted.withSession("read", (session) =>
      session.explain(request === undefined ? {} : { request }),
    );
    return c.json({ decisions });
  });

  app.get("/api/sessions/:id/requests", async (c) => {
    const hosted = await hostedOf(parts, c);
    const { requests } = await hosted.withSession("read", (session) => hosted.factsOf(session));
    return c.json({ requests: requests.map(summaryOf) });
  });

  app.get("/api/sessions/:id/requests/:n", async (c) => {
    const request = wholeNumber("request", c.req.param("n"), 1);
    const hosted = await hostedOf(parts, c);
    return c.json(await hosted.withSession("read", (session) => session.rebuild(request)));
  });

  app.get("/api/sessions/:id/requests/:n/diff/:m", async (c) => {
    const [from, to] = [c.req.param("n"), c.req.param("m")].map((text) => wholeNumber("request", text, 1));
    const hosted = await hostedOf(parts, c);
    const difference = await hosted.withSession("read", async (session) =>
      diffRequests(await session.rebuild(from ?? 0), await session.rebuild(to ?? 0)),
    );
    return c.json(difference);
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
}

function summaryOf({ request, start, end, model }: RequestFacts): RequestSummary {
  const { seq, turn, response, step, attempt, at } = start;
  const { status = "open", usage, durationMs } = end ?? {};
  return { request, seq, turn, response, step, attempt, model, at, status, usage, durationMs };
}

/** By their first bytes, and only pictures a browser cannot run anything in: never what somebody said they were. */
function imageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (head.startsWith("\u0089PNG\r\n\u001A\n")) return "image/png";
  if (head.startsWith("\u00FF\u00D8\u00FF")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return /^RIFF[\s\S]{4}WEBP/.test(head) ? "image/webp" : undefined;
}
