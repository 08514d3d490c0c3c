/** What a session says whose store was set back to an earlier state while a turn was open. */

export const STORE_RESTORED = "store_restored";

export const RESTORED =
  "the database was restored or replaced while a turn was open. What the turn did last may be missing, so it was ended and none of its calls runs again. Check what its tools have done, then send a message to continue";
