/**
 * Handles a request that makes the model answer, in any dialect: from its text to the wire answer, with an entry for
 * the report. Faults → key → read → judge → scenario or model → compose.
 */

import { refuse, type ApiRefusal } from "./api-refusal.ts";
import { type Dialect, type Headers, type JudgedRequest, refused, type WireAnswer } from "./dialect.ts";
import type { Engine } from "./engine.ts";
import { flatten, toScript } from "./faults/apply.ts";
import type { Fault } from "./faults/fault.ts";
import { parseFaults } from "./faults/parse-fault.ts";
import type { RequestReport } from "./report.ts";
import { nextStep } from "./scenario/next-step.ts";

export function answerRequest(
  engine: Engine,
  dialect: Dialect,
  call: { readonly text: string; readonly headers: Headers; readonly request: number },
): WireAnswer {
  const { text, headers } = call;
  const faults = faultsFor(engine, headers);
  const blank = { dialect: dialect.name };
  if ("rule" in faults) return refused(faults, blankReport(call.request, blank));
  const account = dialect.account(engine, headers);
  const report = blankReport(call.request, {
    ...blank,
    faults: faults.map((fault) => fault.type),
    account: "rule" in account ? "" : account.organisation,
  });
  const early = httpFault(dialect, faults, report);
  if (early !== undefined) return early;
  if ("rule" in account) return refused(account, report);
  if (faults.some((fault) => fault.type === "rotate-key")) engine.seal.rotate();
  const read = dialect.read(engine, { text, headers, account: account.organisation });
  if ("rule" in read) return refused(read, report);
  const judged = read.judge();
  const known = { ...report, model: read.model, inputItems: read.inputItems };
  if ("rule" in judged) return refused(judged, known);
  return answerJudged({ engine, dialect, judged, faults, report: known });
}

function answerJudged(options: {
  readonly engine: Engine;
  readonly dialect: Dialect;
  readonly judged: JudgedRequest;
  readonly faults: readonly Fault[];
  readonly report: RequestReport;
}): WireAnswer {
  const { engine, dialect, judged, faults, report } = options;
  const { conversation, standing, sent, texts } = judged;
  const owner = [dialect.name, report.account, report.model].join("\n");
  const missing = standing.acceptable.filter((id) => !sent.includes(id));
  const known: RequestReport = {
    ...report,
    ...standing,
    ...engine.issued.prefix(conversation, owner, texts),
    conversation,
    sent,
    missing,
    dropped: judged.dropped,
    modified: judged.modified ?? [],
    foreign: judged.foreign ?? [],
    recall: standing.acceptable.length === 0 ? 1 : 1 - missing.length / standing.acceptable.length,
    retention: standing.issued.length === 0 ? 1 : Math.min(1, sent.length / standing.issued.length),
    tolerated: engine.strict ? [] : judged.refusals.map((refusal) => refusal.rule),
  };
  const [first] = judged.refusals;
  if (engine.strict && first !== undefined) return refused(first, known);
  const prompt = engine.cache.take(owner, judged.head, texts);
  const long = judged.tooLong(prompt.input);
  if (long !== undefined) return refused(long, known);
  const step = nextStep(engine, dialect.name, judged.view());
  if ("rule" in step) return refused(step, known);
  engine.issued.acceptedInput(conversation, owner, texts);
  const all = [...faults, ...flatten(step.faults)];
  const late = httpFault(dialect, all, known);
  if (late !== undefined) return late;
  const answer = judged.compose({ reply: step.reply, faults: all, prompt });
  const accepted: RequestReport = {
    ...known,
    faults: all.map((fault) => fault.type),
    cachedTokens: prompt.cached,
    responseId: answer.id,
    outcome: "open",
  };
  const { stream } = answer;
  return {
    status: stream === undefined ? (answer.refusal?.status ?? answer.status ?? 200) : 200,
    ...(stream === undefined && answer.refusal !== undefined ? { refusal: answer.refusal } : {}),
    ...(stream === undefined
      ? { json: answer.object, bodyFaults: all, outcome: answer.outcome }
      : { script: toScript(stream.events, all, { form: stream.form, seed: answer.id }) }),
    report: accepted,
    ended: (outcome) => {
      answer.ended(outcome);
      return { ...accepted, outcome };
    },
  };
}

function faultsFor(engine: Engine, headers: Readonly<Record<string, string>>): readonly Fault[] | ApiRefusal {
  const own = headers["x-emulator-fault"];
  try {
    const asked = own === undefined ? [] : parseFaults(own);
    return flatten([...engine.takeFault(), ...asked]);
  } catch (error) {
    return refuse({
      rule: "X-fault",
      message: error instanceof Error ? error.message : String(error),
      param: "x-emulator-fault",
      code: "fault_invalid",
    });
  }
}

/** An error returned instead of an answer; nothing is judged or counted. */
function httpFault(
  dialect: Dialect,
  faults: readonly Fault[],
  report: RequestReport,
): WireAnswer | undefined {
  for (const fault of faults) {
    if (fault.type === "html") {
      return {
        status: fault.status,
        html: htmlPage(fault.status),
        report: { ...report, verdict: "fault", outcome: "http_error" },
      };
    }
    if (fault.type !== "http") continue;
    const refusal = dialect.refusalOfFault(fault);
    return {
      status: refusal.status,
      headers: { ...refusal.headers, ...fault.headers },
      refusal,
      report: { ...report, verdict: "fault", outcome: "http_error", message: refusal.message },
    };
  }
  return undefined;
}

function htmlPage(status: number): string {
  return `<html>\r\n<head><title>${status} Bad Gateway</title></head>\r\n<body>\r\n<center><h1>${status} Bad Gateway</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n`;
}

function blankReport(
  request: number,
  known: Pick<RequestReport, "dialect"> & Partial<RequestReport>,
): RequestReport {
  return {
    request,
    conversation: "",
    model: "",
    account: "",
    verdict: "accepted",
    rule: null,
    message: null,
    tolerated: [],
    sent: [],
    acceptable: [],
    missing: [],
    issued: [],
    dropped: [],
    modified: [],
    foreign: [],
    recall: 1,
    retention: 1,
    prefixStable: true,
    prefixDiffersAt: null,
    inputItems: 0,
    cachedTokens: 0,
    faults: [],
    responseId: null,
    outcome: "open",
    ...known,
  };
}
