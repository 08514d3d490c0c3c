/**
 * The answer to the question of a running tool, wherever its turn runs. If another node holds the session, the answer
 * goes through the store's inbox. What the person typed is in that row until the holder has taken it, and nowhere else.
 */

import { type ElicitationAnswer, elicitationOf, readElicitationAnswer } from "../../base/events/index.ts";
import { codedError, isObject } from "../../base/support/index.ts";
import type { Command, SharedStore } from "../../runtime/log/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import { EFFECT_MS, takesCommands, unconfirmed } from "./commands.ts";
import type { HostedSession } from "./hosted-session.ts";
import { untilSeen } from "./turn-commands.ts";

/** An answer of a client. The session checks it. */
export interface Answer {
  readonly request: string;
  readonly answer: ElicitationAnswer;
}

/** A kind that the table knows: a node of an earlier version takes the row, finds no decision in it, and removes it. */
function answerCommand({ request, answer }: Answer): Command {
  return { key: `answer:${request}`, kind: "decide", body: { elicitation: request, answer } };
}

/** Undefined if the body is not an answer to the question of a tool. */
export function answerIn({ kind, body }: Command): Answer | undefined {
  const { elicitation, answer } = body;
  if (kind !== "decide" || typeof elicitation !== "string" || !isObject(answer)) return undefined;
  return { request: elicitation, answer: answer as unknown as ElicitationAnswer };
}

export function giveAnswer(session: Session, { request, answer }: Answer): Promise<void> {
  return session.answer(request, answer);
}

/** Resolves once the log has the answer. */
export async function answerCall(hosted: HostedSession, answer: Answer): Promise<void> {
  try {
    await hosted.whereItRuns((session) => giveAnswer(session, answer));
  } catch (error) {
    const { shared } = hosted;
    if (shared === undefined || !(await takesCommands(error, shared, hosted.id))) throw error;
    await answerElsewhere(hosted, shared, answer);
  }
}

async function answerElsewhere(hosted: HostedSession, shared: SharedStore, given: Answer): Promise<void> {
  const { request } = given;
  const asked = await hosted.withSession("read", async (session) =>
    (await hosted.factsOf(session)).elicitations.find(({ requestId }) => requestId === request),
  );
  // Without a holder no tool runs, so nothing waits for the answer.
  if (asked === undefined || (await shared.holderOf(hosted.id)).holder === undefined) throw over(request);
  const read = readElicitationAnswer(elicitationOf(asked), given.answer);
  if (!read.ok) throw codedError("elicitation_invalid", `${read.problem}. The question is still open`);
  const { holder } = await shared.admitCommand(hosted.id, answerCommand({ request, answer: read.value }));
  const found = await untilSeen(hosted, AbortSignal.timeout(EFFECT_MS), async () => {
    const logged = await actionInLog(hosted, request, asked.seq);
    return { found: logged, last: logged };
  });
  if (found === undefined) throw unconfirmed(holder);
  if (found !== read.value.action) throw over(request);
}

function over(request: string): Error {
  return codedError(
    "elicitation_not_pending",
    `no question "${request}" is waiting: it was already answered, or its call has ended`,
  );
}

async function actionInLog(
  hosted: HostedSession,
  request: string,
  after: number,
): Promise<ElicitationAnswer["action"] | undefined> {
  return hosted.withSession("read", async (session) => {
    for await (const event of session.events({ after }))
      if (event.type === "elicitation_answer" && event.requestId === request) return event.action;
    return undefined;
  });
}
