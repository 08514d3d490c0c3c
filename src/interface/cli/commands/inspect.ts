/**
 * `throughline inspect`: shows what a session did, the exact request of any step, and why each item is in it. It only
 * reads, so it also works on a running session.
 */

import { Command, Option } from "commander";
// A static import, because bundled CommonJS does not offer its named exports to import().
import { stringify } from "yaml";

import { diffRequests, type RequestDiff } from "../../../base/api/index.ts";
import type { SessionParent, SubAgentSpent } from "../../../base/events/index.ts";
import { codedError, tryParseJson } from "../../../base/support/index.ts";
import { factsOf } from "../../../runtime/facts/index.ts";
import type { Log } from "../../../runtime/log/index.ts";
import {
  previewFromLog,
  rebuildRequest,
  type RebuiltRequest,
  type RequestPreview,
} from "../../../runtime/session/index.ts";
import { amount } from "../amount.ts";
import { EXIT } from "../exit-codes.ts";
import { ABOVE_ZERO, wholeNumber } from "../flag-numbers.ts";
import { inert, inertLine } from "../inert-text.ts";
import { eventNames, lostBefore } from "../lost-lines.ts";
import { type OpenEnd, openEndOf } from "../open-end.ts";
import { modelNamed } from "../project-model.ts";
import { type LastFlag, readSession, takesSession } from "../session-argument.ts";
import { seconds } from "../show-progress.ts";
import { takesStore } from "../store-flag.ts";
import type { Terminal } from "../terminal.ts";
import { rulesOf, type TimelineRequest, type TimelineRule, timelineOf } from "../timeline.ts";

interface InspectFlags extends LastFlag {
  readonly request?: string;
  readonly diff?: readonly string[];
  readonly preview?: boolean;
  readonly model?: string;
  readonly format: "text" | "json" | "yaml";
  readonly json?: boolean;
}

export function inspectCommand(terminal: Terminal, finish: (code: number) => void): Command {
  return takesStore(
    takesSession(new Command("inspect").description("Show what a session sent, and why each item was in it")),
  )
    .addOption(
      new Option(
        "--request <n>",
        "show the exact body of request n, rebuilt from the log and checked against its hash",
      ).conflicts(["diff", "preview"]),
    )
    .addOption(
      new Option("--diff <n...>", "compare two requests: --diff 2 3 shows what request 3 changed").conflicts(
        "preview",
      ),
    )
    .option("--preview", "show the next request without sending it")
    .option("-m, --model <provider/model[:effort]>", "with --preview: build the request for this model")
    .addOption(
      new Option("--format <form>", "output format").choices(["text", "json", "yaml"]).default("text"),
    )
    .option("--json", "same as --format json: print one JSON value")
    .addHelpText(
      "after",
      `
Examples:
  throughline inspect --last                  show the timeline of the last session of this directory
  throughline inspect s_1m7g --request 3      show the exact body of the third request
  throughline inspect s_1m7g --diff 2 3       show how the third request differs from the second
  throughline inspect --last --preview -m openai/gpt-5.6   show what a switch of model would send`,
    )
    .action(async (name: string | undefined, flags: InspectFlags) => {
      await readSession(name, flags, (log) => inspect(log, flags, terminal));
      finish(EXIT.ok);
    });
}

async function inspect(log: Log, flags: InspectFlags, terminal: Terminal): Promise<void> {
  const form = flags.json === true ? "json" : flags.format;
  const write = (text: string): void => void terminal.stdout.write(`${text}\n`);
  const print = (value: unknown, text: () => string): void => {
    if (form === "json") write(JSON.stringify(value, undefined, 2));
    else if (form === "yaml") write(stringify(value).trimEnd());
    else write(terminal.stdout.isTTY === true ? inert(text()) : text());
  };
  if (flags.request !== undefined) {
    const rebuilt = await rebuildRequest(log, wholeNumber("--request", flags.request, ABOVE_ZERO));
    print(requestView(rebuilt), () => requestText(rebuilt, lostBefore(log.events, rebuilt.start.seq)));
  } else if (flags.diff !== undefined) {
    const diff = await diffOf(log, flags.diff);
    print(diffView(diff), () => diffText(diff));
  } else if (flags.preview === true) {
    const preview = await previewFromLog(log, modelNamed(flags.model));
    print(previewView(preview), () => previewText(preview));
  } else {
    const open = await openEndOf(log);
    const turns = timelineOf(log.events);
    const rules = rulesOf(log.events);
    const { session, location } = log;
    const { parent } = factsOf(log.events.slice(0, 1));
    print({ session, location, parent, rules, turns }, () =>
      timelineText(
        [`session ${session} · ${location}`, ...parentLines(parent), ...rules.map(ruleLine)],
        turns,
        open,
      ),
    );
  }
}

function requestView(rebuilt: RebuiltRequest): object {
  const { request, start, proof, body, decisions } = rebuilt;
  return { request, seq: start.seq, proof, bodyHash: start.bodyHash, body: tryParseJson(body), decisions };
}

const PROOFS: Readonly<Record<RebuiltRequest["proof"], string>> = {
  same: "verified: these are the bytes that were sent",
  differs: "NOT verified: these are not the bytes that were sent",
  other_renderer: "not verifiable: another version rendered the request",
};

function requestText(rebuilt: RebuiltRequest, lost: readonly number[]): string {
  const { request, start, proof, body, decisions } = rebuilt;
  const proven =
    proof === "differs" && lost.length > 0
      ? `not verifiable: the log was repaired, and ${eventNames(lost)} before it ${lost.length === 1 ? "is" : "are"} lost`
      : PROOFS[proof];
  const head = `request ${request} → ${start.origin.provider}/${start.origin.model} · step ${start.step}, attempt ${start.attempt} · ${Buffer.byteLength(body)} bytes · ${proven}`;
  return [head, ...decisionLines(decisions), "", JSON.stringify(tryParseJson(body), undefined, 2)].join("\n");
}

function previewView({ bodyHash, body, decisions, violations }: RequestPreview): object {
  return { bodyHash, body: tryParseJson(body), decisions, violations };
}

function previewText({ body, items, decisions, violations }: RequestPreview): string {
  return [
    `the next request · ${amount(items.length, "item")} · ${Buffer.byteLength(body)} bytes`,
    ...decisionLines(decisions),
    ...(violations.length === 0
      ? ["  rules: all hold"]
      : violations.map((one) => `  rule ${one.rule}: ${one.message}`)),
    "",
    JSON.stringify(tryParseJson(body), undefined, 2),
  ].join("\n");
}

function decisionLines(decisions: RequestPreview["decisions"]): readonly string[] {
  return decisions.map(
    ({ seq, type, action, why }) =>
      `  ${String(seq).padStart(5)}  ${type.padEnd(18)} ${action.padEnd(10)} ${inertLine(why, 70)}`,
  );
}

async function diffOf(log: Log, pair: readonly string[]): Promise<RequestDiff> {
  const [first, second, ...more] = pair;
  if (first === undefined || second === undefined || more.length > 0) {
    throw codedError("diff_invalid", "--diff takes two request numbers: --diff 2 3");
  }
  const [from, to] = [wholeNumber("--diff", first, ABOVE_ZERO), wholeNumber("--diff", second, ABOVE_ZERO)];
  return diffRequests(await rebuildRequest(log, from), await rebuildRequest(log, to));
}

function diffView(diff: RequestDiff): object {
  const { removed, added } = diff;
  return { ...diff, removed: removed.map(tryParseJson), added: added.map(tryParseJson) };
}

function diffText({ from, to, sameItems, removed, added, changedFields }: RequestDiff): string {
  return [
    `request ${from} → ${to}: ${sameItems === 1 ? "the first item is" : `the first ${sameItems} items are`} the same`,
    ...(changedFields.length === 0 ? [] : [`changed fields: ${changedFields.join(", ")}`]),
    ...removed.map((item) => `- ${inertLine(item, 160)}`),
    ...added.map((item) => `+ ${inertLine(item, 160)}`),
  ].join("\n");
}

function timelineText(
  head: readonly string[],
  turns: ReturnType<typeof timelineOf>,
  open: OpenEnd | undefined,
): string {
  const lines = [...head];
  for (const { turn, seq, text, status, durationMs, usage, requests } of turns) {
    const cost =
      usage === undefined
        ? ""
        : ` · ↑${usage.inputTokens} (${usage.cachedTokens} cached) ↓${usage.outputTokens} (${usage.reasoningTokens} reasoning)`;
    const time = durationMs === undefined ? "" : ` · ${seconds(durationMs)}`;
    lines.push(
      "",
      `› ${inertLine(text, 90)}  [${seq}]`,
      ...requests.flatMap(requestLines),
      `  ${turn === open?.turn ? open.text : status}${time}${cost}`,
    );
  }
  return lines.join("\n");
}

function ruleLine({ rule, seq, allowed }: TimelineRule): string {
  const calls =
    allowed.length === 0 ? "no calls yet" : `calls ${allowed.map((one) => `[${one}]`).join(", ")}`;
  return `  allowed in this session: ${inertLine(rule, 600)}  [${seq}] · ${calls}`;
}

function requestLines(one: TimelineRequest): readonly string[] {
  const attempt = one.attempt === 1 ? "" : ` · attempt ${one.attempt}`;
  const time = one.durationMs === undefined || one.imported ? "" : ` · ${seconds(one.durationMs)}`;
  const imported = one.imported ? " · imported, nothing to rebuild" : "";
  return [
    ...(one.fallback === undefined ? [] : [`  ! ${inertLine(one.fallback, 400)}`]),
    `  request ${one.request} · step ${one.step}${attempt} · ${one.model} · ${one.status}${time}${imported}`,
    ...(one.error === undefined ? [] : [`    ! ${inertLine(one.error, 120)}`]),
    ...one.leftOut.map(
      ({ reason, items }) => `    left out: ${items} item${items === 1 ? "" : "s"} (${reason})`,
    ),
    ...one.tools.flatMap(({ name, status, durationMs, repaired, spent = [], rule }) => [
      `    ${status === "ok" ? "✓" : "✗"} ${name} · ${status}${durationMs === undefined ? "" : ` · ${durationMs} ms`}${rule === undefined ? "" : ` · allowed by ${inertLine(rule, 600)}`}`,
      ...(repaired === undefined ? [] : [`      repaired, ran with ${inertLine(repaired, 120)}`]),
      ...spent.map(subAgentLine),
    ]),
  ];
}

function subAgentLine({ session, usage, costUsd }: SubAgentSpent): string {
  const cost = costUsd === undefined ? "cost unknown" : `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`;
  return `      sub-agent session ${inertLine(session, 64)} · ↑${usage.inputTokens} ↓${usage.outputTokens} · ${cost}`;
}

/** A sub-agent's session names the call that it answers. */
function parentLines(parent: SessionParent | undefined): readonly string[] {
  if (parent === undefined) return [];
  const { session, seq, call } = parent;
  const from = `session ${inertLine(session, 64)}, event ${seq}`;
  return call === undefined ? [`forked from ${from}`] : [`sub-agent of ${from} (${inertLine(call, 64)})`];
}
