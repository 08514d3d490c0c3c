/**
 * The model of a recording: everything about it is in the recorded settings, so neither a key nor a provider that this
 * machine knows is needed. What it sends goes to the playback and nowhere else.
 */

import type { Settings } from "../../../base/events/index.ts";
import { priced } from "../../../runtime/models/index.ts";
import { createModel, type Model } from "../../../runtime/providers/index.ts";

/** A name that resolves nowhere (RFC 2606), should anything ever try. */
const NOWHERE = "http://playback.invalid";

export function recordedModel(settings: Settings): Model {
  const {
    system: _system,
    tools: _tools,
    replay: _replay,
    foreign: _foreign,
    output: _output,
    ...own
  } = settings;
  const { provider, model, endpoint } = settings.target;
  const created = createModel({
    provider,
    model,
    profile: settings.profile,
    endpointName: endpoint,
    baseUrl: async () => NOWHERE,
    apiKey: "throughline-playback",
    keyName: "no key",
  });
  // As it was recorded, whatever this version would make of the name today.
  return priced({ ...created, settings: own, withEffort: () => recordedModel(settings) });
}
