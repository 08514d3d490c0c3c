/** Where a request goes, as far as putting back is concerned. */

import type { Profile } from "../../runtime/providers/index.ts";

export interface Target {
  readonly profile: Profile;
  /**
   * `own`: a server of the same machine, which gets back what it issued in the form it issued it. `profile`: what the
   * profile accepts. `nothing`: an endpoint of which too little is known.
   */
  readonly putsBack: "own" | "profile" | "nothing";
}
