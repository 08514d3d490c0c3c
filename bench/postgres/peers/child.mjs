/**
 * What the writers of the takeover test share: the tool whose effect is counted, and the stop before it.
 *
 * @module
 */
import pg from "pg";

let effects;

/** The effect of the tool: a row in a table without any constraint, so that a second one is seen. */
export async function takeEffect(url, thread) {
  effects ??= new pg.Pool({ connectionString: url, max: 1 });
  await effects.query("insert into effects (thread, pid) values ($1, $2)", [thread, process.pid]);
}

/** Stops this process as a paused machine would: between two instructions, without a last word. */
export function stop() {
  process.kill(process.pid, "SIGSTOP");
}

/** What a writer learned at the end of its turn. */
export async function outcomeOf(work) {
  try {
    return { told: false, value: await work() };
  } catch (error) {
    return { told: true, value: `${error.code ?? error.name}: ${error.message}` };
  }
}

export const ANSWER_ONE = "The first answer.";
export const ANSWER_TWO = "The second answer.";
