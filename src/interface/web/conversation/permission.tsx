/**
 * The question before a call runs: its exact arguments, and the exact rule that an answer for the session adds. Letters
 * answer only while the question has the focus, so text that was meant for the message never allows anything.
 */

import { useEffect, useRef, useState } from "preact/hooks";

import type { ApproveOptions } from "../../../access/client/index.ts";
import {
  sliceObject,
  stringOf,
  tryParseJson,
  unmistakable,
  unmistakableLine,
} from "../../../base/support/index.ts";
import { type BlockQuestion, mcpQuestionLines, type ToolBlock, toolLabel } from "../../fragments/index.ts";
import { Problem } from "../look/problem.tsx";
import type { SessionView } from "../session-view.ts";
import { useProblem } from "../use-problem.ts";
import { lastTypedAt } from "./last-typed.ts";

interface PermissionProps {
  readonly block: ToolBlock;
  readonly requestId: string;
  readonly question: BlockQuestion;
  readonly view: SessionView;
}

/** Who types may be in the middle of a word: the letters of the question must not catch the rest of it. */
const QUIET_MS = 1500;
const DEAF_MS = 700;

const QUESTIONS: Readonly<Record<string, string>> = {
  run_command: "Run this command?",
  write_file: "Write this file?",
  edit_file: "Edit this file?",
  read_file: "Read this file?",
};

export function Permission({ block, requestId, question, view }: PermissionProps) {
  const { problem, attempt } = useProblem();
  const [asJson, setAsJson] = useState(false);
  const card = useRef<HTMLDivElement>(null);
  /** Until then a letter is the rest of something that was meant for the message. */
  const deafUntil = useRef(0);
  const name = unmistakableLine(toolLabel(block));
  const { argumentsHash, rule, changed } = question;
  // It takes the focus only from a field that is empty and not in use.
  useEffect(() => {
    const active = document.activeElement;
    const isFree =
      active === null ||
      active === document.body ||
      (active instanceof HTMLTextAreaElement && active.value === "");
    if (!isFree || performance.now() - lastTypedAt() <= QUIET_MS) return;
    deafUntil.current = performance.now() + DEAF_MS;
    card.current?.focus({ preventScroll: true });
  }, [requestId]);
  const allow = (options: ApproveOptions = {}): void =>
    attempt(() => view.handle.approve(requestId, { argumentsHash, ...options }));
  const deny = (): void => attempt(() => view.handle.deny(requestId));
  const allowForSession = rule === undefined ? undefined : (): void => allow({ forSession: true });
  const keys: Readonly<Record<string, (() => void) | undefined>> = {
    y: () => allow(),
    a: allowForSession,
    n: deny,
  };
  const members = argumentsOf(block.arguments);
  return (
    <div
      ref={card}
      class="card permission"
      role="group"
      tabIndex={-1}
      aria-label={`Permission for ${name}`}
      onFocusOut={() => {
        deafUntil.current = 0; // who comes back does so on purpose
      }}
      onKeyDown={(event) => {
        const act = keys[event.key.toLowerCase()];
        if (act === undefined || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
        event.preventDefault();
        if (performance.now() >= deafUntil.current) act();
      }}
    >
      <h2>{QUESTIONS[block.name] ?? `Run ${name}?`}</h2>
      {mcpQuestionLines({ mcp: block.mcp, changed }).map((line) => (
        <p key={line} class="whose-tool">
          {line}
        </p>
      ))}
      <p class="card-line">
        <span>These are the exact arguments. Nothing has run yet.</span>
        {members === undefined ? null : (
          <button type="button" class="link" aria-pressed={asJson} onClick={() => setAsJson(!asJson)}>
            As JSON
          </button>
        )}
      </p>
      {members === undefined || asJson ? (
        <pre class="output exact" tabIndex={0} role="group" aria-label="Arguments">
          {unmistakable(block.arguments)}
        </pre>
      ) : (
        <dl class="arguments">
          {members.map(([key, value], at) => (
            <div key={at}>
              <dt>{unmistakableLine(key)}</dt>
              <dd>{unmistakable(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      <div class="card-buttons">
        <button type="button" class="button primary" aria-keyshortcuts="y" onClick={() => allow()}>
          Allow once<kbd aria-hidden="true">Y</kbd>
        </button>
        {allowForSession === undefined ? null : (
          <button type="button" class="button" aria-keyshortcuts="a" onClick={allowForSession}>
            Allow for this session<kbd aria-hidden="true">A</kbd>
          </button>
        )}
        <span class="space" />
        <button type="button" class="button" aria-keyshortcuts="n" onClick={deny}>
          Deny<kbd aria-hidden="true">N</kbd>
        </button>
      </div>
      {rule === undefined ? null : (
        <p class="fine">
          For this session means: <code>{unmistakableLine(rule)}</code>
          {rule.includes(":") ? "" : " with any arguments"}. An allowed program may run others.
        </p>
      )}
      <Problem problem={problem} />
    </div>
  );
}

/** Names and values exactly as they were written. Undefined for anything but an object with members. */
function argumentsOf(text: string): readonly (readonly [key: string, value: string])[] | undefined {
  if (tryParseJson(text) === undefined) return undefined;
  const members = sliceObject(text).map(
    ({ key, value }) => [key, stringOf(tryParseJson(value)) ?? value] as const,
  );
  return members.length === 0 ? undefined : members;
}
