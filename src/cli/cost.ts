/**
 * What tokens cost, where the price is known. No invented dollar: unknown is undefined.
 *
 * @module
 */

import type { Usage } from "../events/index.ts";

export function costOf(_provider: string, _model: string, _usage: Usage): number | undefined {
  return undefined;
}
