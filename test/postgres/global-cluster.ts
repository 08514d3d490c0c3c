/** Starts one server for all tests of this folder. Each test has its own schema. */

import type { TestProject } from "vitest/node";

import { type Cluster, startCluster } from "../support/postgres-cluster.ts";

declare module "vitest" {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

let cluster: Cluster | undefined;

export async function setup(project: TestProject): Promise<void> {
  const given = process.env["THROUGHLINE_TEST_POSTGRES"];
  // Nothing here depends on the disk, and many schemas are made.
  cluster = given === undefined ? await startCluster({ settings: ["fsync = off"] }) : undefined;
  project.provide("postgresUrl", given ?? cluster?.url ?? "");
}

export async function teardown(): Promise<void> {
  await cluster?.remove();
}
