/**
 * Parses faults from text: `name`, `name=value`, `name=value,key:value`, separated by `;`. Used by the request header
 * `x-emulator-fault`, by `--fault` and by scenario files.
 */

import { didYouMean, ThroughlineError } from "../../base/support/index.ts";
import type { Fault, FaultName, FaultPoint } from "./fault.ts";

interface Arguments {
  readonly name: string;
  readonly first: string | undefined;
  readonly named: Readonly<Record<string, string>>;
}

type Name = Exclude<FaultName, "all">;
type Reader = (args: Arguments) => Fault;

/** One reader for several names that differ only in their type. */
function same<const Names extends Name>(
  names: readonly Names[],
  read: (type: Names, args: Arguments) => Fault,
): Readonly<Record<Names, Reader>> {
  const pairs = names.map((type) => [type, (args: Arguments) => read(type, args)]);
  return Object.fromEntries(pairs) as Record<Names, Reader>;
}

type Pointed = "end" | "cut" | "reset" | "stall";
type Indexed = "duplicate-event" | "drop-event" | "swap-events" | "bad-json";
/** Faults without arguments. */
type Plain = {
  [One in Fault as One["type"]]: keyof One extends "type" ? One["type"] : never;
}[Fault["type"]];

const plain = (...names: readonly Plain[]): ReturnType<typeof same<Plain>> =>
  same(names, (type) => ({ type }));

/** In the order of the help text. */
const readers: Readonly<Record<Name, Reader>> = {
  ...plain("none"),
  ...same<Pointed>(["end", "cut", "reset", "stall"], (type, args) => ({ type, at: parsePoint(args) })),
  slow: (args) => ({ type: "slow", delayMs: whole(args, args.first) }),
  http: (args) => httpFault(args, whole(args, args.first)),
  html: (args) => ({ type: "html", status: wholeOr(args, 502) }),
  incomplete: (args) => ({
    type: "incomplete",
    reason: args.first ?? "max_output_tokens",
    items: itemsOf(args) ?? 1,
  }),
  failed: (args) => ({ type: "failed", code: args.first ?? "server_error", items: itemsOf(args) }),
  "error-event": (args) => {
    const shape = args.first ?? "nested";
    if (shape !== "nested" && shape !== "flat") throw invalid(args.name, "takes nested or flat");
    const code = args.named["code"];
    return { type: "error-event", shape, code, items: itemsOf(args) };
  },
  ...plain("invalid-encrypted-content", "rotate-key", "late-ciphertext"),
  "rotate-ids": (args) => ({ type: "rotate-ids", length: wholeOr(args, undefined) }),
  ...plain("done-only", "no-terminal", "empty-output", "missing-output", "double-terminal"),
  "spliced-start": (args) => ({ type: "spliced-start", events: wholeOr(args, 3) }),
  "unknown-event": (args) => ({ type: "unknown-event", index: wholeOr(args, undefined) }),
  ...plain("unknown-item"),
  ...same<Indexed>(["duplicate-event", "drop-event", "swap-events", "bad-json"], (type, args) => ({
    type,
    index: whole(args, args.first, { negative: true }),
  })),
  ...plain("crlf", "bom"),
  split: (args) => ({ type: "split", bytes: Math.max(1, whole(args, args.first)) }),
  keepalive: (args) => ({ type: "keepalive", every: Math.max(1, wholeOr(args, 3)) }),
};

/** The names of all faults. */
export const faultNames: readonly string[] = Object.keys(readers);

/** Reads faults from text, separated by semicolons: `"cut=after-item:0; 429=retry-after:2"`. Throws `fault_invalid`. */
export function parseFaults(text: string): readonly Fault[] {
  return text
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(parseFault);
}

function parseFault(text: string): Fault {
  const equals = text.indexOf("=");
  const name = (equals === -1 ? text : text.slice(0, equals)).trim();
  const values =
    equals === -1
      ? []
      : text
          .slice(equals + 1)
          .split(",")
          .map((value) => value.trim());
  const named: Record<string, string> = {};
  let first: string | undefined;
  for (const value of values) {
    const colon = value.indexOf(":");
    if (colon === -1) first ??= value;
    else named[value.slice(0, colon)] = value.slice(colon + 1);
  }
  const args: Arguments = { name, first, named };
  if (/^[45]\d\d$/.test(name)) return httpFault(args, Number(name)); // `429` is short for `http=429`
  if (!isFaultName(name)) {
    const meant = didYouMean(name, faultNames);
    throw invalid(
      name,
      `is not a fault${meant === "" ? "; use" : `${meant} Use`} one of: ${faultNames.join(", ")}, or an HTTP status such as 429`,
    );
  }
  return readers[name](args);
}

function isFaultName(name: string): name is Name {
  return Object.hasOwn(readers, name);
}

function httpFault(args: Arguments, status: number): Fault {
  if (status < 400 || status > 599) throw invalid(args.name, "takes an HTTP status from 400 to 599");
  const { code, message, ...headers } = args.named;
  const bad = Object.entries(headers).find(
    ([key, value]) => !/^[\w-]+$/.test(key) || !/^[\x20-\x7e]*$/.test(value),
  );
  if (bad !== undefined)
    throw invalid(args.name, `has a header that cannot be sent: ${JSON.stringify(bad[0])}`);
  return {
    type: "http",
    status,
    code,
    message,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

function itemsOf(args: Arguments): number | undefined {
  return args.named["items"] === undefined ? undefined : whole(args, args.named["items"]);
}

function parsePoint(args: Arguments): FaultPoint {
  for (const [key, value] of Object.entries(args.named)) {
    const match = /^(before|after)-(item|event|byte)$/.exec(key);
    if (match === null) continue;
    return {
      where: match[1] as FaultPoint["where"],
      unit: match[2] as FaultPoint["unit"],
      index: whole(args, value),
    };
  }
  throw invalid(args.name, "takes a position: before-item:N, after-item:N, after-event:N or after-byte:N");
}

function wholeOr<Usual>(args: Arguments, usual: Usual): number | Usual {
  return args.first === undefined ? usual : whole(args, args.first);
}

function whole(
  args: Arguments,
  text: string | undefined,
  options: { readonly negative?: boolean } = {},
): number {
  const pattern = options.negative === true ? /^-?\d{1,9}$/ : /^\d{1,9}$/;
  if (text === undefined || !pattern.test(text)) throw invalid(args.name, "takes a whole number");
  return Number(text);
}

function invalid(name: string, problem: string): ThroughlineError {
  return new ThroughlineError({
    code: "fault_invalid",
    message: `Fault '${name}' ${problem}.`,
    details: { name },
  });
}
