/** A request item by item: one that was sent, rebuilt from the log and proven, or the one that would be sent now. */

import { useMemo, useState } from "preact/hooks";

import type { RebuiltRequest, RequestPreview } from "../../../access/client/index.ts";
import type { SessionView } from "../session-view.ts";
import { blockIndex } from "./event-index.ts";
import { decisionsOf, rebuiltRequest } from "./past-requests.ts";
import { PreviewProof, Proof } from "./proof.tsx";
import { RawValue } from "./raw-value.tsx";
import { type RequestChoice, RequestChooser } from "./request-choice.tsx";
import { changeWords, requestRows, type RequestRow } from "./request-rows.ts";
import { RequestTable } from "./request-table.tsx";
import { type Answer, useAnswer } from "./use-answer.ts";
import { askKey, useRefresh } from "./use-refresh.ts";

interface Props {
  readonly view: SessionView;
  readonly choice: RequestChoice;
  readonly onChoose: (choice: RequestChoice) => void;
  readonly selected: string | undefined;
  readonly onSelect: (block: string) => void;
}

type Shown = RebuiltRequest | RequestPreview;

export function RequestTab({ view, choice, onChoose, selected, onSelect }: Props) {
  useRefresh(view);
  const { requests } = view.facts;
  const wanted = wantedRequest(choice, requests.length);
  const asked = useAnswer<Shown>(
    wanted === "next" && view.facts.settings === undefined ? undefined : String(choice),
    // What failed is asked for again when the connection is back.
    `${wanted === "next" ? askKey(view) : wanted} ${view.handle.connection}`,
    () => (wanted === "next" ? view.handle.preview() : rebuiltRequest(view, wanted)),
  );
  const { value } = asked;
  // The newest request stays until the next one has come.
  const shown = value !== undefined && "request" in value ? value.request : wanted;
  // Chosen for one request; another one is compared with the one before it.
  const [compared, setCompared] = useState<{ readonly with: number; readonly of: number | "next" }>();
  const since = compared?.of === shown ? compared.with : (shown === "next" ? requests.length + 1 : shown) - 1;
  const before = useAnswer(since < 1 ? undefined : String(since), view.handle.connection, () =>
    decisionsOf(view, since),
  );
  const rows = useRows(view, value, since, before.value);
  // While a turn streams, a table that stays the same is not even compared.
  const table = useMemo(
    () => (
      <RequestTable
        label={shown === "next" ? "Items of the next request" : `Items of request ${shown}`}
        rows={rows}
        selected={selected}
        onSelect={onSelect}
      />
    ),
    [shown, rows, selected, onSelect],
  );
  if (requests.length === 0 && view.facts.settings === undefined)
    return <p class="empty">No request has been sent yet.</p>;
  return (
    <>
      <RequestChooser
        requests={requests}
        shown={shown}
        onChoose={onChoose}
        since={since}
        onSince={(request) => setCompared({ with: request, of: shown })}
        changes={before.value === undefined || value === undefined ? undefined : changeWords(rows)}
      />
      {asked.problem === undefined ? null : (
        <p class="proof" role="status">
          {problemWords(asked.problem)}
        </p>
      )}
      {value === undefined && asked.problem === undefined ? (
        <p class="proof" role="status">
          {shown === "next" ? "Asking the server…" : "Rebuilding it from the log…"}
        </p>
      ) : null}
      {value === undefined ? null : (
        <>
          {"proof" in value ? (
            <Proof
              rebuilt={value}
              view={view}
              nameOf={(seq) => rows.find(({ key }) => key === String(seq))?.words().label ?? `event ${seq}`}
            />
          ) : (
            <PreviewProof preview={value} />
          )}
          {table}
          <RawValue json={value.body} label="The whole request">
            Whole request
          </RawValue>
        </>
      )}
    </>
  );
}

function wantedRequest(choice: RequestChoice, count: number): number | "next" {
  if (choice === "next" || count === 0) return "next";
  return choice === "newest" ? count : Math.min(choice, count);
}

/** A table of thousands of rows is made anew only if what it shows has changed. */
function useRows(
  view: SessionView,
  shown: Shown | undefined,
  since: number,
  before: RebuiltRequest["decisions"] | undefined,
): readonly RequestRow[] {
  const { events, facts } = view;
  return useMemo(() => {
    if (shown === undefined) return [];
    const start = facts.requests[since - 1]?.start;
    return requestRows({
      decisions: shown.decisions,
      settings: "settings" in shown ? shown.settings : facts.settings,
      events,
      requests: facts.requests,
      blocks: blockIndex(view.blocks),
      earlier:
        before === undefined || start === undefined
          ? undefined
          : { decisions: before, settings: facts.settingsAt(start.seq) },
    });
    // What a request carried is older than it, and the blocks of older events stay.
  }, [shown, before, facts, facts.turnsEnded]);
}

function problemWords({ code, message }: NonNullable<Answer<never>["problem"]>): string {
  if (code === "request_imported")
    return "Another program sent this request. Its answer was imported, so there is nothing to rebuild.";
  return `The request cannot be shown: ${message}.`;
}
