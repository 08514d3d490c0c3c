/**
 * A writer of the takeover test: DBOS. Another process takes over by starting under the same executor id, which is how
 * an application without its paid service recovers.
 *
 *   node dbos.mjs URL EXECUTOR
 *
 * @module
 */
import { DBOS } from "@dbos-inc/dbos-sdk";

import { serve } from "../figures.mjs";
import { ANSWER_ONE, ANSWER_TWO, outcomeOf, stop, takeEffect } from "./child.mjs";

const [url, executorID] = process.argv.slice(2);
let stops = false;
const turn = DBOS.registerWorkflow(
  async (thread, text) => {
    const calls = await DBOS.runStep(async () => text === "one", { name: "model" });
    if (!calls) return DBOS.runStep(async () => ANSWER_TWO, { name: "answer" });
    await DBOS.runStep(
      async () => {
        if (stops) stop();
        await takeEffect(url, thread);
      },
      { name: "charge" },
    );
    return DBOS.runStep(async () => ANSWER_ONE, { name: "answer" });
  },
  { name: "turn" },
);
DBOS.setConfig({
  name: "takeover",
  systemDatabaseUrl: url,
  executorID,
  applicationVersion: "1",
  logLevel: "error",
  runAdminServer: false,
});
await DBOS.launch();

serve({
  first: async (thread) => {
    stops = true;
    const handle = await DBOS.startWorkflow(turn, { workflowID: `${thread}-one` })(thread, "one");
    return outcomeOf(() => handle.getResult());
  },
  // The start of this process has recovered the workflow.
  takeOver: (thread) => DBOS.retrieveWorkflow(`${thread}-one`).getResult(),
  more: async (thread) =>
    (await DBOS.startWorkflow(turn, { workflowID: `${thread}-two` })(thread, "two")).getResult(),
  messages: async (thread) =>
    Promise.all(["one", "two"].map((text) => DBOS.retrieveWorkflow(`${thread}-${text}`).getResult())),
});
