/** The first line of a request: whether it is, byte for byte, what was sent. */

import type { RebuiltRequest, RequestPreview } from "../../../access/client/index.ts";
import { Icon } from "../look/icons.tsx";
import type { SessionView } from "../session-view.ts";
import { counted, sizeWords } from "./figures.ts";
import { decisionsOf, rebuiltRequest } from "./past-requests.ts";
import { useAnswer } from "./use-answer.ts";

export function Proof({ rebuilt, view, nameOf }: Props) {
  if (rebuilt.proof === "same")
    return (
      <p class="proof">
        <Icon name="check" class="good" />
        <span>Rebuilt from the log: exactly the {sizeWords(bytesOf(rebuilt.body))} that were sent</span>
      </p>
    );
  if (rebuilt.proof === "differs") return <Difference rebuilt={rebuilt} view={view} nameOf={nameOf} />;
  return (
    <p class="proof">
      <Icon name="ask" />
      <span>Another version of Throughline rendered it, so it cannot be proven here.</span>
    </p>
  );
}

interface Props {
  readonly rebuilt: RebuiltRequest;
  readonly view: SessionView;
  /** What the table calls the item of an event. */
  readonly nameOf: (seq: number) => string;
}

function Difference({ rebuilt, view, nameOf }: Props) {
  const { value } = useAnswer(`difference ${rebuilt.request}`, "", () =>
    firstDifference(view, rebuilt.request),
  );
  return (
    <p class="proof failed">
      <Icon name="cross" class="bad" />
      <span>
        Rebuilt from the log, but not the bytes that were sent.
        {value === undefined ? "" : ` ${placeWords(value, nameOf)}`}
      </span>
    </p>
  );
}

function placeWords({ proven, seq }: FirstDifference, nameOf: (seq: number) => string): string {
  if (proven === 0) return "No earlier request is proven either.";
  const item = seq === undefined ? "in a field before the items" : `at “${nameOf(seq)}” or later`;
  return `Request ${proven} is proven, so it differs ${item}.`;
}

interface FirstDifference {
  /** The last request before those that differ; 0 if there is none. */
  readonly proven: number;
  /** The first event that the next request carried and the proven one did not. */
  readonly seq: number | undefined;
}

/**
 * Only hashes of what was sent are kept. What a proven request carried is proven, so the first item that differs is the
 * first that the last proven request did not have.
 */
async function firstDifference(view: SessionView, request: number): Promise<FirstDifference> {
  let proven = 0;
  let differs = request;
  while (differs - proven > 1) {
    const middle = (proven + differs) >> 1;
    if (await isProven(view, middle)) proven = middle;
    else differs = middle;
  }
  if (proven === 0) return { proven, seq: undefined };
  const sent = await sentIn(view, differs);
  const before = new Set(await sentIn(view, proven));
  return { proven, seq: sent.find((seq) => !before.has(seq)) };
}

async function isProven(view: SessionView, request: number): Promise<boolean> {
  try {
    return (await rebuiltRequest(view, request)).proof === "same";
  } catch {
    return false; // an imported answer has no request
  }
}

async function sentIn(view: SessionView, request: number): Promise<readonly number[]> {
  return (await decisionsOf(view, request)).filter(({ action }) => action !== "omit").map(({ seq }) => seq);
}

export function PreviewProof({ preview }: { readonly preview: RequestPreview }) {
  const { violations, body } = preview;
  if (violations.length === 0)
    return (
      <p class="proof">
        <Icon name="arrow-right" />
        <span>This is what would be sent now: {sizeWords(bytesOf(body))}</span>
      </p>
    );
  return (
    <>
      <p class="proof failed">
        <Icon name="cross" class="bad" />
        <span>This would not be sent: it breaks {counted(violations.length, "rule")}.</span>
      </p>
      <ul class="violations">
        {violations.map(({ rule, index, message }) => (
          <li key={`${rule} ${index}`}>
            {rule}: {message}
          </li>
        ))}
      </ul>
    </>
  );
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
