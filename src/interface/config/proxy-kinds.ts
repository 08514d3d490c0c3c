/** The kind of the setting `proxy`: what `throughline proxy` does unless a flag says otherwise. */

import { isAbsolute } from "node:path";

import { addressProblem } from "../../base/support/index.ts";
import {
  choiceKind,
  described,
  integerKind,
  type Kind,
  kind,
  objectKind,
  optional,
  recordKind,
  type ValueOf,
} from "./value-kinds.ts";

/** The name of a route is the first part of a path. `t` stands in front of a token there, and `__` is the proxy's own. */
export const ROUTE_NAME = /^(?!t$)[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;

const ROUTE: Kind<string> = {
  ...kind({ type: "string", pattern: "^https?://" }, "", () => true),
  complaint: (value) => {
    const [address] = typeof value === "string" ? value.split(",") : [];
    const problem = address === undefined ? "is not a text" : addressProblem(address);
    return problem === undefined
      ? undefined
      : { at: "", why: `it ${problem}: use an address like https://host, or https://host,profile=NAME` };
  },
};

const FOLDER: Kind<string> = kind(
  { type: "string", minLength: 1 },
  "use an absolute path",
  (value) => typeof value === "string" && isAbsolute(value),
);

export const PROXY_SETTINGS = objectKind(
  {
    mode: optional(
      described(choiceKind(["repair", "observe", "strict"]), "what it does with lost reasoning"),
    ),
    to: optional(described(ROUTE, "one upstream, at the root of the proxy")),
    routes: optional(
      recordKind(ROUTE, {
        why: "use an object of addresses by name",
        schema: {
          description: "further upstreams, by name",
          propertyNames: { pattern: ROUTE_NAME.source },
        },
        name: (name) =>
          ROUTE_NAME.test(name)
            ? undefined
            : "a name has 1 to 40 letters, digits and . _ -, begins with a letter or a digit, and is not t",
      }),
    ),
    ledger: optional(described(FOLDER, "the folder of its ledger")),
    days: optional(described(integerKind(1), "forget what nobody used for this many days")),
    maxBytes: optional(described(integerKind(1), "the size of the ledger")),
  },
  { why: "use an object" },
);

export type ProxyConfig = ValueOf<typeof PROXY_SETTINGS>;
