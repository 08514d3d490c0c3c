/**
 * `POST /v1/responses`: from the text of a request to what goes over the wire, with the entry for the report.
 *
 * @module
 */

import { composeAnswer } from "./compose-answer.ts";
import { type Engine, fitsHere, type Judged, judgeRequest, readRequest, tooLong } from "./engine.ts";
import { flatten, type Script } from "./faults/apply.ts";
import { defaultCodes, type Fault, faultMessages } from "./faults/fault.ts";
import { parseFaults } from "./faults/parse-fault.ts";
import { errorBody, refuse, type Refusal } from "./judge/refusal.ts";
import type { Outcome, RequestReport } from "./report.ts";
import { nextStep } from "./scenario/next-step.ts";

export interface WireAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly html?: string;
  readonly script?: Script;
  /** Faults of the connection, for an answer that is no stream. */
  readonly bodyFaults?: readonly Fault[];
  readonly report: RequestReport | undefined;
  /** How an answer that is no stream ended, when it went out whole. */
  readonly outcome?: Outcome;
  /** Called once, with how it ended; returns the final entry for the report. */
  readonly ended?: (outcome: Outcome) => RequestReport;
}

export function createResponse(
  engine: Engine,
  text: string,
  headers: Readonly<Record<string, string>>,
  request: number,
): WireAnswer {
  const faults = faultsFor(engine, headers);
  if ("rule" in faults) return refused(faults, blankReport(request));
  const account = engine.account(headers);
  const report = blankReport(request, {
    faults: faults.map((fault) => fault.type),
    account: "rule" in account ? "" : account.organisation,
  });
  const early = httpFault(faults, report);
  if (early !== undefined) return early;
  if ("rule" in account) return refused(account, report);
  if (faults.some((fault) => fault.type === "rotate-key")) engine.seal.rotate();
  const parsed = readRequest(engine, text);
  if ("rule" in parsed) return refused(parsed, report);
  const judged = judgeRequest(engine, parsed, {
    account: account.organisation,
    conversationHeader: headers["x-emulator-conversation"],
  });
  const known = { ...report, model: parsed.model, inputItems: parsed.input.length };
  if ("rule" in judged) return refused(judged, known);
  return answerJudged(engine, judged, faults, known);
}

function answerJudged(
  engine: Engine,
  judged: Judged,
  faults: readonly Fault[],
  report: RequestReport,
): WireAnswer {
  const { request, conversation } = judged;
  const texts = request.input.map((item) => item.text);
  const standing = engine.ledger.standing({
    conversation,
    context: judged.context,
    chain: judged.chain,
    texts,
    epoch: engine.seal.epoch,
    fits: fitsHere(engine, judged),
  });
  const sent = [...judged.history.usable.values()]
    .map((sealed) => sealed.id)
    .filter((id) => id.startsWith("rs_"));
  const missing = standing.acceptable.filter((id) => !sent.includes(id));
  const known: RequestReport = {
    ...report,
    ...standing,
    conversation,
    sent,
    missing,
    dropped: judged.history.dropped,
    recall: standing.acceptable.length === 0 ? 1 : 1 - missing.length / standing.acceptable.length,
    retention: standing.issued.length === 0 ? 1 : Math.min(1, sent.length / standing.issued.length),
    tolerated: engine.strict ? [] : judged.refusals.map((refusal) => refusal.rule),
  };
  const [first] = judged.refusals;
  if (engine.strict && first !== undefined) return refused(first, known);
  const owner = `${judged.account}\n${request.model}`;
  const prompt = engine.cache.take(owner, request.head, texts);
  const long = tooLong(request, prompt.input);
  if (long !== undefined) return refused(long, known);
  const step = nextStep(engine, judged);
  if ("rule" in step) return refused(step, known);
  engine.ledger.acceptedInput(conversation, texts);
  const all = [...faults, ...flatten(step.faults)];
  const late = httpFault(all, known);
  if (late !== undefined) return late;
  const answer = composeAnswer(engine, judged, { reply: step.reply, faults: all, prompt });
  const accepted: RequestReport = {
    ...known,
    faults: all.map((fault) => fault.type),
    cachedTokens: prompt.cached,
    responseId: answer.id,
    outcome: "open",
  };
  return {
    status: 200,
    ...(answer.script === undefined
      ? { json: answer.object, bodyFaults: all, outcome: answer.outcome }
      : { script: answer.script }),
    report: accepted,
    ended: (outcome) => {
      answer.ended(outcome);
      return { ...accepted, outcome };
    },
  };
}

function faultsFor(engine: Engine, headers: Readonly<Record<string, string>>): readonly Fault[] | Refusal {
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

/** Errors that come instead of an answer; nothing is judged, nothing counts. */
function httpFault(faults: readonly Fault[], report: RequestReport): WireAnswer | undefined {
  for (const fault of faults) {
    if (fault.type === "html") {
      return {
        status: fault.status,
        html: htmlPage(fault.status),
        report: { ...report, verdict: "fault", outcome: "http_error" },
      };
    }
    if (fault.type !== "http") continue;
    const usual = defaultCodes[fault.status] ?? { code: null, type: "server_error" };
    const code = fault.code ?? usual.code;
    const message =
      fault.message ?? (code === null ? undefined : faultMessages[code]) ?? `Emulated HTTP ${fault.status}.`;
    const type = code === "insufficient_quota" ? code : usual.type;
    return {
      status: fault.status,
      ...(fault.headers === undefined ? {} : { headers: fault.headers }),
      json: { error: { message, type, param: null, code } },
      report: { ...report, verdict: "fault", outcome: "http_error", message },
    };
  }
  return undefined;
}

function htmlPage(status: number): string {
  return `<html>\r\n<head><title>${status} Bad Gateway</title></head>\r\n<body>\r\n<center><h1>${status} Bad Gateway</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n`;
}

export function refused(refusal: Refusal, report: RequestReport | undefined): WireAnswer {
  return {
    status: refusal.status,
    json: errorBody(refusal),
    report:
      report === undefined
        ? undefined
        : { ...report, verdict: "refused", rule: refusal.rule, message: refusal.message, outcome: "refused" },
  };
}

function blankReport(request: number, known: Partial<RequestReport> = {}): RequestReport {
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
