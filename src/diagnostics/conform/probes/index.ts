/** All probes, in the order in which they run and are reported. */

import type { Probe } from "../probe.ts";
import { ANSWER_PROBES } from "./answer.ts";
import { BROKEN_PROBES } from "./broken.ts";
import { ERROR_PROBES } from "./errors.ts";
import { REASONING_PROBES } from "./reasoning.ts";
import { REPLAY_PROBES } from "./replay.ts";
import { REQUEST_PROBES } from "./requests.ts";
import { STREAM_PROBES } from "./stream.ts";
import { TOOL_PROBES } from "./tools.ts";

export const PROBES: readonly Probe[] = [
  ...REQUEST_PROBES,
  ...ANSWER_PROBES,
  ...STREAM_PROBES,
  ...ERROR_PROBES,
  ...TOOL_PROBES,
  ...REASONING_PROBES,
  ...REPLAY_PROBES,
  ...BROKEN_PROBES,
];
