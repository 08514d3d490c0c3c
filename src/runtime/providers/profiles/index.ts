/** How each endpoint departs from its dialect: data, not code. */

import type { Profile } from "../../../base/events/index.ts";
import { CHAT_PROFILES } from "./chat.ts";
import { MESSAGES_PROFILES } from "./messages.ts";
import { RESPONSES_PROFILES } from "./responses.ts";

/** The name of a built-in profile. */
export type ProfileName =
  | keyof typeof RESPONSES_PROFILES
  | keyof typeof MESSAGES_PROFILES
  | keyof typeof CHAT_PROFILES;

/** The built-in profiles by name. */
export const PROFILES: Readonly<Record<ProfileName, Profile>> & Readonly<Record<string, Profile>> = {
  ...RESPONSES_PROFILES,
  ...MESSAGES_PROFILES,
  ...CHAT_PROFILES,
};
