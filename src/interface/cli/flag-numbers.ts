/** Parses the numeric values of flags. */

import { codedError } from "../../base/support/index.ts";

export interface NumberRange {
  readonly least: number;
  readonly most?: number;
  /** Describes valid values, for the error message. */
  readonly use: string;
}

export const ABOVE_ZERO: NumberRange = { least: 1, use: "a whole number above 0" };
export const EVENT_NUMBER: NumberRange = { least: 0, use: "the number of an event" };

export function wholeNumber(
  flag: string,
  text: string,
  { least, most = Infinity, use }: NumberRange,
): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw codedError("number_invalid", `${flag} ${text}: use ${use}`);
}

/** Accepts only digits, for values such as ports and milliseconds. */
export function digits(flag: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw codedError(
    "usage",
    `${flag} takes a whole number from ${least} to ${most}, not ${JSON.stringify(text)}.`,
  );
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** An age such as 90d, in milliseconds. `or` names other values that the flag takes. */
export function age(flag: string, text: string, or = ""): number {
  const [, number = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (ms > 0) return ms;
  throw codedError("number_invalid", `${flag} ${text}: use a number with m, h, d or w, such as 90d${or}`);
}

const SIZES: Readonly<Record<string, number>> = {
  "": 1,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
};

/** A number of bytes above 0, such as 4GiB. */
export function byteSize(flag: string, text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,15}) ?([a-z]*)$/i.exec(text) ?? [];
  const bytes = Number(number) * (SIZES[unit.toLowerCase()] ?? Number.NaN);
  if (bytes > 0 && Number.isSafeInteger(bytes)) return bytes;
  throw codedError(
    "number_invalid",
    `${flag} ${text}: use a number of bytes, such as 1000000, 500MiB or 4GiB`,
  );
}
