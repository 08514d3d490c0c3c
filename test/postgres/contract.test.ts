/** The log contract, unchanged, on a real server. */

import { describeChangesContract } from "../contracts/changes-contract.ts";
import { describeLogContract, type StoreUnderTest } from "../contracts/log-contract.ts";
import { makeDatabase } from "./fixture.ts";

async function onPostgres(): Promise<StoreUnderTest> {
  const { store, sql, dispose } = await makeDatabase();
  return {
    store: store(),
    again: () => store(),
    touch: async (id, at) => {
      await sql("update s.sessions set modified_at = to_timestamp($2::float8 / 1000) where id = $1", [
        id,
        at,
      ]);
    },
    dispose,
  };
}

describeLogContract("postgresStore", onPostgres);
describeChangesContract("postgresStore", onPostgres);
