/**
 * One node: the real server over the real store, with the built-in model. Its tools write their idempotency key into a
 * table without any constraint, and into a file before that, so that a tool that ran twice is seen even if the database
 * lost a row. Every acknowledged event is written to a file too.
 */

import { openSync, writeSync } from "node:fs";
import type { Socket } from "node:net";

import pg from "pg";

import { startServer } from "../../src/access/server/index.ts";
import { type Clock, systemClock } from "../../src/base/support/index.ts";
import { createAgent, emulator, type Store, tool, type Tool } from "../../src/index.ts";
import { postgresStore } from "../../src/runtime/postgres/index.ts";
import { ASKING_TOOL, type ChildPlan, CITY_MS, IDEMPOTENT_TOOL } from "./child-plan.ts";

const plan = JSON.parse(process.argv[2] ?? "{}") as ChildPlan;
const [acks, ran] = [openSync(plan.acks, "a"), openSync(plan.ran, "a")];
const say = (line: string): void => void writeSync(1, `${line}\n`);

const clock: Clock = { ...systemClock, now: () => Date.now() + plan.clockShiftMs };

const tools = new pg.Pool({
  connectionString: plan.toolsUrl,
  max: 4,
  application_name: "chaos-tools",
  connectionTimeoutMillis: 3000,
});
tools.on("error", () => undefined); // an idle connection was lost; the next call connects again

/** Sends the key once. A second try could write it twice, and the check would blame the runtime for it. */
async function takeEffect(name: string, key: string): Promise<void> {
  writeSync(ran, `${key} ${name} ${Date.now()}\n`);
  await tools.query("insert into chaos.effects (key, tool, node) values ($1, $2, $3)", [
    key,
    name,
    plan.name,
  ]);
}

const weather = tool({
  name: "get_weather",
  description: "Weather of a city",
  input: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  access: "write",
  async run(input, { idempotencyKey, signal }) {
    const city = String(input["city"]);
    const ms = CITY_MS[city] ?? 0;
    await clock.sleep(ms / 2, signal);
    await takeEffect("get_weather", idempotencyKey);
    await clock.sleep(ms / 2, signal);
    return `Sunny in ${city}`;
  },
});

const simple = (
  name: string,
  options: { readonly parallel?: boolean; readonly idempotent?: boolean },
): Tool =>
  tool({
    name,
    description: `Does what its name says: ${name}`,
    input: { type: "object", properties: {}, additionalProperties: false },
    access: "write",
    ...options,
    async run(_input, { idempotencyKey, signal }) {
      await takeEffect(name, idempotencyKey);
      await clock.sleep(100, signal);
      return "Done";
    },
  });

/** Notes down what `append` acknowledged, before anything acts on it. */
function witnessed(store: Store): Store {
  const open = store.open.bind(store);
  const patch: Pick<Store, "open"> = {
    async open(id, options) {
      const log = await open(id, options);
      const append = log.append.bind(log);
      Object.assign(log, {
        append: async (...args: Parameters<typeof append>) => {
          const events = await append(...args);
          if (events.length > 0)
            writeSync(acks, events.map((event) => `${id} ${event.seq} ${event.id} ${Date.now()}\n`).join(""));
          return events;
        },
      });
      return log;
    },
  };
  return Object.assign(store, patch);
}

const { name, leaseMs } = plan;
const store = witnessed(postgresStore(plan.storeUrl, { pool: "chaos", name, leaseMs, clock }));
const agent = createAgent({
  model: emulator({ paceMs: 2 }),
  tools: [
    weather,
    simple("write_note", { parallel: false }),
    simple(IDEMPOTENT_TOOL, { idempotent: true }),
    simple(ASKING_TOOL, {}),
  ],
  permissions: "ask",
  allow: ["get_weather", "write_note", IDEMPOTENT_TOOL],
  clock,
});
const server = await startServer({
  store,
  agent,
  clock,
  port: plan.port,
  token: plan.token,
  releaseMs: 1500,
  onProblem: (message) => process.stderr.write(`problem: ${message}\n`),
});

// The run has died: nobody else would end this process.
process.stdin.on("end", () => process.exit(1)).resume();
(process.stdin as Socket).unref();

process.on("SIGTERM", () => {
  void leave();
});

async function leave(): Promise<void> {
  await server.close({ drainMs: plan.drainMs });
  await store.close();
  await tools.end();
  say("left");
}

say("ready");
