/**
 * Turns: start, ask about, stop, and answer their questions. A turn belongs to the session, not to the request that
 * started it: a client that goes away stops nothing.
 */

import { setTimeout as sleep } from "node:timers/promises";

import type {
  HandleSendOptions,
  Input,
  Turn,
  TurnOptions,
  TurnResult,
  TurnState,
} from "../../base/api/index.ts";
import { NO_USAGE } from "../../base/events/index.ts";
import { codedError, onAbort } from "../../base/support/index.ts";
import type { TurnFacts } from "../../runtime/facts/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import { type App, hostedOf, numberIn, type ServerParts } from "./context.ts";
import type { HostedSession } from "./hosted-session.ts";
import { type Fields, readBody, required } from "./read-body.ts";

const MAX_WAIT_SECONDS = 30;

export function addTurnRoutes(app: App, parts: ServerParts): void {
  starts("turns", (body) => {
    const input = required("input", body.any("input")) as Input; // the session judges it
    const options: HandleSendOptions = {
      ...turnOption(body),
      model: body.text("model"),
      effort: body.text("effort"),
      output: body.object("output"),
      whenBusy: body.choice("whenBusy", ["queue", "reject"]),
    };
    return (session) => session.send(input, options);
  });
  starts("resume", () => (session) => session.resume({ keepEvents: false }));
  starts("retry", (body) => {
    const options = { ...turnOption(body), from: body.choice("from", ["message"]) };
    return (session) => session.retry(options);
  });
  starts("edit", (body) => {
    const seq = required("seq", body.number("seq"));
    const input = required("input", body.any("input")) as Input;
    const options = turnOption(body);
    return (session) => session.edit(seq, input, options);
  });

  app.get("/api/sessions/:id/turns/:turn", async (c) => {
    const hosted = await hostedOf(parts, c);
    const turn = c.req.param("turn");
    const wait = Math.min(numberIn(c, "wait") ?? 0, MAX_WAIT_SECONDS);
    if (wait > 0) await endedWithin(hosted, turn, wait, c.req.raw.signal);
    return c.json(await turnState(hosted, turn));
  });

  app.post("/api/sessions/:id/cancel", async (c) => {
    const hosted = await hostedOf(parts, c);
    const body = await readBody(c.env.incoming);
    const turn = body.text("turn");
    body.done();
    if (turn === undefined) await hosted.withSession("read", (session) => session.cancel());
    else if (!hosted.turns.cancel(turn)) await turnState(hosted, turn); // an old one is over; an unknown one is an error
    return c.json({ cancelled: true });
  });

  app.post("/api/sessions/:id/permissions/:request", async (c) => {
    const hosted = await hostedOf(parts, c);
    const body = await readBody(c.env.incoming);
    const decision = required("decision", body.choice("decision", ["allow", "deny"]));
    const reason = body.text("reason");
    const argumentsHash = body.text("argumentsHash");
    body.done();
    const request = c.req.param("request");
    await hosted.withSession("read", (session) =>
      decision === "allow" ? session.approve(request, { argumentsHash }) : session.deny(request, reason),
    );
    return c.json({ decision });
  });

  function starts(name: string, read: (body: Fields) => (session: Session) => Turn): void {
    app.post(`/api/sessions/:id/${name}`, async (c) => {
      const hosted = await hostedOf(parts, c);
      const body = await readBody(c.env.incoming);
      const start = read(body);
      const id = body.text("turn");
      body.done();
      const known = id === undefined ? undefined : hosted.turns.view(id);
      if (known !== undefined) return c.json(known, 202); // sent a second time: nobody knew whether it had come through
      hosted.turns.assertRoom();
      return c.json(await hosted.withSession("write", (session) => hosted.turns.add(start(session))), 202);
    });
  }
}

/** Whoever looks follows the session: the turn's own list of events would be a second one, deltas and all. */
function turnOption(body: Fields): Pick<TurnOptions, "turn" | "keepEvents"> {
  return { turn: body.text("turn"), keepEvents: false };
}

async function endedWithin(
  hosted: HostedSession,
  turn: string,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  const forget = onAbort(signal, stop);
  try {
    await Promise.race([
      hosted.turns.ended(turn),
      sleep(seconds * 1000, undefined, { signal: over.signal, ref: false }).catch(() => undefined),
    ]);
  } finally {
    forget();
    stop();
  }
}

/** As this server ran it, or from the log: a turn of before it was started, or of another process. */
async function turnState(hosted: HostedSession, turn: string): Promise<TurnState> {
  return (
    hosted.turns.view(turn) ??
    (await hosted.withSession("read", async (session) => {
      const found = (await hosted.factsOf(session)).turns.get(turn);
      if (found === undefined) throw codedError("turn_unknown", "there is no such turn in this session");
      const { firstSeq, lastSeq, end } = found;
      if (end === undefined && session.writer === "live") return { turn, state: "running", firstSeq };
      return { turn, state: "done", firstSeq, result: resultOf(found), lastSeq };
    }))
  );
}

function resultOf({ end, text }: TurnFacts): TurnResult {
  if (end === undefined) return { status: "interrupted", text, usage: NO_USAGE, steps: 0 };
  const { status, reason, error, usage, steps } = end;
  return { status, text, usage, steps, reason, error };
}
