/**
 * What must hold for every conversation that was played. Each check throws with the request it is about.
 *
 * @module
 */

import { expect } from "vitest";

import type { LoggedEvent, ResponseStart, Settings } from "../../src/base/events/index.ts";
import { Seal } from "../../src/emulator/seal.ts";
import { planOf } from "../../src/runtime/fold/index.ts";
import { type Exception, expectedOf, isSame } from "../support/oracle.ts";
import { onPath, type Played, type Sent, sha256 } from "../support/play.ts";
import { MODELS, practiceModel } from "../support/practice-models.ts";
import { ciphertextsOf, inputTexts, isRecord, memberOf, modelOf } from "../support/request-body.ts";
import type { Tally } from "../support/runs.ts";

const PLAIN = MODELS.plain.id;

/** (a) Accepted, or refused because of an injected fault and then healed in the same step. */
export function everyRequestIsAccepted({ sent, logs }: Played, tally: Tally): void {
  let rotated = false;
  let lost = false;
  for (const [index, one] of sent.entries()) {
    const report = one.exchange?.report;
    tally.add("requests");
    if (report === undefined || report === null) {
      tally.add("requests: cancelled before they arrived");
      continue;
    }
    rotated ||= report.faults.includes("rotate-key");
    tally.add(`requests: ${report.verdict}`);
    if (report.verdict === "refused") {
      const rule = report.rule ?? "";
      tally.add(`refusals by rule: ${rule}`);
      const injected =
        (rotated && rule === "E01") ||
        (lost && ["P02", "P03", "P04"].includes(rule)) ||
        (modelOf(one.body) === PLAIN && ["E11", "S08"].includes(rule));
      expect(injected, `refused by ${rule}: ${report.message ?? ""}\n${one.body}`).toBe(true);
      const known = one.events.some(
        (event) =>
          event.type === "replay_override" &&
          isSame(event.target, startOf(one).origin) &&
          event.cause.message === report.message,
      );
      expect(known, `refused again for what the log has a correction of: ${report.message ?? ""}`).toBe(
        false,
      );
      expect(isHealed(one, sent.slice(index + 1), logs), `not healed: ${report.message ?? ""}`).toBe(true);
    }
    // The item's own event is dropped and the terminal event lists none, so its existence cannot be known.
    const { faults } = report;
    lost ||=
      faults.includes("drop-event") && (faults.includes("missing-output") || faults.includes("empty-output"));
  }
  for (const event of logs.flat()) {
    if (event.type !== "response_end") continue;
    expect(event.error?.code, event.error?.message ?? "").not.toBe("rule_violation");
  }
}

/** Another attempt of the same step followed, unless the user stopped the turn or the process died. */
function isHealed(refused: Sent, later: readonly Sent[], logs: Played["logs"]): boolean {
  const { turn, step } = startOf(refused);
  const again = later.some((one) => startOf(one).turn === turn && startOf(one).step === step);
  const stopped = logs
    .flat()
    .some((event) => event.type === "turn_end" && event.turn === turn && event.status === "cancelled");
  return again || stopped;
}

/** A turn fails only because of the network or the provider, never because of our history. */
export function noTurnFailsForItsHistory({ turns, logs, sent }: Played, tally: Tally): void {
  for (const { status } of turns) tally.add(`turns: ${status}`);
  for (const log of logs) {
    for (const event of log) {
      if (event.type !== "turn_end" || event.status !== "failed") continue;
      const end = log.findLast((other) => other.type === "response_end" && other.turn === event.turn);
      const error = end?.type === "response_end" ? end.error : undefined;
      const body = sent.find((one) => one.response === end?.response)?.body ?? "";
      // An injected invalid_encrypted_content on a request that has no payload at all cannot be healed.
      if (error?.class === "CRYPT" && ciphertextsOf(body).length === 0) continue;
      expect(["RATE", "TRUNC"], `${error?.code}: ${error?.message}`).toContain(error?.class);
    }
  }
}

/** (b) By the log: every thought of the target's own is in the request, in order, unless a listed rule omits it. */
export function everyThoughtIsSent({ sent }: Played, tally: Tally): void {
  for (const one of sent) {
    const { settings, groups } = expectedOf(one.events.slice(0, -1));
    const thoughts = groups.flatMap(({ reasoning }) => reasoning);
    const due = thoughts
      .filter(({ exception }) => exception === undefined)
      .map(({ ciphertext }) => ciphertext);
    const carried = ciphertextsOf(one.body);
    for (const { exception } of thoughts) if (exception !== undefined) tally.add(`omitted, ${exception}`);
    tally.add("thoughts due", due.length);
    tally.add("thoughts sent", carried.length);
    if (typeof settings.replay === "object" && settings.profile.prefixBound) {
      // Each older one that the cap drops changes the prefix of the newer ones: few are left, and in order.
      expect(due.filter((thought) => carried.includes(thought ?? ""))).toEqual(carried);
      tally.add("omitted, replay policy", due.length - carried.length);
    } else if (typeof settings.replay === "object") {
      expect(carried.length).toBeLessThanOrEqual(settings.replay.maxItems);
      expect(due.slice(due.length - carried.length)).toEqual(carried);
      tally.add("omitted, replay policy", due.length - carried.length);
    } else if (settings.profile.prefixBound) {
      // From the first one whose prefix changed, all later ones are omitted.
      expect(due.slice(0, carried.length)).toEqual(carried);
      const changed = one.events.some((event) => mayBreak(event, startOf(one)));
      if (!changed) expect(carried, "its prefix has not changed").toEqual(due);
      tally.add("omitted, prefix-bound target: its prefix has changed", due.length - carried.length);
    } else {
      expect(carried).toEqual(due);
    }
  }
}

const seal = new Seal({ secret: "throughline emulator: a public secret" });

/** (b) By what the emulator issued: recall is 100 %, and any missing item is missing by a listed rule. */
export function recallIsWhole({ sent }: Played, tally: Tally): void {
  const responses = new Map(sent.map((one) => [one.exchange?.report?.responseId ?? "", one.response]));
  for (const one of sent) {
    const report = one.exchange?.report;
    if (report?.verdict !== "accepted") continue;
    tally.add("issued: would have been accepted", report.acceptable.length);
    tally.add("issued: missing", report.missing.length);
    if (report.missing.length === 0) continue;
    const { settings, groups } = expectedOf(one.events.slice(0, -1));
    for (const id of report.missing) {
      const place = seal.readId(id);
      const response = responses.get(place === undefined ? "" : seal.responseId(place.uid, place.at));
      const group = groups.find((other) => other.response === response);
      const thought = group?.reasoning.find(({ outputIndex }) => outputIndex === place?.index);
      const rule =
        group === undefined
          ? sameWords(one.body)
          : thought === undefined
            ? "the item was lost on the wire"
            : (thought.exception ?? whole(settings));
      expect(
        rule,
        `${id} of ${String(response)} is missing without a rule\n${describe(one.events)}`,
      ).toBeDefined();
      tally.add(`issued: missing, ${String(rule)}`);
    }
  }
}

/**
 * A response that is not on the active path, or never ended for us, has the same text as one that is. If messages are
 * sent without ids the emulator cannot tell them apart; `everyThoughtIsSent` can, by the log.
 */
function sameWords(body: string): string | undefined {
  const idless = inputTexts(body).some(
    (text) => memberOf(text, "role") === "assistant" && memberOf(text, "id") === undefined,
  );
  return idless ? "same text as a response that is not on the active path" : undefined;
}

/** Rules about the history as a whole; `everyThoughtIsSent` limits what they may omit. */
function whole(settings: Settings): Exception | undefined {
  if (typeof settings.replay === "object") return "replay policy";
  return settings.profile.prefixBound ? "prefix-bound target: its prefix has changed" : undefined;
}

/** (c) Every item that goes home is, field by field, the exact text that the emulator sent. */
export function itemsGoBackVerbatim({ sent, exchanges }: Played, tally: Tally): void {
  const done = new Map<string, Readonly<Record<string, unknown>>[]>();
  const terminal = new Map<string, Readonly<Record<string, unknown>>[]>();
  const note = (map: typeof done, item: unknown): void => {
    if (!isRecord(item)) return;
    for (const key of [item["encrypted_content"], item["id"]]) {
      if (typeof key === "string") map.set(key, [...(map.get(key) ?? []), item]);
    }
  };
  const unfinished = new Set<string>();
  for (const { events } of exchanges) {
    const completed = events.some((event) => event["type"] === "response.completed");
    for (const event of events) {
      const own = event["item"];
      if (!completed && isRecord(own) && typeof own["encrypted_content"] === "string")
        unfinished.add(own["encrypted_content"]);
      if (event["type"] === "response.output_item.done") note(done, event["item"]);
      if (event["type"] !== "response.completed" || !isRecord(event["response"])) continue;
      const { output } = event["response"];
      if (Array.isArray(output)) for (const item of output) note(terminal, item);
    }
  }
  for (const { body } of sent) {
    for (const text of inputTexts(body)) {
      const payload = memberOf(text, "encrypted_content");
      const key = typeof payload === "string" ? payload : memberOf(text, "id");
      if (typeof key !== "string") continue;
      const id = memberOf(text, "id");
      const issued = [...(done.get(key) ?? []), ...(terminal.get(key) ?? [])].map((item) =>
        exactText(item, text),
      );
      expect(issued, `never issued: ${text}`).not.toEqual([]);
      expect(issued, `not as it was issued: ${text}`).toContain(text);
      if (typeof payload !== "string") continue;
      expect(unfinished.has(payload), `of a response that never completed: ${text}`).toBe(false);
      tally.add("payloads compared byte for byte");
      // The terminal event's payload differs from the item's own (E08): it counts only if there was no other.
      if (done.get(key) === undefined && typeof id === "string") {
        const earlier = (done.get(id) ?? []).filter((item) => typeof item["encrypted_content"] === "string");
        expect(earlier, `the terminal event's payload instead of the item's own: ${text}`).toEqual([]);
        tally.add("payloads that only the terminal event delivered");
      }
    }
  }
}

/** The issued item with only the fields that were sent, in its own order. */
function exactText(item: Readonly<Record<string, unknown>>, sentText: string): string {
  const members = Object.entries(item)
    .filter(([key]) => memberOf(sentText, key) !== undefined)
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return `{${members.join(",")}}`;
}

/** One call is one call with one start, however often the stream shows it. */
export function callsAreWhatWasMade({ sent, logs }: Played, tally: Tally): void {
  for (const { response, exchange } of sent) {
    const made = new Set<unknown>();
    const note = (item: unknown): void => {
      if (isRecord(item) && item["call_id"] !== undefined) made.add(item["call_id"]);
    };
    for (const event of exchange?.events ?? []) {
      note(event["item"]);
      const object = event["response"];
      if (isRecord(object) && Array.isArray(object["output"]))
        for (const item of object["output"]) note(item);
    }
    for (const log of logs) {
      const own = log.filter((event) => event.response === response);
      const count = (type: LoggedEvent["type"]): number => own.filter((event) => event.type === type).length;
      expect(count("tool_call"), `calls of ${response}`).toBeLessThanOrEqual(made.size);
      expect(count("tool_result"), `results of ${response}`).toBeLessThanOrEqual(made.size);
      tally.add("calls counted", count("tool_call"));
    }
  }
}

/** (d) A step's input starts with the input of the step before it, unless an event in between may change it. */
export function prefixIsStable({ sent }: Played, tally: Tally): void {
  const byResponse = new Map(sent.map((one) => [one.response, one]));
  for (const one of sent) {
    const own = startOf(one);
    const settings = expectedOf(one.events.slice(0, -1)).settings;
    if (settings.replay !== "all" && settings.replay !== "none") continue;
    const before = one.events.findLast(
      (event): event is ResponseStart =>
        event.type === "response_start" && event.seq < own.seq && isSame(event.origin, own.origin),
    );
    const previous = before === undefined ? undefined : byResponse.get(before.response);
    if (before === undefined || previous === undefined) continue;
    const between = one.events.filter((event) => event.seq > before.seq && event.seq < own.seq);
    const broken = between.find((event) => mayBreak(event, own));
    if (broken !== undefined) {
      tally.add(`prefix: not compared, ${broken.type} between`);
      continue;
    }
    const texts = inputTexts(previous.body);
    expect(inputTexts(one.body).slice(0, texts.length)).toEqual(texts);
    tally.add("prefix: compared and stable");
  }
}

/** Settings may change the model and its effort, but one origin's input stays the same. */
function mayBreak(event: LoggedEvent, own: ResponseStart): boolean {
  return (
    event.type === "branch" ||
    event.type === "compaction" ||
    (event.type === "replay_override" && isSame(event.target, own.origin))
  );
}

/** Any past request can be rebuilt from the log alone, and its hash is that of the bytes that were sent. */
export function requestsCanBeRebuilt({ sent, baseUrl }: Played): void {
  for (const one of sent) {
    const start = startOf(one);
    expect(start.bodyHash).toBe(sha256(one.body));
    const plan = planOf(one.events.slice(0, -1));
    const [first] = one.events;
    if (plan === undefined || first?.type !== "session_start") throw new Error("a request without a session");
    const rendered = practiceModel("home", baseUrl)
      .createRenderer()
      .render(plan, { cacheKey: first.root, blob: () => undefined });
    expect(Buffer.concat(rendered.body).toString("utf8")).toBe(one.body);
    expect(rendered.prefixHash).toBe(start.prefixHash);
  }
}

function startOf(sent: Sent): ResponseStart {
  const event = sent.events.at(-1);
  if (event?.type !== "response_start" || event.response !== sent.response)
    throw new Error("the request was sent before its response_start was in the log");
  return event;
}

function describe(events: readonly LoggedEvent[]): string {
  return onPath(events)
    .map((event) => `${event.seq} ${event.type} ${event.response ?? ""}`)
    .join("\n");
}
