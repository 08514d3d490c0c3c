import { expect, test } from "vitest";

import type { LoggedEvent } from "../../base/events/index.ts";
import { type ChangeSource, changesOf } from "./changes.ts";
import type { LogChange } from "./log.ts";

/** A log that another process writes. `meanwhile` runs once, right after the log was read. */
function writtenLog(): {
  readonly source: ChangeSource;
  readonly stop: AbortController;
  append(name: string): void;
  row(row: string): void;
  leave(): void;
  meanwhile: (() => void) | undefined;
} {
  const stop = new AbortController();
  const events: LoggedEvent[] = [];
  const written: LoggedEvent[] = [];
  let rows: string[] = [];
  let ring: (() => void) | undefined;
  let writer = { lives: true, flips: 0 };
  const log = {
    stop,
    meanwhile: undefined as (() => void) | undefined,
    append(name: string): void {
      written.push({ type: "notice", code: "test", message: name } as LoggedEvent);
      ring?.();
    },
    row(row: string): void {
      rows.push(row);
      ring?.();
    },
    leave(): void {
      writer = { lives: false, flips: 1 };
      ring?.();
    },
    source: {
      events,
      ends: [stop.signal],
      listen: (listener: () => void) => {
        ring = listener;
        return () => undefined;
      },
      get writer() {
        return writer;
      },
      rows: () => {
        const taken = rows;
        rows = [];
        return { rows: taken, more: false };
      },
      refresh: async () => {
        events.push(...written.slice(events.length));
        const { meanwhile } = log;
        log.meanwhile = undefined;
        meanwhile?.();
      },
    },
  };
  return log;
}

const told = ({ events, rows, hasWriter }: LogChange): unknown => [
  events.map((event) => (event.type === "notice" ? event.message : event.type)),
  rows,
  hasWriter,
];

test("a row written while the log is read is reported together with the event before it", async () => {
  const log = writtenLog();
  log.meanwhile = () => {
    log.append("response");
    log.row("of the response");
  };
  const changes = changesOf(log.source, 0);
  expect(told((await changes.next()).value as LogChange)).toEqual([[], [], true]);
  expect(told((await changes.next()).value as LogChange)).toEqual([["response"], ["of the response"], true]);
});

test("a writer that leaves while the log is read is reported gone together with its last events", async () => {
  const log = writtenLog();
  log.meanwhile = () => {
    log.append("last words");
    log.leave();
  };
  const changes = changesOf(log.source, 0);
  expect(told((await changes.next()).value as LogChange)).toEqual([[], [], true]);
  expect(told((await changes.next()).value as LogChange)).toEqual([["last words"], [], false]);
});

test("a ring during a look leads to one more look, and a look without news yields no change", async () => {
  const log = writtenLog();
  const changes = changesOf(log.source, 0);
  await changes.next();
  log.meanwhile = () => log.append("a");
  log.row("1");
  expect(told((await changes.next()).value as LogChange)).toEqual([[], ["1"], true]);
  expect(told((await changes.next()).value as LogChange)).toEqual([["a"], [], true]);
  const next = changes.next();
  log.stop.abort();
  expect(await next).toEqual({ value: undefined, done: true });
});
