/** Exit codes, stable for scripts (docs/cli.md). */

import type { TurnResult } from "../../runtime/session/index.ts";

export const EXIT = {
  ok: 0,
  turnFailed: 1,
  usage: 2,
  permission: 3,
  limit: 4,
  differs: 5,
  /** A defect of ours. The number is that of sysexits.h (EX_SOFTWARE). */
  internal: 70,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export function exitCodeOf(result: TurnResult, neededPermission: boolean): number {
  switch (result.status) {
    case "completed":
      return neededPermission ? EXIT.permission : EXIT.ok;
    case "incomplete":
      return EXIT.limit;
    case "cancelled":
    case "interrupted":
      return EXIT.interrupted;
    case "failed":
      return result.error?.code === "api_key_missing" ? EXIT.usage : EXIT.turnFailed;
    default:
      return EXIT.turnFailed;
  }
}
