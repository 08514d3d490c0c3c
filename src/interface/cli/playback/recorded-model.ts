/**
 * The model of a recording. The recorded settings describe it completely, so it needs no key and no provider on this
 * machine. Its requests go only to the playback.
 */

import type { Settings } from "../../../base/events/index.ts";
import { priced } from "../../../runtime/models/index.ts";
import { createModel, type Model } from "../../../runtime/providers/index.ts";

/** A host name that never resolves (RFC 2606), as a safeguard. */
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
  // Use the recorded settings, even if this version would derive others from the name.
  return priced({ ...created, settings: own, withEffort: () => recordedModel(settings) });
}
