/** The formats that a text field of a form may ask for. Returns what is wrong, as the end of a sentence. */

import type { TextFormat } from "./elicitation.ts";

const EMAIL = /^[^\s@"(),:;<>[\\\]]{1,64}@[^\s@"(),:;<>[\\\]]{1,255}$/u;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:[Zz]|[+-](\d{2}):(\d{2}))$/;

export function formatProblem(format: TextFormat, text: string): string | undefined {
  switch (format) {
    case "email":
      return EMAIL.test(text) ? undefined : "must be an e-mail address, like name@example.com";
    case "uri":
      return isAddress(text) ? undefined : "must be a whole address, like https://example.com/";
    case "date":
      return isDate(text) ? undefined : "must be a date, like 2026-01-31";
    case "date-time":
      return isTime(text) ? undefined : "must be a date and a time, like 2026-01-31T14:00:00Z";
    default:
      return undefined; // a format of a later version: the server checks it
  }
}

function isAddress(text: string): boolean {
  try {
    return new URL(text).protocol !== "" && !/\s/.test(text);
  } catch {
    return false;
  }
}

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return leap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isTime(text: string): boolean {
  const [, date = "", hour, minute, second, zoneHour = "0", zoneMinute = "0"] = TIME.exec(text) ?? [];
  // 60 is a leap second.
  return (
    isDate(date) &&
    Number(hour) <= 23 &&
    Number(minute) <= 59 &&
    Number(second) <= 60 &&
    Number(zoneHour) <= 23 &&
    Number(zoneMinute) <= 59
  );
}
