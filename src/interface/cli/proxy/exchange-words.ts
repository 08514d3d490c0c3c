/** An exchange of the proxy as one line for people. Its texts come from clients and providers, so they are made inert. */

import type { ExchangeLine } from "../../../proxy/relay/index.ts";
import { amount } from "../amount.ts";
import { inertLine } from "../inert-text.ts";

const DIALECTS: Readonly<Record<string, string>> = {
  "openai-responses": "responses",
  "anthropic-messages": "messages",
  "openai-chat": "chat",
};

/** `openai/responses gpt-5 200 put back 2 (was 1 of 3, now 3 of 3) 812 ms` */
export function exchangeText(line: ExchangeLine): string {
  const { route, path, dialect, model, status, durationMs } = line;
  const what = dialect === undefined ? inertLine(path, 60) : (DIALECTS[dialect] ?? dialect);
  const answer = status === 0 ? "" : ` ${status}`;
  return `${inertLine(route, 40)}/${what} ${inertLine(model ?? "-", 60)}${answer} ${deedOf(line)} ${durationMs} ms`;
}

/** What the proxy did, and what became of it. */
function deedOf(line: ExchangeLine): string {
  const { outcome, status, refusals } = line;
  const note = inertLine(line.note ?? "", 200);
  if (outcome === "unread" || status === 0) return `not read: ${note}`;
  if (outcome === "failed-open") return `passed on as it came: ${note}`;
  if (outcome === "refused") return `refused: ${note}`;
  const deeds = [...putBack(line), ...refusalsOf(line)];
  // The proxy's own statuses: the client left, or the provider cannot be reached.
  if (status === 499 || status === 502) deeds.unshift("failed");
  if (deeds.length === 0) deeds.push(outcome === "observed" ? "observed" : "passed");
  if (note !== "") deeds.push(note);
  return refusals.length === 0 && deeds[0] === "failed" ? deeds.join(": ") : deeds.join(", ");
}

function putBack({ outcome, restored, carried, restorable, decisions }: ExchangeLine): readonly string[] {
  if (outcome === "observed") {
    const lost = decisions
      .filter(({ what }) => what === "put back" || what === "replaced")
      .reduce((sum, { thoughts }) => sum + thoughts, 0);
    return lost === 0 ? [] : [`observed: would put back ${lost} (is ${carried} of ${restorable})`];
  }
  return restored === 0
    ? []
    : [`put back ${restored} (was ${carried} of ${restorable}, now ${carried + restored} of ${restorable})`];
}

function refusalsOf({ outcome, refusals, attempts }: ExchangeLine): readonly string[] {
  const last = refusals.at(-1);
  if (last === undefined) return [];
  const healed = outcome === "healed";
  const why = `(${inertLine(last.class, 40)}: ${inertLine((healed ? last.repair : undefined) ?? last.message, 120)})`;
  const count = amount(refusals.length, "refusal");
  if (healed) return [`healed after ${count} ${why}`];
  return attempts > 1 ? [`not healed after ${count} ${why}`] : [`refused by the provider ${why}`];
}

/** `14:03:12`, by the clock of this machine. */
export function timeText(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(":");
}

/** `2026-08-31 14:03:12`, by the clock of this machine. */
export function dateText(at: number): string {
  const date = new Date(at);
  const day = [date.getFullYear(), twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join("-");
  return `${day} ${timeText(at)}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}
