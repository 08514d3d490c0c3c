/** The tests that need a PostgreSQL server (npm run test:postgres). */

import { configDefaults, defineConfig } from "vitest/config";

import shared from "./vitest.config.ts";

const { test } = shared;

export default defineConfig({
  test: {
    ...test,
    include: ["test/postgres/**/*.test.ts"],
    exclude: configDefaults.exclude,
    globalSetup: ["test/support/build-once.ts", "test/postgres/global-cluster.ts"],
  },
});
