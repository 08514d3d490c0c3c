/** Which request is shown, and which one it is compared with. */

import type { RequestFacts } from "../../../runtime/facts/index.ts";
import { IconButton } from "../look/icon-button.tsx";
import { Icon } from "../look/icons.tsx";
import { ChipMenu } from "./chip-menu.tsx";

/** `newest`: the last one that was sent. `next`: the one that would be sent now. */
export type RequestChoice = number | "newest" | "next";

interface Props {
  readonly requests: readonly RequestFacts[];
  readonly shown: number | "next";
  readonly onChoose: (choice: RequestChoice) => void;
  /** The request it is compared with; 0 for none. */
  readonly since: number;
  readonly onSince: (request: number) => void;
  /** "3 new, 0 gone". */
  readonly changes: string | undefined;
}

export function RequestChooser({ requests, shown, onChoose, since, onSince, changes }: Props) {
  const count = requests.length;
  const at = shown === "next" ? count + 1 : shown;
  const go = (to: number): void => onChoose(to > count ? "next" : to === count ? "newest" : to);
  const title = shown === "next" ? "Next request" : `Request ${shown}`;
  return (
    <div class="request-choice">
      <button
        type="button"
        class="icon-button"
        aria-label="Earlier request"
        title="Earlier request"
        disabled={at <= 1}
        onClick={() => go(at - 1)}
      >
        <Icon name="left" />
      </button>
      <ChipMenu
        label="Request shown"
        value={String(shown)}
        options={[
          { value: "next", label: "Next request, not sent yet" },
          ...listed(count, at).map((request) => ({
            value: String(request),
            label: nameOf(requests[request - 1], request),
          })),
        ]}
        onChoose={(value) => go(value === "next" ? count + 1 : Number(value))}
      >
        <b>{title}</b> {shown === "next" ? "" : `of ${count}`}
      </ChipMenu>
      <IconButton icon="right" name="Later request" isOff={at > count} onClick={() => go(at + 1)} />
      {at < 2 ? null : (
        <ChipMenu
          class="since"
          label="Compare with"
          value={String(since)}
          options={[
            ...listed(at - 1, since).map((request) => ({
              value: String(request),
              label: `Since ${nameOf(requests[request - 1], request)}`,
            })),
            { value: "0", label: "Compare with none" },
          ]}
          onChoose={(value) => onSince(Number(value))}
        >
          {since === 0 ? "Compare" : `Since ${since}${changes === undefined ? "" : `: ${changes}`}`}
        </ChipMenu>
      )}
    </div>
  );
}

const MOST_LISTED = 200;
const STRIDE = 50;

/** Newest first. Of a long session the newest, then every fiftieth, the first and the chosen one. */
function listed(count: number, chosen: number): readonly number[] {
  const numbers = Array.from({ length: count }, (_, index) => count - index);
  if (count <= MOST_LISTED) return numbers;
  return numbers.filter(
    (request) =>
      request > count - MOST_LISTED / 2 || request % STRIDE === 0 || request === 1 || request === chosen,
  );
}

function nameOf(facts: RequestFacts | undefined, request: number): string {
  if (facts === undefined) return `request ${request}`;
  const { step, attempt } = facts.start;
  const status = facts.end?.status ?? "open";
  return [
    `request ${request}`,
    `step ${step}`,
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    facts.start.origin.model,
    ...(status === "completed" ? [] : [STATUS[status]]),
  ].join(" · ");
}

const STATUS = {
  open: "running",
  incomplete: "reached a limit",
  failed: "failed",
  cancelled: "stopped",
  cut: "cut",
} as const;
