/**
 * One client request, all its attempts and its answer. Knows no socket: bytes in, bytes out. Whatever fails in here, the
 * client's own bytes go on (fail-open), and the exchange says so.
 */

import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

import type { Dialect, ErrorInfo } from "../../base/events/index.ts";
import { messageOf } from "../../base/support/index.ts";
import { httpError } from "../../runtime/providers/index.ts";
import { Healer, isAboutHistory, isKeptOut, rememberRepair, repairAsBefore } from "../heal/index.ts";
import type { ExchangeLine, Group, Refusal } from "../ledger/index.ts";
import { readPieces, thoughtMarks } from "../marks/index.ts";
import { type Body, openWire, restore, type Restored, sentPrefixes, wireBytes } from "../restore/index.ts";
import { accountOf, credentialOf, learnAccount, withoutKeys } from "./account.ts";
import type { AnswerWatch } from "./answer-watch.ts";
import { decoded } from "./content-coding.ts";
import { type ReadRequest, scopeOf } from "./reading.ts";
import { groupOf } from "./record-answer.ts";
import { type Route, vendorOf } from "./routes.ts";
import type { ProxyMode, ProxyParts } from "./settings.ts";
import { type StrictFinding, strictFinding } from "./strict.ts";

export interface ExchangeOptions {
  readonly route: Route;
  readonly path: string;
  readonly dialect: Dialect;
  readonly headers: IncomingHttpHeaders;
  readonly mode: ProxyMode;
}

/** What goes to the provider. `identity`: the body is not compressed, whatever the client's was. */
export interface Outgoing {
  readonly bytes: Buffer;
  readonly changed: boolean;
}

interface Known {
  readonly request: ReadRequest;
  readonly restored: Restored;
  /** The request as it is sent first. */
  readonly sent: Body;
}

type Outcome = ExchangeLine["outcome"];

/** How much of a provider's message a line holds. */
const MOST_TOLD = 300;
/** A long conversation repeats its decisions with every request. */
const MOST_DECISIONS = 50;

export class Exchange {
  readonly id: string;
  readonly #parts: ProxyParts;
  readonly #options: ExchangeOptions;
  readonly #began: number;
  readonly #credential: string;
  #account: string;
  #known: Known | undefined;
  #healer: Healer | undefined;
  #sentBytes = 0;
  #requestBytes = 0;
  #outcome: Outcome = "passed";
  #note: string | undefined;
  #attempts = 1;
  #recorded = false;
  readonly #refusals: Refusal[] = [];

  constructor(parts: ProxyParts, options: ExchangeOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#began = parts.clock.monotonic();
    this.id = `x${Math.trunc(parts.clock.now()).toString(36)}${randomBytes(5).toString("hex")}`;
    this.#credential = this.#safely("", () => credentialOf(options.headers, parts.ledger));
    this.#account = this.#safely("", () => accountOf(this.#credential, parts.ledger));
  }

  /** Value of the header that tells the client what was done. */
  get told(): string {
    const restored = this.#known?.restored.restored ?? 0;
    if (this.#options.mode === "observe") return "observed";
    if (this.#outcome === "healed") return `healed=${this.#refusals.length}`;
    return this.#outcome === "restored" ? `restored=${restored}` : "passed";
  }

  /** Whether the provider may refuse the history in the middle of its answer (failures.md E12). */
  get carriesPayloads(): boolean {
    const { dialect, mode } = this.#options;
    const known = this.#known;
    if (known === undefined || mode !== "repair" || dialect !== "openai-responses") return false;
    return this.#safely(false, () => isOpaque(known));
  }

  /** The bytes to send. Never throws. In strict mode, the finding that the request is refused for. */
  prepare(raw: Buffer): Outgoing | StrictFinding {
    this.#requestBytes = raw.length;
    const verbatim = { bytes: raw, changed: false };
    const outgoing = this.#safely<Outgoing | StrictFinding>(verbatim, () => this.#prepared(raw));
    if ("bytes" in outgoing) this.#sentBytes = outgoing.bytes.length;
    return outgoing;
  }

  #prepared(raw: Buffer): Outgoing | StrictFinding {
    const { dialect, headers, mode, route } = this.#options;
    const { ledger } = this.#parts;
    const verbatim = { bytes: raw, changed: false };
    const plain = decoded(raw, headers["content-encoding"]);
    if (plain === undefined) return this.#unread("the body cannot be decompressed here", verbatim);
    const request = this.#parts.reader.read(dialect, plain, {
      ledger,
      route,
      account: this.#account,
      headers,
    });
    if (request === undefined) return this.#unread("the body is not a JSON request with a history", verbatim);
    const { body } = request;
    const restored = this.#restored(request);
    if (mode === "strict") {
      const finding = strictFinding(body, restored, vendorOf(request.target));
      if (finding !== undefined) {
        this.#outcome = "refused";
        this.#note = finding.message;
        this.#known = { request, restored, sent: body };
        return finding;
      }
    }
    const sent = mode === "repair" ? this.#repairedAsBefore(request, restored) : body;
    this.#known = { request, restored: mode === "repair" ? restored : { ...restored, pins: [] }, sent };
    this.#outcome =
      mode === "observe" ? "observed" : restored.restored > 0 && mode === "repair" ? "restored" : "passed";
    void ledger.record({
      type: "asked",
      id: this.id,
      at: this.#parts.clock.now(),
      scope: request.scope,
      keys: request.reading.end,
      parent: restored.last?.id,
    });
    ledger.used(restored.groups, this.#parts.clock.now());
    return sent === body ? verbatim : { bytes: wireBytes(sent.text), changed: true };
  }

  #restored(request: ReadRequest, ignoreRefusals = false): Restored {
    const { ledger } = this.#parts;
    const { body, facts, target, reading, scope } = request;
    const keptOut = (group: Group): boolean =>
      !ignoreRefusals && isKeptOut(ledger, this.#overrideScope(request), group.id);
    const base = { ledger, scope, body, reading, facts, target, keptOut };
    const first = restore(base);
    if (!target.profile.prefixBound || body.dialect !== "anthropic-messages" || first.restored === 0)
      return first;
    const sent = first.text === undefined ? body : openWire(body.dialect, first.text);
    const prefixes = sent === undefined ? [] : sentPrefixes(sent, ledger.mark);
    return restore({
      ...base,
      hasPrefix: ({ group, stretch, atom }) => {
        const element = reading.stretches[stretch]?.atoms[atom]?.piece.at.element ?? -1;
        return group.sent === undefined || group.sent === prefixes[element];
      },
    });
  }

  #repairedAsBefore(request: ReadRequest, { text }: Restored): Body {
    const body = text === undefined ? request.body : openWire(request.body.dialect, text);
    if (body === undefined) return request.body;
    return repairAsBefore(body, this.#parts.ledger, this.#overrideScope(request), vendorOf(request.target));
  }

  /** What one model refuses, another may have issued. */
  #overrideScope({ facts, body }: ReadRequest): string {
    const { ledger } = this.#parts;
    return ledger.mark(
      `${scopeOf(ledger, this.#account, this.#options.route, body.dialect)}\n${facts.model}`,
    );
  }

  #unread(note: string, verbatim: Outgoing): Outgoing {
    this.#outcome = "unread";
    this.#note = note;
    return verbatim;
  }

  /** A refusal by status. Returns what to send next, or undefined if the refusal is passed on. */
  refused(status: number, body: string, headers: Readonly<Record<string, string>>): Outgoing | undefined {
    return this.#safely(undefined, () => this.#healed(httpError(status, body, headers), status));
  }

  /** A refusal in the middle of a stream. */
  refusedInStream(error: ErrorInfo): Outgoing | undefined {
    return this.#safely(undefined, () => this.#healed(error, 200));
  }

  #healed(error: ErrorInfo, status: number): Outgoing | undefined {
    const known = this.#known;
    if (known === undefined || !isAboutHistory(error)) return undefined;
    const told = {
      status,
      class: error.class ?? "OTHER",
      message: withoutKeys(error.message, this.#options.headers).slice(0, MOST_TOLD),
    };
    if (this.#options.mode !== "repair") {
      this.#refusals.push(told);
      return undefined;
    }
    const { request, sent } = known;
    this.#healer ??= new Healer({
      body: sent,
      vendor: vendorOf(request.target),
      clientText: known.restored.restored === 0 ? undefined : () => request.body.text,
      withEverything: () => this.#restored(request, true).text,
      ownPayloads: (body) => this.#ownPayloads(body, request),
    });
    const rung = this.#healer.next(error);
    this.#refusals.push({ ...told, repair: rung?.repair });
    if (rung === undefined) return undefined;
    this.#attempts += 1;
    const bytes = wireBytes(rung.text);
    this.#sentBytes = bytes.length;
    return { bytes, changed: true };
  }

  #ownPayloads({ dialect, values }: Body, { scope, facts }: ReadRequest): ReadonlySet<string> {
    const { index, mark } = this.#parts.ledger;
    const own = new Set<string>();
    for (const [element, value] of values.entries())
      for (const piece of readPieces(dialect, value, element)) {
        if (piece.kind !== "thought" || piece.identity === "") continue;
        const { identity, words } = thoughtMarks(piece, mark);
        // A signature covers the text.
        const isIssued = index
          .issuedWith(scope, identity)
          .some(
            ({ model, thoughts }) =>
              model === facts.model &&
              thoughts.some(
                (one) =>
                  one.identities.includes(identity) &&
                  (dialect === "openai-responses" || one.words === words),
              ),
          );
        if (isIssued) own.add(piece.identity);
      }
    return own;
  }

  /** The provider answers: what was decided holds from now on. */
  accepted(headers: IncomingHttpHeaders): void {
    this.#safely(undefined, () => {
      this.#account = learnAccount(this.#credential, headers, this.#parts.ledger);
      if (this.#known === undefined || this.#options.mode !== "repair") return;
      const { request, restored, sent } = this.#known;
      if (this.#healer !== undefined) {
        this.#outcome = "healed";
        this.#rememberRepair(request, restored, sent);
      } else if (request.facts.thinking !== "off") this.#pin(request, restored);
    });
  }

  #pin({ body }: ReadRequest, { pins }: Restored): void {
    const { ledger, clock } = this.#parts;
    const scope = scopeOf(ledger, this.#account, this.#options.route, body.dialect);
    for (const { key, group } of pins)
      if (ledger.index.pin(scope, key) === undefined)
        void ledger.record({ type: "pin", at: clock.now(), scope, key, group });
  }

  #rememberRepair(request: ReadRequest, { decisions }: Restored, refused: Body): void {
    const healer = this.#healer;
    if (healer === undefined) return;
    const { ledger, clock } = this.#parts;
    const putBack = decisions.flatMap(({ what, group }) => {
      const found =
        group === undefined || what === "left out" || what === "as issued"
          ? undefined
          : ledger.index.group(group);
      return found === undefined
        ? []
        : [{ id: found.id, identities: found.thoughts.flatMap((one) => one.identities.slice(0, 1)) }];
    });
    const { classes, body: accepted } = healer;
    const scope = this.#overrideScope(request);
    rememberRepair({ ledger, scope, at: clock.now(), refused, accepted, classes, putBack });
  }

  /** Records the answer, before its last bytes leave. Resolves when it has left the process. */
  async record(watch: AnswerWatch): Promise<void> {
    try {
      await this.#record(watch);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Work of ours that the answer does not need. Its failure is noted, and nothing else. */
  async aside(work: () => void | Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#failed(error);
    }
  }

  async #record(watch: AnswerWatch): Promise<void> {
    const known = this.#known;
    if (known === undefined || this.#recorded) return;
    const { ledger, clock } = this.#parts;
    const { request, restored, sent } = known;
    const { answer } = watch;
    const scope = scopeOf(ledger, this.#account, this.#options.route, request.body.dialect);
    const made =
      answer &&
      groupOf(
        answer,
        {
          id: this.id,
          at: clock.now(),
          account: this.#account,
          scope,
          request,
          sent: this.#healer?.body ?? sent,
          parent: restored.last,
        },
        ledger,
      );
    if (made === undefined) return;
    this.#recorded = true;
    await ledger.recordGroup(made.group, made.thoughts);
  }

  /** The client saw nothing of an answer: no later request can hold it. */
  withdraw(): void {
    if (this.#known === undefined || this.#recorded) return;
    this.#safely(undefined, () => void this.#parts.ledger.record({ type: "withdrawn", id: this.id }));
  }

  /** The exchange is over. */
  end(status: number, note?: string, outcome: Outcome = this.#outcome): void {
    this.#safely(undefined, () => {
      const { dialect, path, route, mode, headers } = this.#options;
      const known = this.#known;
      const line: ExchangeLine = {
        type: "exchange",
        id: this.id,
        at: this.#parts.clock.now(),
        account: this.#account,
        route: route.name,
        path: path.split("?", 1)[0] ?? "",
        dialect,
        model: known?.request.facts.model,
        client: headers["user-agent"]?.slice(0, 100),
        mode,
        status,
        outcome,
        note: note ?? this.#note,
        stream: known?.request.facts.stream,
        attempts: this.#attempts,
        durationMs: Math.round(this.#parts.clock.monotonic() - this.#began),
        requestBytes: this.#requestBytes,
        sentBytes: this.#sentBytes,
        restorable: known?.restored.restorable ?? 0,
        carried: known?.restored.carried ?? 0,
        restored: mode === "repair" ? (known?.restored.restored ?? 0) : 0,
        decisions: (known?.restored.decisions ?? [])
          .filter(({ what }) => what !== "as issued")
          .slice(-MOST_DECISIONS),
        refusals: this.#refusals,
        recorded: this.#recorded,
      };
      void this.#parts.ledger.record(line);
      this.#parts.onExchange(line);
    });
  }

  /** Our own failure never reaches the client. */
  #safely<T>(otherwise: T, work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#failed(error);
      return otherwise;
    }
  }

  #failed(error: unknown): void {
    this.#known = undefined;
    this.#outcome = "failed-open";
    this.#note = messageOf(error);
    this.#parts.problem(`a request was forwarded unread because of an error of ours: ${messageOf(error)}`);
  }
}

function isOpaque({ restored, request }: Known): boolean {
  const { stretches } = request.reading;
  return (
    restored.restored > 0 ||
    stretches.some(({ thoughts }) => thoughts.some(({ identity }) => identity !== ""))
  );
}
