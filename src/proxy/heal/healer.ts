/**
 * The ladder after a refusal: what the ledger has for it, then the class of the refusal repaired, then everything that
 * could be at fault. Each rung must change the request. The provider has refused first: nothing is taken away before.
 */

import type { ErrorInfo } from "../../base/events/index.ts";
import { type Body, openWire } from "../restore/index.ts";
import { isAboutHistory } from "./classes.ts";
import { withoutNamedField } from "./named-field.ts";
import { repairRequest } from "./repair.ts";

/** Further attempts after the first. */
const MOST_ATTEMPTS = 3;

export interface HealerOptions {
  /** As it was sent first. */
  readonly body: Body;
  readonly vendor?: string | undefined;
  /** The client's own request, if it was changed: it may be better than ours. */
  readonly clientText: (() => string) | undefined;
  /** The request with everything put back that pins and earlier refusals kept out. Wire text. */
  readonly withEverything: () => string | undefined;
  /** The payloads of a request that this account and model were issued, each in a thought as it was issued. */
  readonly ownPayloads: (body: Body) => ReadonlySet<string>;
}

export interface Rung {
  /** Wire text. */
  readonly text: string;
  /** What was changed, for people. */
  readonly repair: string;
}

export class Healer {
  readonly #options: HealerOptions;
  readonly #classes = new Set<string>();
  #body: Body;
  #attempts = 0;
  #all = false;
  #gaveBack = false;

  constructor(options: HealerOptions) {
    this.#options = options;
    this.#body = options.body;
  }

  /** The classes that were repaired; empty if the ledger's own help was enough. */
  get classes(): ReadonlySet<string> {
    return this.#all ? new Set([...this.#classes, "ALL"]) : this.#classes;
  }

  get body(): Body {
    return this.#body;
  }

  /** The next request to try; undefined if the refusal is not about the history, or nothing is left to change. */
  next(error: ErrorInfo): Rung | undefined {
    if (this.#attempts >= MOST_ATTEMPTS || !isAboutHistory(error)) return undefined;
    this.#attempts += 1;
    const rung =
      this.#fromLedger(error) ?? this.#ofClass(error) ?? this.#ofEverything(error) ?? this.#asClientSent();
    const body = rung === undefined ? undefined : openWire(this.#body.dialect, rung.text);
    if (body === undefined) return undefined;
    this.#body = body;
    return rung;
  }

  #fromLedger(error: ErrorInfo): Rung | undefined {
    // Only at first: later, the request has been repaired.
    if (this.#attempts > 1 || !ABOUT_THOUGHTS.has(classOf(error))) return undefined;
    const text = this.#options.withEverything();
    return text === undefined || text === this.#body.text
      ? undefined
      : { text, repair: "put back what was kept out" };
  }

  #asClientSent(): Rung | undefined {
    const text = this.#options.clientText?.();
    if (text === undefined || this.#gaveBack) return undefined;
    this.#gaveBack = true;
    return { text, repair: "took back what was put back" };
  }

  #ofClass(error: ErrorInfo): Rung | undefined {
    // The last attempt is the most thorough one.
    if (this.#attempts === MOST_ATTEMPTS && classOf(error) !== "SCHEMA") return undefined;
    this.#classes.add(classOf(error));
    const { dialect, text } = this.#body;
    const { vendor, ownPayloads } = this.#options;
    const own = classOf(error) === "CRYPT" ? ownPayloads(this.#body) : undefined;
    const repaired = repairRequest(text, {
      dialect,
      classes: this.#classes,
      error: error.message,
      drops: own === undefined ? isEmpty : (payload) => !own.has(payload),
      vendor,
    });
    if (repaired !== undefined) return { text: repaired.text, repair: repaired.changes.join("; ") };
    const bare = withoutNamedField(error, this.#body);
    return bare === undefined ? undefined : { text: bare, repair: "left out the field that the error names" };
  }

  #ofEverything(error: ErrorInfo): Rung | undefined {
    if (this.#all || classOf(error) === "SCHEMA") return undefined;
    this.#all = true;
    const { dialect, text } = this.#body;
    const drops = ABOUT_THOUGHTS.has(classOf(error));
    const repaired = repairRequest(text, {
      dialect,
      classes: new Set(["ALL"]),
      error: error.message,
      drops,
      vendor: this.#options.vendor,
    });
    return repaired === undefined ? undefined : { text: repaired.text, repair: repaired.changes.join("; ") };
  }
}

function classOf(error: ErrorInfo): string {
  return error.class ?? "OTHER";
}

/** A thought without a payload means nothing to a provider that issues payloads. */
function isEmpty(payload: string): boolean {
  return payload === "";
}

const ABOUT_THOUGHTS: ReadonlySet<string> = new Set([
  "PAIR",
  "CRYPT",
  "THINK",
  "ECHO",
  "GONE",
  "PREFIX",
  "CAP",
]);
