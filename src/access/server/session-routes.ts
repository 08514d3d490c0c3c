/** Sessions: list, create, read, rename, change of model, history, removal. */

import type { Cut } from "../../base/api/index.ts";
import { toLine } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import {
  type App,
  flagIn,
  hostedOf,
  numberIn,
  type RouteContext,
  type ServerParts,
  textIn,
} from "./context.ts";
import { streamEvents } from "./event-stream.ts";
import type { HostedSession } from "./hosted-session.ts";
import { startStream, writePieces } from "./raw-response.ts";
import { type Fields, readBody, required } from "./read-body.ts";
import type { ListOptions } from "./session-host.ts";

const LIST_LIMIT = 50;
const MAX_LIST = 1000;

export function addSessionRoutes(app: App, parts: ServerParts): void {
  app.get("/api/sessions", async (c) => {
    const behind = behindIn(c);
    const search = textIn(c, "search");
    const sessions = await parts.host.list({
      limit: Math.min(numberIn(c, "limit", 1) ?? LIST_LIMIT, MAX_LIST),
      behind,
      search,
    });
    return c.json({ sessions });
  });

  app.post("/api/sessions", async (c) => {
    const body = await readBody(c.env.incoming);
    const [id, model] = [body.text("id"), body.text("model")];
    body.done();
    const hosted = await parts.host.create(id);
    await hosted.withSession("write", () => undefined); // the lock is ours, or the answer is an error
    if (model !== undefined) await hosted.chooseModel(model);
    return c.json(await hosted.state(), 201);
  });

  app.get("/api/sessions/:id", async (c) => c.json(await (await hostedOf(parts, c)).state()));

  app.delete("/api/sessions/:id", async (c) => {
    await parts.host.remove(c.req.param("id"));
    return c.json({ removed: true });
  });

  app.get("/api/sessions/:id/events", async (c) => {
    const hosted = await hostedOf(parts, c);
    const after = lastEventId(c) ?? numberIn(c, "after", -1) ?? -1;
    return startStream(c, () => streamEvents(hosted, c.env.outgoing, after, parts.counters));
  });

  app.get("/api/sessions/:id/log", async (c) => {
    const hosted = await hostedOf(parts, c);
    const after = numberIn(c, "after", -1) ?? -1;
    const path = c.req.query("path") ?? "all";
    if (path !== "all" && path !== "active")
      throw codedError("parameter_invalid", "path must be all or active");
    return hosted.withSession("read", (session) =>
      startStream(c, () =>
        writePieces(
          c.env.outgoing,
          "application/x-ndjson",
          linesOf(session, { after, path }),
          parts.limits.stuckMs,
        ),
      ),
    );
  });

  app.get("/api/sessions/:id/export", async (c) => {
    const hosted = await hostedOf(parts, c);
    const options = {
      format: textIn(c, "format") ?? "jsonl",
      reasoning: flagIn(c, "reasoning", true),
      redact: flagIn(c, "redact", false),
    };
    if (await hosted.withSession("read", (session) => session.lastSeq < 0))
      throw codedError("nothing_to_export", "nothing was said in this session yet");
    const { mediaType, fileName, body } = await parts.exportSession(hosted.id, options);
    const name = fileName.replaceAll(/[^\w.-]/g, "_");
    c.env.outgoing.setHeader("content-disposition", `attachment; filename="${name}"`);
    return startStream(c, () => writePieces(c.env.outgoing, mediaType, body, parts.limits.stuckMs));
  });

  change("title", async (hosted, body) => {
    const title = required("title", body.text("title"));
    body.done();
    await hosted.withSession("write", (session) => session.rename(title));
  });
  change("model", async (hosted, body) => {
    const model = required("model", body.text("model"));
    body.done();
    await hosted.chooseModel(model);
  });
  change("undo", async (hosted, body) => {
    body.done();
    await hosted.withSession("write", (session) => session.undo());
  });
  change("truncate", async (hosted, body) => {
    const cut = cutFrom(body);
    await hosted.withSession("write", (session) => session.truncate(cut));
  });
  change("checkout", async (hosted, body) => {
    const to = required("to", body.number("to"));
    body.done();
    await hosted.withSession("write", (session) => session.checkout({ to }));
  });
  change("compact", async (hosted, body) => {
    const [instructions, keepTurns] = [body.text("instructions"), body.number("keepTurns")];
    body.done();
    await hosted.withSession("write", (session) => session.compact({ instructions, keepTurns }));
  });

  app.post("/api/sessions/:id/fork", async (c) => {
    const hosted = await hostedOf(parts, c);
    const body = await readBody(c.env.incoming);
    const [at, id] = [body.number("at"), body.text("id")];
    body.done();
    const options = { at, id };
    const child = await hosted.withSession("read", async (session) => {
      const made = await session.fork(options);
      await made.close(); // it is the host's to open, like every other
      return made.id;
    });
    return c.json(await (await parts.host.get(child)).state(), 201);
  });

  /** A change that answers with the session as it is then. */
  function change(name: string, work: (hosted: HostedSession, body: Fields) => Promise<void>): void {
    app.post(`/api/sessions/:id/${name}`, async (c) => {
      const hosted = await hostedOf(parts, c);
      await work(hosted, await readBody(c.env.incoming));
      return c.json(await hosted.state());
    });
  }
}

/** `before=TIME,ID`: the last session of the page that was read before. */
function behindIn(c: RouteContext): ListOptions["behind"] {
  const text = textIn(c, "before");
  if (text === undefined) return undefined;
  const [, time = "", id = ""] = /^(\d{1,15}(?:\.\d{1,9})?),([\w-]{1,64})$/.exec(text) ?? [];
  if (id === "")
    throw codedError("parameter_invalid", "before must be TIME,ID of the last session that is known");
  return { modifiedAt: Number(time), id };
}

function cutFrom(body: Fields): Cut {
  const [keepTurns, from] = [body.number("keepTurns"), body.number("from")];
  body.done();
  if (keepTurns !== undefined && from === undefined) return { keepTurns };
  if (from !== undefined && keepTurns === undefined) return { from };
  throw codedError("field_invalid", "give either keepTurns or from");
}

async function* linesOf(
  session: Session,
  options: { readonly after: number; readonly path: "all" | "active" },
): AsyncGenerator<string> {
  for await (const event of session.events(options)) yield `${toLine(event)}\n`;
}

/** What a browser sends by itself when it comes back. Anything but a number of ours is as good as nothing. */
function lastEventId(c: RouteContext): number | undefined {
  const text = c.req.header("last-event-id");
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
