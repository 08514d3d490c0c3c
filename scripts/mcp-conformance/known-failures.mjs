/** Scenarios that our client does not pass, and why. None of them is required by a revision of the specification. */
const NO_PERSON = "an extension: a program logs in as itself, without a person";
const DPOP = "an extension: tokens that are bound to a key";

export const knownFailures = {
  "auth/client-credentials-jwt": NO_PERSON,
  "auth/client-credentials-basic": NO_PERSON,
  "auth/enterprise-managed-authorization": "an extension: a company's own login gives out the tokens",
  "auth/wif-jwt-bearer": NO_PERSON,
  "auth/dpop": DPOP,
  "auth/dpop-nonce": DPOP,
  "json-schema-2020-12-preservation":
    "added later: a schema that models get as a member of another loses its $schema, which is for the top",
};
