import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

/** The duration of a comparison cannot be asserted, but the code that makes it can be read. */
test("every credential is compared in constant time, never with ===", () => {
  const source = readFileSync(join(import.meta.dirname, "../../src/access/server/access-keys.ts"), "utf8");
  for (const name of ["#redeemHere", "#ownGrant"]) {
    const body = new RegExp(`^  ${name}\\(.*?^  }$`, "ms").exec(source)?.[0] ?? "";
    expect(body, name).toContain("timingSafeEqual(");
    expect(body, name).not.toMatch(/given\)? *[!=]==|[!=]== *(?:given|digest)/);
  }
});
