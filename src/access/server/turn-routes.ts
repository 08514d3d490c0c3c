/**
 * Turns: start, query and cancel them, and answer their questions. A turn belongs to the session, not to the request
 * that started it: a client that disconnects stops nothing.
 */

import type { Input, TurnState } from "../../base/api/index.ts";
import type { ElicitationAnswer } from "../../base/events/index.ts";
import { codedError, onAbort } from "../../base/support/index.ts";
import { answerCall } from "./answer-command.ts";
import { type App, hostedOf, numberIn, type ServerParts, withBody } from "./context.ts";
import type { HostedSession } from "./hosted-session.ts";
import { type Fields, required } from "./read-body.ts";
import { cancelTurn, decideCall, turnEnded } from "./turn-commands.ts";
import { acceptTurn, resumeTurn, turnState } from "./turn-promises.ts";
import type { TurnRequest } from "./turn-request.ts";
import { withdrawTurn } from "./withdraw-turn.ts";

const MAX_WAIT_SECONDS = 30;

export function addTurnRoutes(app: App, parts: ServerParts): void {
  accepts("turns", (body) => ({
    kind: "send",
    input: required("input", body.any("input")) as Input, // the session validates it
    model: body.text("model"),
    effort: body.text("effort"),
    output: body.object("output"),
    whenBusy: body.any("whenBusy") === "steer" ? "steer" : undefined,
  }));
  accepts("retry", (body) => ({
    kind: "retry",
    from: body.choice("from", ["message"]),
    output: body.object("output"),
  }));
  accepts("edit", (body) => ({
    kind: "edit",
    seq: required("seq", body.number("seq")),
    input: required("input", body.any("input")) as Input,
    output: body.object("output"),
  }));

  app.post("/api/sessions/:id/resume", async (c) => {
    const { hosted, body } = await withBody(parts, c);
    const [turn, output] = [body.text("turn"), body.object("output")];
    body.done();
    return c.json(await resumeTurn(hosted, { turn, output }), 202);
  });

  app.get("/api/sessions/:id/turns/:turn", async (c) => {
    const hosted = await hostedOf(parts, c);
    const turn = c.req.param("turn");
    const wait = Math.min(numberIn(c, "wait") ?? 0, MAX_WAIT_SECONDS);
    if (wait === 0) return c.json(await turnState(hosted, turn));
    return c.json(await endedWithin(hosted, turn, wait * 1000, c.req.raw.signal));
  });

  app.post("/api/sessions/:id/cancel", async (c) => {
    const { hosted, body } = await withBody(parts, c);
    const turn = body.text("turn");
    body.done();
    await cancelTurn(hosted, turn);
    return c.json({ cancelled: true });
  });

  app.post("/api/sessions/:id/turns/:turn/withdraw", async (c) => {
    const { hosted, body } = await withBody(parts, c);
    body.done();
    return c.json({ input: await withdrawTurn(hosted, c.req.param("turn")) });
  });

  app.post("/api/sessions/:id/permissions/:request", async (c) => {
    const { hosted, body } = await withBody(parts, c);
    const decision = required("decision", body.choice("decision", ["allow", "deny"]));
    const reason = body.text("reason");
    const argumentsHash = body.text("argumentsHash");
    const forSession = body.flag("forSession");
    body.done();
    if (decision === "deny" && forSession === true)
      throw codedError("field_invalid", "forSession: only an answer that allows the call can add a rule");
    const request = c.req.param("request");
    await decideCall(hosted, { request, decision, reason, argumentsHash, forSession });
    return c.json({ decision });
  });

  app.post("/api/sessions/:id/elicitations/:request", async (c) => {
    const { hosted, body } = await withBody(parts, c);
    const action = required("action", body.choice("action", ["accept", "decline", "cancel"]));
    const content = body.object("content");
    body.done();
    // The session checks the values against the form that it has asked.
    const answer = (content === undefined ? { action } : { action, content }) as ElicitationAnswer;
    await answerCall(hosted, { request: c.req.param("request"), answer });
    return c.json({ action });
  });

  function accepts(name: string, read: (body: Fields) => TurnRequest): void {
    app.post(`/api/sessions/:id/${name}`, async (c) => {
      const { hosted, body } = await withBody(parts, c);
      const request = read(body);
      const options = {
        turn: body.text("turn"),
        whenBusy: name === "turns" ? body.choice("whenBusy", ["queue", "reject", "steer"]) : undefined,
      };
      body.done();
      return c.json(await acceptTurn(hosted, request, options), 202);
    });
  }
}

async function endedWithin(
  hosted: HostedSession,
  turn: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<TurnState> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  const timer = setTimeout(stop, waitMs).unref();
  const forget = onAbort(signal, stop);
  try {
    return await turnEnded(hosted, turn, over.signal);
  } finally {
    forget();
    clearTimeout(timer);
  }
}
