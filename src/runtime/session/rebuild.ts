/**
 * Rebuilds any past request from the log alone, proven by the hash recorded when it was sent. Everything the fold and
 * the renderer read is in the log, so no key, model or options are needed.
 */

import type { RebuiltRequest } from "../../base/api/index.ts";
import type { Settings } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import { factsOf } from "../facts/index.ts";
import { explain, type Plan, planOf, withItems } from "../fold/index.ts";
import { BlobCache, type Log, rootOf } from "../log/index.ts";
import { createRenderer, type RenderedRequest, rendererVersionOf } from "../providers/index.ts";

/** Rebuilds the nth request, counted from 1, from the log alone. Throws `request_unknown` or `request_imported`. */
export async function rebuildRequest(log: Log, request: number): Promise<RebuiltRequest> {
  const { requests } = factsOf(log.events);
  const found = requests[request - 1];
  const start = found?.start;
  if (found?.imported === true)
    throw codedError(
      "request_imported",
      `answer ${request} was imported from another program, which sent its request: there is nothing to rebuild`,
    );
  if (start === undefined) {
    throw codedError(
      "request_unknown",
      `there is no request ${request}: the session has sent ${requests.length}`,
    );
  }
  const before = log.events.slice(0, start.seq);
  const plan = planOf(before);
  if (plan === undefined) throw codedError("no_settings", "the log has no settings yet");
  const blobs = new BlobCache(log);
  await blobs.load();
  const context = { cacheKey: rootOf(log), blob: (name: string) => blobs.get(name) };
  const render = (one: Plan): RenderedRequest =>
    createRenderer(plan.settings.profile.dialect).render(one, context);
  let rendered = render(plan);
  if (rendered.bodyHash !== start.bodyHash && mapsNames(plan)) {
    const earlier = render(namesAsWritten(plan));
    if (earlier.bodyHash === start.bodyHash) rendered = earlier;
  }
  const same = rendered.bodyHash === start.bodyHash;
  return {
    request,
    start,
    settings: plan.settings,
    body: Buffer.concat(rendered.body).toString("utf8"),
    proof: same ? "same" : isOurs(plan.settings) ? "differs" : "other_renderer",
    decisions: explain(before, rendered.entries),
  };
}

function mapsNames({ entries }: Plan): boolean {
  return entries.some(
    (entry) =>
      entry.kind === "group" &&
      entry.items.some(
        ({ event, name }) => event.type === "tool_call" && name !== undefined && name !== event.name,
      ),
  );
}

/** Earlier versions sent tool names exactly as the model wrote them. */
function namesAsWritten(plan: Plan): Plan {
  return {
    ...plan,
    entries: plan.entries.map((entry) =>
      entry.kind === "group"
        ? withItems(
            entry,
            entry.items.map(({ name: _name, ...item }) => item),
          )
        : entry,
    ),
  };
}

function isOurs({ renderer, profile }: Settings): boolean {
  return renderer === rendererVersionOf(profile.dialect);
}
