/**
 * Runs the lossy client from the command line:
 *
 *     node --import tsx test/proxy/lossy-client/run.ts --target repair --seed 1 --requests 20000
 *
 * - `--target direct | observe | repair | killed | naive`
 * - `--openings different | equal | both`, `--dialect responses | messages | chat`
 * - `--lanes N` (worlds at once), `--per-world N` (requests)
 * - `--kinds N`, `--places N`, `--only PATTERN`: which failures to show; "^missing" for what was not put back
 * - `--world N`: one world alone; with it `--dump REQUEST`: that request as sent and as arrived, with `--raw` byte for
 *   byte; `--why REQUEST`: what became of the answers whose thoughts it lacks
 *
 * @module
 */

import { parseArgs } from "node:util";

import { objectOf } from "../../../src/base/support/index.ts";
import type { Exchange } from "./exchange.ts";
import { play } from "./play.ts";
import { agent } from "./post.ts";
import { factsOf, failuresOf, tableOf } from "./print.ts";
import { Story } from "./story.ts";
import { TARGETS, type TargetName } from "./targets.ts";
import type { Reading } from "./truth.ts";
import { DIALECTS } from "./world.ts";

const { values } = parseArgs({
  options: {
    target: { type: "string", default: "repair" },
    seed: { type: "string", default: "1" },
    requests: { type: "string", default: "3000" },
    openings: { type: "string", default: "both" },
    dialect: { type: "string" },
    lanes: { type: "string", default: "4" },
    "per-world": { type: "string", default: "300" },
    kinds: { type: "string", default: "12" },
    places: { type: "string", default: "3" },
    only: { type: "string" },
    world: { type: "string" },
    dump: { type: "string" },
    raw: { type: "boolean" },
    why: { type: "string" },
  },
});

const target = TARGETS.find((one) => one === values.target) as TargetName;
const openings = (["different", "equal", "both"] as const).find((one) => one === values.openings) ?? "both";
const seed = Number(values.seed);
const say = (text: string): boolean => process.stdout.write(`${text}\n`);

function dump(exchange: Exchange): void {
  if (exchange.request !== Number(values.dump)) return;
  const { dialect, request, mutations, sentText, attempts, got, sent } = exchange;
  say(`request ${request}: ${mutations.join(" ")}\nsent`);
  say(values.raw === true ? sentText : slotsOf(sent));
  for (const { requestText, report } of attempts) {
    const arrived = dialect.read(objectOf(JSON.parse(requestText)));
    say(`arrived${arrived.head === sent.head ? "" : `, head ${arrived.head}`}`);
    say(values.raw === true ? requestText : slotsOf(arrived));
    say(`${report?.verdict ?? ""} ${report?.rule ?? ""} ${report?.message ?? ""}`);
  }
  say(`got ${got.status} ${got.told ?? ""} ${got.text.slice(0, values.raw === true ? 100_000 : 300)}`);
}

/** One line per visible piece, with its thoughts before it. */
function slotsOf({ slots }: Reading): string {
  const lines = slots.map(({ json, from, thoughts }, at) => {
    const before = thoughts.map(({ json: thought }) => `      ${shortened(thought)}\n`).join("");
    const whose = from === undefined ? "" : ` (answer ${from.answer.id}, request ${from.answer.request})`;
    return `${before}  ${at} ${shortened(json)}${whose}`;
  });
  return lines.join("\n");
}

function shortened(json: string): string {
  return json.replaceAll(/(?:gAAAA|Er|Em)[\w+/=-]{40,}/g, (text) => `${text.slice(-26, -20)}…`).slice(0, 260);
}

const story = values.why === undefined ? undefined : new Story(Number(values.why), say);
const started = performance.now();
const tally = await play({
  seed,
  target,
  openings,
  requests: Number(values.requests),
  lanes: Number(values.lanes),
  perWorld: Number(values["per-world"]),
  world: values.world === undefined ? undefined : Number(values.world),
  dialects:
    values.dialect === undefined
      ? undefined
      : DIALECTS.filter(({ path }) => path.includes(values.dialect ?? "")),
  seen: (exchange) => {
    dump(exchange);
    story?.add(exchange);
  },
});
const seconds = (performance.now() - started) / 1000;
const requests = tally.get("all", "requests");
say(tableOf(tally));
say(`\n${factsOf(tally)}`);
// What was not put back is in the table; its examples are shown when asked for.
const only = new RegExp(values.only ?? "^(?!missing)");
say(`\n${failuresOf(tally, { kinds: Number(values.kinds), places: Number(values.places), only })}`);
say(
  `\ntarget ${target}, seed ${seed}: ${requests} requests in ${seconds.toFixed(1)} s, ${Math.round(requests / seconds)} per second`,
);
agent.destroy();
