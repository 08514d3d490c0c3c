/** Asks the server and keeps its answer. An answer that comes after the question has changed is dropped. */

import { useEffect, useState } from "preact/hooks";

import { codeOf, messageOf } from "../../../base/support/index.ts";

export interface Answer<Value> {
  /** Undefined until the first answer; the last one while a new one is awaited. */
  readonly value: Value | undefined;
  readonly problem: { readonly code: string | undefined; readonly message: string } | undefined;
}

const NONE: Answer<never> = { value: undefined, problem: undefined };

/** Asks again when `version` changes. With another `subject` the last answer is not kept. Asks nothing if it is undefined. */
export function useAnswer<Value>(
  subject: string | undefined,
  version: string,
  ask: () => Promise<Value>,
): Answer<Value> {
  const [kept, setKept] = useState<{ readonly subject: string; readonly answer: Answer<Value> }>();
  useEffect(() => {
    if (subject === undefined) return undefined;
    let stale = false;
    const keep = (answer: Answer<Value>): void => {
      if (!stale) setKept({ subject, answer });
    };
    ask().then(
      (value) => keep({ value, problem: undefined }),
      (error: unknown) =>
        keep({ value: undefined, problem: { code: codeOf(error), message: messageOf(error) } }),
    );
    return () => {
      stale = true;
    };
  }, [subject, version]);
  return kept !== undefined && kept.subject === subject ? kept.answer : NONE;
}
