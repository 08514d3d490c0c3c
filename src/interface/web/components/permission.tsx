/**
 * The question before a call runs: its exact arguments, and the exact rule that an answer for the session adds. Letters
 * answer only while the question has the focus, so text that was meant for the message never allows anything.
 */

import { useState } from "preact/hooks";

import type { ApproveOptions } from "../../../access/client/index.ts";
import { messageOf, unmistakable, unmistakableLine } from "../../../base/support/index.ts";
import { type BlockQuestion, mcpQuestionLines, type ToolBlock, toolLabel } from "../../fragments/index.ts";
import type { SessionView } from "../session-view.ts";
import { Problem } from "./problem.tsx";

interface PermissionProps {
  readonly block: ToolBlock;
  readonly requestId: string;
  readonly question: BlockQuestion;
  readonly view: SessionView;
}

export function Permission({ block, requestId, question, view }: PermissionProps) {
  const [problem, setProblem] = useState<string>();
  const name = unmistakableLine(toolLabel(block));
  const { argumentsHash, rule, changed } = question;
  const answer = (work: Promise<void>): void => {
    work.catch((error: unknown) => setProblem(messageOf(error)));
  };
  const allow = (options: ApproveOptions = {}): void =>
    answer(view.handle.approve(requestId, { argumentsHash, ...options }));
  const deny = (): void => answer(view.handle.deny(requestId));
  const allowForSession = rule === undefined ? undefined : (): void => allow({ forSession: true });
  const keys: Readonly<Record<string, (() => void) | undefined>> = { y: allow, a: allowForSession, n: deny };
  return (
    <div
      class="permission"
      role="group"
      tabIndex={-1}
      aria-label={`Permission for ${name}`}
      onKeyDown={(event) => {
        const act = keys[event.key.toLowerCase()];
        if (act === undefined || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
        event.preventDefault();
        act();
      }}
    >
      <p>
        May <code>{name}</code> run with exactly these arguments?
      </p>
      {mcpQuestionLines({ mcp: block.mcp, changed }).map((line) => (
        <p key={line} class="whose-tool">
          {line}
        </p>
      ))}
      <pre tabIndex={0}>{unmistakable(block.arguments)}</pre>
      {rule === undefined ? null : (
        <p>
          For this session means: <code>{unmistakableLine(rule)}</code>
          {rule.includes(":") ? "" : " with any arguments"}. An allowed program may run others.
        </p>
      )}
      <div class="composer-buttons">
        <button type="button" class="primary" aria-keyshortcuts="n" onClick={deny}>
          Deny (N)
        </button>
        <button type="button" aria-keyshortcuts="y" onClick={() => allow()}>
          Allow once (Y)
        </button>
        {allowForSession === undefined ? null : (
          <button type="button" aria-keyshortcuts="a" onClick={allowForSession}>
            Allow for this session (A)
          </button>
        )}
      </div>
      <Problem text={problem} />
    </div>
  );
}
