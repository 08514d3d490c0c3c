/** Every request of the session, rebuilt from the log and verified by its hash, and the difference between two. */

import { useEffect, useState } from "preact/hooks";

import type { RebuiltRequest, RemoteAgent, RequestSummary } from "../../../access/client/index.ts";
import { codeOf, messageOf } from "../../../base/support/index.ts";
import { compact } from "../numbers.ts";
import type { SessionView } from "../session-view.ts";
import { Problem } from "./problem.tsx";
import { Raw } from "./raw.tsx";

interface Props {
  readonly agent: RemoteAgent;
  readonly view: SessionView;
}

export function Requests({ agent, view }: Props) {
  const [list, setList] = useState<readonly RequestSummary[]>([]);
  const [chosen, setChosen] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const { requests } = view.facts;
  const count = requests.length + requests.filter(({ end }) => end !== undefined).length;
  useEffect(() => {
    if (count === 0) return;
    agent.requests(view.handle.id).then(setList, (error: unknown) => setProblem(messageOf(error)));
  }, [agent, view, count]);
  if (list.length === 0) return <p class="empty">No request has been sent yet.</p>;
  return (
    <section>
      <h2>Requests</h2>
      <ol class="requests">
        {list.map((one) => (
          <li key={one.request}>
            <button
              type="button"
              aria-pressed={one.request === chosen}
              onClick={() => setChosen(one.request)}
            >
              {one.request} · {one.model} · step {one.step}
              {one.attempt > 1 ? ` attempt ${one.attempt}` : ""} · {one.status}
              {one.usage === undefined
                ? ""
                : ` · ↑${compact(one.usage.inputTokens)}${one.usage.cachedTokens === 0 ? "" : ` (${compact(one.usage.cachedTokens)} cached)`} ↓${compact(one.usage.outputTokens)}`}
            </button>
          </li>
        ))}
      </ol>
      <Problem text={problem} />
      {chosen === undefined ? null : <Request key={chosen} view={view} request={chosen} />}
    </section>
  );
}

function Request({ view, request }: { readonly view: SessionView; readonly request: number }) {
  const [other, setOther] = useState(request - 1);
  const [rebuilt, setRebuilt] = useState<RebuiltRequest>();
  const [before, setBefore] = useState<RebuiltRequest>();
  const [problem, setProblem] = useState<string>();
  const failed = (error: unknown): void => setProblem(messageOf(error));
  useEffect(() => {
    view.handle.rebuild(request).then(setRebuilt, failed);
  }, [view, request]);
  useEffect(() => {
    if (other < 1) return undefined;
    let stale = false;
    const take = (found: RebuiltRequest): void => {
      if (!stale) setBefore(found);
    };
    // An imported answer has no request to compare with.
    const lacks = (error: unknown): void => {
      if (codeOf(error) === "request_imported") setBefore(undefined);
      else failed(error);
    };
    view.handle.rebuild(other).then(take, lacks);
    return () => {
      stale = true;
    };
  }, [view, other]);
  if (problem !== undefined) return <p class="problem">{problem}</p>;
  if (rebuilt === undefined) return <p class="empty">Rebuilding…</p>;
  return (
    <section aria-label={`Request ${request}`}>
      <p>{PROOFS[rebuilt.proof]}</p>
      {request < 3 ? null : (
        <label>
          Compare with request{" "}
          <select value={other} onChange={(event) => setOther(Number(event.currentTarget.value))}>
            {Array.from({ length: request - 1 }, (_, at) => (
              <option key={at} value={at + 1}>
                {at + 1}
              </option>
            ))}
          </select>
        </label>
      )}
      {before === undefined ? null : <Difference from={before} to={rebuilt} />}
      <Raw value={JSON.parse(rebuilt.body)} label="Body" />
    </section>
  );
}

const PROOFS: Readonly<Record<RebuiltRequest["proof"], string>> = {
  same: "Rebuilt from the log: exactly the bytes that were sent ✓",
  differs: "Rebuilt from the log, but these are not the bytes that were sent.",
  other_renderer: "Sent by another version and rebuilt by this one, so it cannot be verified.",
};

/** The leading items that both share are the prefix that the provider's cache sees. */
function Difference({ from, to }: { readonly from: RebuiltRequest; readonly to: RebuiltRequest }) {
  const old = itemsOf(from.body);
  const now = itemsOf(to.body);
  let same = 0;
  while (same < old.length && same < now.length && old[same] === now[same]) same += 1;
  return (
    <details class="diff">
      <summary>
        Since request {from.request}: {same} the same, {old.length - same} gone, {now.length - same} new
      </summary>
      <ul>
        {old.slice(same).map((text, index) => (
          <li key={`-${index}`} class="gone">
            <pre tabIndex={0}>− {text}</pre>
          </li>
        ))}
        {now.slice(same).map((text, index) => (
          <li key={`+${index}`} class="new">
            <pre tabIndex={0}>+ {text}</pre>
          </li>
        ))}
      </ul>
    </details>
  );
}

function itemsOf(body: string): readonly string[] {
  const { input, messages } = JSON.parse(body) as Partial<Record<"input" | "messages", unknown[]>>;
  return (input ?? messages ?? []).map((item) => JSON.stringify(item));
}
