/** Why a request is refused before anything else reads it. */

import type { ErrorCode } from "../../base/support/index.ts";

export interface Denial {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

export function deny(status: number, code: ErrorCode, message: string): Denial {
  return { status, code, message };
}
