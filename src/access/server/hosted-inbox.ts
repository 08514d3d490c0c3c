/**
 * What a node does with a session that it has just acquired, or to which another node admitted something: it goes on
 * with the turn of a dead node, and carries out commands. Only on a store that several machines share.
 */

import { type Clock, codeOf, messageOf } from "../../base/support/index.ts";
import type { SessionFacts } from "../../runtime/facts/index.ts";
import type { Command, SharedStore, Waiting } from "../../runtime/log/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import { answerIn, giveAnswer } from "./answer-command.ts";
import { cancelledTurn, decide, type Decision, decisionIn, EFFECT_MS } from "./commands.ts";
import type { HostedTurns } from "./hosted-turns.ts";
import { withdrawnTurn } from "./withdraw-turn.ts";

/** `resume` goes on with the turn, `close` ends it as interrupted, `leave` waits for a person. */
export type OnNodeLoss = "resume" | "close" | "leave";

export interface HostedInboxParts {
  readonly id: string;
  readonly shared: SharedStore;
  readonly turns: HostedTurns;
  readonly waiting: Waiting;
  readonly factsOf: (session: Session) => Promise<SessionFacts>;
  readonly clock: Clock;
  readonly onNodeLoss: OnNodeLoss;
  readonly problem: (message: string) => void;
}

/** A turn that ended this many nodes in a row is not resumed again: it may be what ends them. */
const MOST_TAKEOVERS = 3;
/** How long to wait before answering a question again that a resumed turn has not asked yet. */
const AGAIN_MS = 100;

export class HostedInbox {
  readonly #parts: HostedInboxParts;
  readonly #carrying = new Set<string>();

  constructor(parts: HostedInboxParts) {
    this.#parts = parts;
  }

  /** Decides what becomes of the turn that a dead node left open. */
  async goOn(session: Session): Promise<void> {
    const { id, shared, turns, onNodeLoss, problem, factsOf } = this.#parts;
    if (!session.interrupted) return;
    const { parent, openTurn } = await factsOf(session);
    if (parent?.call !== undefined) return; // a sub-agent's session: the turn of its caller goes on with it
    const isCancelled = await this.#isCancelled(openTurn);
    try {
      if (isCancelled) {
        const turn = session.resume({ bufferEvents: false });
        turns.add(turn);
        turn.cancel(); // before it can do anything
      } else if (session.takeovers > MOST_TAKEOVERS)
        await session.closeInterrupted(
          "turn_abandoned",
          `${MOST_TAKEOVERS} nodes ended while running this turn, so it was given up. Send a message to continue`,
        );
      else if (onNodeLoss === "resume") turns.add(session.resume({ bufferEvents: false }));
      else if (onNodeLoss === "close")
        await session.closeInterrupted("node_lost", "the node that ran this turn is gone");
      else await shared.rest(id);
    } catch (error) {
      problem(`the open turn of session "${id}" cannot go on: ${messageOf(error)}`);
      await shared.rest(id); // other nodes could not either, and would try without end
    }
  }

  /** The cancel may have been acknowledged, and its turn had begun when its node died. */
  async #isCancelled(turn: string | undefined): Promise<boolean> {
    const { waiting } = this.#parts;
    if ((await this.commands()).some((command) => cancelledTurn(command) === turn)) return true;
    return (await waiting.list()).some((one) => one.turn === turn && one.cancelled);
  }

  /** Read before the waiting turns: from then on the inbox counts as seen, and what is admitted later is heard of. */
  commands(): Promise<readonly Command[]> {
    const { shared, id } = this.#parts;
    return shared.commands(id);
  }

  /** Nobody waits for them: a turn that is cancelled may take its time. */
  carryOut(session: Session, commands: readonly Command[]): void {
    for (const command of commands) void this.#carryOut(session, command);
  }

  /** A command that cannot be carried out is no longer needed: its sender looks at the log. */
  async #carryOut(session: Session, command: Command): Promise<void> {
    if (this.#carrying.has(command.key)) return;
    this.#carrying.add(command.key);
    const { id, shared, problem } = this.#parts;
    try {
      const decision = decisionIn(command);
      const turn = cancelledTurn(command);
      const answer = answerIn(command);
      if (decision !== undefined) await this.#decide(session, decision);
      if (answer !== undefined) await giveAnswer(session, answer);
      if (turn !== undefined) await this.#cancel(session, turn);
      const withdrawn = withdrawnTurn(command);
      if (withdrawn !== undefined) await this.#parts.turns.withdraw(session, withdrawn);
    } catch {
      // The question was already answered, or the turn has ended.
    }
    try {
      if (session.writer === "live") await shared.settleCommands(id, [command.key]);
    } catch (error) {
      problem(messageOf(error)); // the next holder finds it again, and the log has its effect
    } finally {
      this.#carrying.delete(command.key);
    }
  }

  async #cancel(session: Session, turn: string): Promise<void> {
    const { turns, factsOf } = this.#parts;
    if (await turns.cancel(turn)) return;
    if ((await factsOf(session)).openTurn === turn) await session.cancel();
  }

  async #decide(session: Session, decision: Decision): Promise<void> {
    const { clock } = this.#parts;
    const until = clock.monotonic() + EFFECT_MS;
    for (;;) {
      try {
        return await decide(session, decision);
      } catch (error) {
        const mayAskAgain = codeOf(error) === "permission_not_pending" && session.busy;
        if (!mayAskAgain || clock.monotonic() >= until) throw error;
        await clock.sleep(AGAIN_MS);
      }
    }
  }
}
