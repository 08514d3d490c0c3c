/** Asks the server and keeps its answer. An answer that comes after the question has changed is dropped. */

import { useEffect, useState } from "preact/hooks";

import { codeOf, messageOf } from "../../../base/support/index.ts";
import { isAway, serverLink } from "../server-link.ts";

export interface Answer<Value> {
  /** Undefined until the first answer; the last one while a new one is awaited. */
  readonly value: Value | undefined;
  readonly problem: { readonly code: string | undefined; readonly message: string } | undefined;
}

const NONE: Answer<never> = { value: undefined, problem: undefined };

/** Asks again when `version` changes, and when a server that was away is back. With another `subject` the last answer is not kept. Asks nothing if it is undefined. */
export function useAnswer<Value>(
  subject: string | undefined,
  version: string,
  ask: () => Promise<Value>,
): Answer<Value> {
  const [kept, setKept] = useState<{ readonly subject: string; readonly answer: Answer<Value> }>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (subject === undefined) return undefined;
    let stale = false;
    const keep = (answer: Answer<Value>): void => {
      if (!stale) setKept({ subject, answer });
    };
    let forget: (() => void) | undefined;
    const again = (): void => {
      if (serverLink.state === "open") setRound((count) => count + 1);
    };
    ask().then(
      (value) => keep({ value, problem: undefined }),
      (error: unknown) => {
        const away = isAway(error);
        if (away && !stale) forget = serverLink.subscribe(again);
        const message = away ? "the server is away" : messageOf(error);
        keep({ value: undefined, problem: { code: codeOf(error), message } });
      },
    );
    return () => {
      stale = true;
      forget?.();
    };
  }, [subject, version, round]);
  return kept !== undefined && kept.subject === subject ? kept.answer : NONE;
}
