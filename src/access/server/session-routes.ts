/** Sessions: list, create, read, rename, change the model, history, remove. */

import { type LoggedEvent, toLine } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import type { ListOptions } from "../../runtime/log/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import {
  type App,
  flagIn,
  hostedOf,
  hostOf,
  numberIn,
  type RouteContext,
  type ServerParts,
  storeOf,
  textIn,
  withBody,
} from "./context.ts";
import { streamEvents } from "./event-stream.ts";
import type { HostedSession } from "./hosted-session.ts";
import { sendPieces, startStream } from "./raw-response.ts";
import { type Fields, readBody, required } from "./read-body.ts";
import { assertRoomForSession } from "./tenant-limits.ts";

type Change = (session: Session, hosted: HostedSession) => Promise<void>;

/** How long a change waits for another node to release the session. */
const LOCKED_MS = 30_000;
const LIST_LIMIT = 50;
const MAX_LIST = 1000;

export function addSessionRoutes(app: App, parts: ServerParts): void {
  app.get("/api/sessions", async (c) => {
    const [behind, search] = [behindIn(c), textIn(c, "search")];
    const limit = Math.min(numberIn(c, "limit", 1) ?? LIST_LIMIT, MAX_LIST);
    return c.json(await hostOf(parts, c).list({ limit, behind, search }));
  });

  app.post("/api/sessions", async (c) => {
    const body = await readBody(c.env.incoming);
    const [id, model] = [body.text("id"), body.text("model")];
    body.done();
    await assertRoomForSession(parts.limits, storeOf(parts, c));
    const host = hostOf(parts, c);
    const hosted = await host.create(id);
    try {
      await hosted.create(model);
    } catch (error) {
      await host.discard(hosted);
      throw error;
    }
    return c.json(await hosted.state.now(), 201);
  });

  app.get("/api/sessions/:id", async (c) => c.json(await (await hostedOf(parts, c)).state.now()));

  app.delete("/api/sessions/:id", async (c) => {
    await hostOf(parts, c).remove(c.req.param("id"));
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
    return hosted.withSession("read", (session) => {
      const lines = linesOf(session.events({ after, path }));
      return sendPieces(c, "application/x-ndjson", lines, parts.limits.stuckMs);
    });
  });

  app.get("/api/sessions/:id/export", async (c) => {
    const hosted = await hostedOf(parts, c);
    const options = {
      format: textIn(c, "format") ?? "jsonl",
      reasoning: flagIn(c, "reasoning", true),
      redact: flagIn(c, "redact", false),
      store: storeOf(parts, c),
    };
    if (await hosted.withSession("read", (session) => session.lastSeq < 0))
      throw codedError("nothing_to_export", "the session has no messages yet, so there is nothing to export");
    const { mediaType, fileName, body } = await parts.exportSession(hosted.id, options);
    const name = fileName.replaceAll(/[^\w.-]/g, "_");
    c.env.outgoing.setHeader("content-disposition", `attachment; filename="${name}"`);
    return sendPieces(c, mediaType, body, parts.limits.stuckMs);
  });

  change("title", (body) => {
    const title = required("title", body.text("title"));
    return (session) => session.rename(title);
  });
  change("model", (body) => {
    const model = required("model", body.text("model"));
    return (_session, hosted) => hosted.chooseModel(model);
  });
  change("rules", (body) => {
    const rule = required("rule", body.text("rule"));
    const removed = body.flag("removed");
    return (session) => (removed === true ? session.disallow(rule) : session.allow(rule));
  });
  change("undo", () => (session) => session.undo());
  change("truncate", (body) => {
    const [keepTurns, from] = [body.number("keepTurns"), body.number("from")];
    body.done();
    if (keepTurns !== undefined && (!Number.isInteger(keepTurns) || keepTurns < 1)) {
      throw codedError("keep_turns_invalid", "keepTurns must be a whole number, 1 or more");
    }
    if (keepTurns !== undefined && from === undefined) return (session) => session.keepLastTurns(keepTurns);
    if (from !== undefined && keepTurns === undefined) return (session) => session.truncateFrom(from);
    throw codedError("field_invalid", "give either keepTurns or from");
  });
  change("checkout", (body) => {
    const to = required("to", body.number("to"));
    return (session) => session.checkout({ to });
  });
  change("compact", (body) => {
    const options = { instructions: body.text("instructions"), keepTurns: body.number("keepTurns") };
    return (session) => session.compact(options);
  });

  app.post("/api/sessions/:id/fork", async (c) => {
    const { hosted, body } = await withBody(parts, c);
    const options = { at: body.number("at"), id: body.text("id"), compacted: body.flag("compacted") };
    body.done();
    await assertRoomForSession(parts.limits, storeOf(parts, c));
    const child = await hosted.withSession("read", async (session) => {
      const made = await session.fork(options);
      await made.close(); // the host opens it like any other
      return made.id;
    });
    return c.json(await (await hostOf(parts, c).get(child)).state.now(), 201);
  });

  /** A change that answers with the resulting state of the session. */
  function change(name: string, read: (body: Fields) => Change): void {
    app.post(`/api/sessions/:id/${name}`, async (c) => {
      const { hosted, body } = await withBody(parts, c);
      const work = read(body);
      body.done();
      const waitMs = hosted.shared === undefined ? 0 : LOCKED_MS;
      await hosted.withSession("write", (session) => work(session, hosted), { waitMs });
      return c.json(await hosted.state.now());
    });
  }
}

/** `before=TIME,ID`: the last session of the previous page. */
function behindIn(c: RouteContext): ListOptions["behind"] {
  const text = textIn(c, "before");
  if (text === undefined) return undefined;
  const [, time = "", id = ""] = /^(\d{1,15}(?:\.\d{1,9})?),([\w-]{1,64})$/.exec(text) ?? [];
  if (id === "")
    throw codedError("parameter_invalid", "before must be TIME,ID of the last session already listed");
  return { modifiedAt: Number(time), id };
}

async function* linesOf(events: AsyncIterable<LoggedEvent>): AsyncGenerator<string> {
  for await (const event of events) yield `${toLine(event)}\n`;
}

/** Sent by a browser automatically when it reconnects. Anything but a number is ignored. */
function lastEventId(c: RouteContext): number | undefined {
  const text = c.req.header("last-event-id");
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
