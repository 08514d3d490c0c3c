/** How each endpoint departs from its dialect: data, not code. */

import type { Profile } from "../../../base/events/index.ts";
import { CHAT_PROFILES } from "./chat.ts";
import { MESSAGES_PROFILES } from "./messages.ts";
import { RESPONSES_PROFILES } from "./responses.ts";

export const PROFILES: Readonly<Record<string, Profile>> = {
  ...RESPONSES_PROFILES,
  ...MESSAGES_PROFILES,
  ...CHAT_PROFILES,
};
