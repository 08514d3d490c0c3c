/**
 * The emulator: a strict stand-in for the Responses, Messages and chat completions APIs, with its own verdicts. It
 * shares no logic with the client it judges: it imports only `support` and the protocol vocabulary in `wire`.
 */

import { checkOptions, type Clock, type Given, systemClock } from "../base/support/index.ts";
import { Engine } from "./engine.ts";
import type { Fault } from "./faults/fault.ts";
import { openHttpServer } from "./http-server.ts";
import type { ModelTraits } from "./model-traits.ts";
import { EMULATOR_OPTIONS } from "./option-checks.ts";
import { type RecordedExchange, type Report, toReport } from "./report.ts";
import type { Scenario } from "./scenario/scenario.ts";
import type { Switches } from "./switches.ts";

export { type Fault, type FaultPoint } from "./faults/fault.ts";
export { faultNames, parseFaults } from "./faults/parse-fault.ts";
export { documentedModels, type ModelTraits } from "./model-traits.ts";
export type { Outcome, RecordedExchange, Report, RequestReport } from "./report.ts";
export { loadScenario } from "./scenario/load-scenario.ts";
export type { Scenario, ScenarioStep } from "./scenario/scenario.ts";
export { defaultSwitches, parseSwitch, type Switches, switchValues } from "./switches.ts";

/** Options of `startEmulator`. */
export interface EmulatorOptions {
  /** Default: "127.0.0.1". Any other host must be requested explicitly. */
  readonly host?: string | undefined;
  /** Default: 0, any free port. */
  readonly port?: number | undefined;
  /** Default: "strict". "lenient" answers where strict would refuse, and reports it. */
  readonly mode?: "strict" | "lenient" | undefined;
  /** Overrides of `defaultSwitches`. */
  readonly switches?: Given<Switches> | undefined;
  /** Scripted answers, from `loadScenario`. Default: the built-in model answers. */
  readonly scenario?: Scenario | undefined;
  /** Each request that makes the model answer takes one, in order. Default: none. */
  readonly faults?: readonly Fault[] | undefined;
  /** The delay between deltas in milliseconds. Default: 0. */
  readonly paceMs?: number | undefined;
  /** The key for ids and ciphertext. The default is public and fixed, so that sessions survive a restart. */
  readonly secret?: string | undefined;
  /** API key → organisation. By default every key is accepted and is its own organisation. */
  readonly accounts?: Readonly<Record<string, string>> | undefined;
  /** Traits of model ids, overriding the built-in table. */
  readonly models?: Readonly<Record<string, Partial<ModelTraits>>> | undefined;
  /** Called with each request and its answer. */
  readonly record?: ((entry: RecordedExchange) => void) | undefined;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** With a seed, all ids and ciphertext are the same in every run. */
  readonly seed?: string | undefined;
  /** If true, the socket does not keep the process alive. Default: false. */
  readonly unref?: boolean | undefined;
}

/** A running emulator. */
export interface Emulator {
  /** http://127.0.0.1:PORT */
  readonly url: string;
  /** `url` + "/v1", the base URL for a client. */
  readonly baseUrl: string;
  /** The last 1,000 requests with their answers. */
  readonly exchanges: readonly RecordedExchange[];
  /** Returns the verdicts on all requests so far. */
  report(): Report;
  /** Adds faults for the next requests. */
  addFaults(...faults: readonly Fault[]): void;
  /** Makes all earlier ciphertext fail with invalid_encrypted_content. */
  rotateKey(): void;
  /** Ends open streams and frees the port. */
  close(): Promise<void>;
}

/**
 * Starts a strict stand-in for the Responses, Messages and chat completions APIs on a local port.
 *
 * @example
 * ```ts
 * import { createAgent, openai } from "throughline";
 * import { startEmulator } from "throughline/emulator";
 *
 * const server = await startEmulator();
 * const model = openai("emu-reasoner", { baseUrl: server.baseUrl, apiKey: "any" });
 * const session = await createAgent({ model }).open();
 * await session.send("Hello").result();
 * console.log(server.report().totals);
 * await session.close();
 * await server.close();
 * ```
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  checkOptions("startEmulator", options, EMULATOR_OPTIONS);
  const engine = new Engine({
    mode: options.mode ?? "strict",
    switches: options.switches ?? {},
    scenario: options.scenario,
    models: options.models ?? {},
    accounts: options.accounts,
    secret: options.secret ?? "throughline emulator: a public secret",
    seed: options.seed,
    clock: options.clock ?? systemClock,
  });
  engine.addFaults(options.faults ?? []);
  const server = await openHttpServer({
    engine,
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    paceMs: options.paceMs ?? 0,
    unref: options.unref ?? false,
    record: options.record,
  });
  return {
    url: server.url,
    baseUrl: `${server.url}/v1`,
    exchanges: server.recording.entries,
    report: () => toReport(engine.options.mode, [...server.recording.reports]),
    addFaults: (...faults) => engine.addFaults(faults),
    rotateKey: () => engine.seal.rotate(),
    close: () => server.close(),
  };
}
