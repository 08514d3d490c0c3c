/**
 * What went wrong with something a person did, for `Problem`. A server that is away is no alarm: the panel over the field
 * says what to do, and these words go when the server is back.
 */

import { useCallback, useEffect, useState } from "preact/hooks";

import { messageOf } from "../../base/support/index.ts";
import { isAway, serverLink } from "./server-link.ts";

export interface ShownProblem {
  readonly text: string;
  /** The server is away, so this is not an error of what was done. */
  readonly isCalm: boolean;
}

export interface Problems {
  readonly problem: ShownProblem | undefined;
  readonly show: (error: unknown) => void;
  readonly clear: () => void;
  /** Does something, and shows why it failed. */
  readonly attempt: (work: () => Promise<unknown>) => void;
}

const NOT_CONFIRMED = "The server did not confirm this. Try again when it is back.";

export function useProblem(): Problems {
  const [problem, setProblem] = useState<ShownProblem>();
  const show = useCallback((error: unknown) => setProblem(problemOf(error)), []);
  const clear = useCallback(() => setProblem(undefined), []);
  const attempt = useCallback((work: () => Promise<unknown>) => {
    clear();
    work().catch(show);
  }, []);
  useEffect(() => {
    if (problem?.isCalm !== true) return undefined;
    return serverLink.subscribe(() => {
      if (serverLink.state === "open") clear();
    });
  }, [problem]);
  return { problem, show, clear, attempt };
}

export function problemOf(error: unknown): ShownProblem {
  return isAway(error) ? { text: NOT_CONFIRMED, isCalm: true } : { text: messageOf(error), isCalm: false };
}
