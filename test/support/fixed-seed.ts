/**
 * `npm test` is repeatable: property tests start from one seed. FC_SEED chooses another; FC_SEED=random, or a long run
 * by THROUGHLINE_RUNS, takes a new one each time and prints it when something fails.
 *
 * @module
 */

import fc from "fast-check";

const asked = process.env["FC_SEED"];
const random = asked === "random" || (asked === undefined && process.env["THROUGHLINE_RUNS"] !== undefined);
if (!random)
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: asked === undefined ? 20_261_115 : Number(asked) });
