/** How full the model's context is, as a ring; what the session has used so far, behind one click. */

import { compact, dollars } from "../numbers.ts";
import type { SessionView } from "../session-view.ts";
import { Popover } from "./popover.tsx";

/** The length of the ring: its radius is 6. */
const RING = 2 * Math.PI * 6;

export function ContextMeter({ view }: { readonly view: SessionView }) {
  const { usage, context, costUsd } = view.handle;
  const fraction = context?.fraction;
  const percent = typeof fraction === "number" ? Math.round(fraction * 100) : undefined;
  const cost = dollars(costUsd);
  const name =
    percent === undefined
      ? "Usage"
      : `Usage: ${percent}% of the context${context?.contextTokens === undefined ? "" : ` of ${compact(context.contextTokens)} tokens`}`;
  return (
    <Popover
      name={name}
      kind="panel"
      buttonClass="chip num"
      button={
        <>
          <svg class="ring" viewBox="0 0 16 16" aria-hidden="true">
            <circle class="track" cx="8" cy="8" r="6" />
            <circle
              class="value"
              cx="8"
              cy="8"
              r="6"
              stroke-dasharray={`${Math.min(1, fraction ?? 0) * RING} 40`}
            />
          </svg>
          {percent === undefined ? "–" : `${percent}%`}
        </>
      }
    >
      {() => (
        <dl class="usage" tabIndex={-1}>
          <dt>Context</dt>
          <dd>
            {percent === undefined
              ? "not known yet"
              : `${percent}%${context?.contextTokens === undefined ? "" : ` of ${compact(context.contextTokens)} tokens`}`}
          </dd>
          <dt>In</dt>
          <dd>
            {compact(usage.inputTokens)} tokens
            {usage.cachedTokens === 0 ? "" : `, ${compact(usage.cachedTokens)} cached`}
          </dd>
          <dt>Out</dt>
          <dd>
            {compact(usage.outputTokens)} tokens
            {usage.reasoningTokens === 0 ? "" : `, ${compact(usage.reasoningTokens)} thinking`}
          </dd>
          {cost === undefined ? null : (
            <>
              <dt>Cost</dt>
              <dd>{cost}</dd>
            </>
          )}
        </dl>
      )}
    </Popover>
  );
}
