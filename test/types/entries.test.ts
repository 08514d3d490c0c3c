import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, expectTypeOf, test } from "vitest";

import {
  connect,
  type ConnectOptions,
  type RemoteAgent,
  type SessionHandle,
} from "../../src/access/client/index.ts";
import {
  type AgentFor,
  type RunningServer,
  type ServerOptions,
  startServer,
  forgetLinksOf,
  newLinkTo,
  type ServerAddress,
} from "../../src/access/server/index.ts";
import {
  checkHistory,
  type CheckedHistory,
  type Finding,
  findingsOf,
  type FormatName,
  FORMATS,
  type HistoryOptions,
  isFormatName,
  MAX_HISTORY_BYTES,
  readHistory,
  type ReadHistory,
  type RepairedHistory,
  repairHistory,
  type RepairOptions,
} from "../../src/diagnostics/check/index.ts";
import {
  type Emulator,
  type EmulatorOptions,
  type Fault,
  loadScenario,
  parseFaults,
  parseSwitch,
  type Scenario,
  startEmulator,
  type Switches,
} from "../../src/emulator/index.ts";
import type {
  Agent,
  LoggedEvent,
  Model,
  RebuiltRequest,
  RequestPreview,
  SessionEvent,
  Store,
} from "../../src/index.ts";
import {
  buildTree,
  diffRequests,
  type ImportedHistory,
  importHistory,
  type ImportHistoryOptions,
  type Log,
  parseLine,
  planRepair,
  previewFromLog,
  rebuildRequest,
  type RepairPlan,
  type RequestDiff,
  toLine,
  type TreeTurn,
} from "../../src/inspect.ts";
import {
  type Block,
  type BlockList,
  blocksOf,
  type BlockVersions,
  exitCode,
  formatDuration,
  type Fragment,
  fragmentsOf,
  liveThoughtFacts,
  mcpQuestionLines,
  nextRequestWords,
  openWaitMs,
  type ReasoningBlock,
  reasoningLabel,
  resultOutcome,
  type ThoughtCount,
  type ThoughtMarks,
  thoughtsGoingWords,
  type ToolBlock,
  toolLabel,
  type ToolOutcome,
  type ToolTitle,
  toolTitle,
  type TurnEndBlock,
  type UnsentThought,
  waitedLabel,
  workedLabel,
  workedMs,
} from "../../src/interface/fragments/index.ts";
import {
  type Erasure,
  eraseLedger,
  type ExchangeLine,
  ledgerStatus,
  type LedgerStatus,
  type ProxyOptions,
  readExchanges,
  type Route,
  routeFrom,
  type RunningProxy,
  startProxy,
} from "../../src/proxy/relay/index.ts";
import { publicExports } from "../support/public-exports.ts";
import { compileOnly } from "./compile-only.ts";

describe("throughline/client and throughline/server", () => {
  test("connect resolves to a remote agent", () => {
    expectTypeOf(connect).toEqualTypeOf<
      (address: string, options?: ConnectOptions) => Promise<RemoteAgent>
    >();
    expectTypeOf<RemoteAgent["open"]>().returns.resolves.toEqualTypeOf<SessionHandle>();
    compileOnly((remote: RemoteAgent) => {
      // @ts-expect-error the option is `token`
      void connect("http://127.0.0.1:4319", { apiKey: "a" });
      // @ts-expect-error a remote session takes model names
      void remote.open({ model: { label: "openai/gpt-5.6" } });
    });
  });

  test("links to a server that another process runs need its address and its store", () => {
    expectTypeOf(newLinkTo).toEqualTypeOf<(server: ServerAddress) => Promise<string>>();
    expectTypeOf(forgetLinksOf).toEqualTypeOf<(server: ServerAddress) => Promise<void>>();
  });

  test("startServer takes an agent, or a function that chooses one", () => {
    expectTypeOf(startServer).toEqualTypeOf<(options: ServerOptions) => Promise<RunningServer>>();
    expectTypeOf<ServerOptions["agent"]>().toEqualTypeOf<Agent | AgentFor>();
    compileOnly((agent: Agent, store: Store) => {
      void startServer({ agent: ({ cwd }) => (cwd === undefined ? agent : agent), store });
      // @ts-expect-error a store is required
      void startServer({ agent });
      // @ts-expect-error a port is a number
      void startServer({ agent, store, port: "4319" });
      // @ts-expect-error there is no option `cors`
      void startServer({ agent, store, cors: true });
      // @ts-expect-error there is no limit `sessions`
      void startServer({ agent, store, limits: { sessions: 1 } });
    });
  });
});

test("throughline/proxy", () => {
  expectTypeOf(startProxy).toEqualTypeOf<(options: ProxyOptions) => Promise<RunningProxy>>();
  expectTypeOf(readExchanges).toEqualTypeOf<(folder: string) => readonly ExchangeLine[]>();
  expectTypeOf(ledgerStatus).toEqualTypeOf<(folder: string) => LedgerStatus>();
  expectTypeOf(eraseLedger).toEqualTypeOf<
    (folder: string, erasure: Erasure) => { readonly groups: number; readonly exchanges: number }
  >();
  expectTypeOf(routeFrom).toEqualTypeOf<(name: string, text: string, known?: readonly Route[]) => Route>();
  compileOnly(() => {
    // @ts-expect-error there is no mode `fix`
    void startProxy({ to: "http://127.0.0.1:1", mode: "fix" });
  });
});

test("throughline/emulator", () => {
  expectTypeOf(startEmulator).toEqualTypeOf<(options?: EmulatorOptions) => Promise<Emulator>>();
  expectTypeOf(parseFaults).toEqualTypeOf<(text: string) => readonly Fault[]>();
  expectTypeOf(loadScenario).toEqualTypeOf<(text: string, file: string) => Scenario>();
  expectTypeOf(parseSwitch).toEqualTypeOf<
    (name: string, value: unknown) => Partial<Switches> | { readonly problem: string }
  >();
  compileOnly(() => {
    void startEmulator({ switches: { phase: false } });
    // @ts-expect-error "loose" is not a mode
    void startEmulator({ mode: "loose" });
    // @ts-expect-error there is no switch `magic`
    void startEmulator({ switches: { magic: true } });
    // @ts-expect-error a switch has its own values
    void startEmulator({ switches: { modelBinding: "loose" } });
    // @ts-expect-error there is no fault `explode`
    void startEmulator({ faults: [{ type: "explode" }] });
  });
});

test("throughline/check", () => {
  type Content = string | Uint8Array;
  expectTypeOf(checkHistory).toEqualTypeOf<(content: Content, options?: HistoryOptions) => CheckedHistory>();
  expectTypeOf(readHistory).toEqualTypeOf<
    (content: string | Uint8Array, format?: FormatName) => ReadHistory
  >();
  expectTypeOf(repairHistory).toEqualTypeOf<(content: Content, options?: RepairOptions) => RepairedHistory>();
  expectTypeOf(findingsOf).returns.toEqualTypeOf<readonly Finding[]>();
  expectTypeOf<RequestPreview["violations"]>().toExtend<Parameters<typeof findingsOf>[0]>();
  expectTypeOf(FORMATS).toExtend<Readonly<Record<FormatName, string>>>();
  expectTypeOf(isFormatName).guards.toEqualTypeOf<FormatName>();
  expectTypeOf(MAX_HISTORY_BYTES).toEqualTypeOf<number>();
  compileOnly(() => {
    // @ts-expect-error "codex" is not a format
    checkHistory("[]", { format: "codex" });
    // @ts-expect-error there is no option `strict`
    repairHistory("[]", { strict: true });
    // @ts-expect-error a parsed history is not accepted: ids and payloads are kept byte for byte
    checkHistory([]);
  });
});

test("throughline/fragments", () => {
  type Options = { readonly writerAlive: boolean };
  expectTypeOf(blocksOf).toEqualTypeOf<
    (events: readonly SessionEvent[], options: Options) => readonly Block[]
  >();
  expectTypeOf(fragmentsOf).toEqualTypeOf<(event: SessionEvent) => readonly Fragment[]>();
  expectTypeOf(reasoningLabel).toEqualTypeOf<(block: ReasoningBlock) => string>();
  expectTypeOf(toolLabel).toBeCallableWith({} as ToolBlock);
  expectTypeOf(toolLabel).returns.toEqualTypeOf<string>();
  expectTypeOf(mcpQuestionLines).returns.toEqualTypeOf<readonly string[]>();
  expectTypeOf(formatDuration).toEqualTypeOf<(ms: number) => string>();
  expectTypeOf(liveThoughtFacts).toEqualTypeOf<(block: ReasoningBlock, elapsedMs: number) => string>();
  expectTypeOf(waitedLabel).toEqualTypeOf<(ms: number) => string>();
  expectTypeOf(workedLabel).toEqualTypeOf<(block: TurnEndBlock) => string>();
  expectTypeOf(nextRequestWords).toEqualTypeOf<(count: ThoughtCount) => string>();
  expectTypeOf(thoughtsGoingWords).toEqualTypeOf<(count: ThoughtCount) => string>();
  expectTypeOf(exitCode).toEqualTypeOf<(block: ToolBlock) => number | undefined>();
  expectTypeOf(resultOutcome).returns.toEqualTypeOf<ToolOutcome>();
  expectTypeOf(toolTitle).toEqualTypeOf<(block: ToolBlock) => ToolTitle>();
  expectTypeOf(openWaitMs).toEqualTypeOf<(block: ToolBlock, now: number) => number | undefined>();
  expectTypeOf(workedMs).toBeCallableWith({} as ToolBlock, 0);
  expectTypeOf(workedMs).toBeCallableWith({} as TurnEndBlock);
  expectTypeOf<BlockList["view"]>().toEqualTypeOf<(options: Options) => readonly Block[]>();
  expectTypeOf<BlockList["versions"]>().toEqualTypeOf<() => BlockVersions>();
  expectTypeOf<ThoughtMarks["of"]>().toEqualTypeOf<(block: ReasoningBlock) => UnsentThought | undefined>();
  expectTypeOf<BlockList["add"]>().toEqualTypeOf<(events: readonly SessionEvent[]) => void>();
  compileOnly((block: Block) => {
    if (block.kind === "reasoning") expectTypeOf(block).toEqualTypeOf<ReasoningBlock>();
    // @ts-expect-error whether a writer is alive must be said
    blocksOf([]);
    // @ts-expect-error only a reasoning block has such a label
    reasoningLabel(block);
  });
});

test("throughline/inspect", () => {
  expectTypeOf(rebuildRequest).toEqualTypeOf<(log: Log, request: number) => Promise<RebuiltRequest>>();
  expectTypeOf(previewFromLog).toEqualTypeOf<(log: Log, model?: Model) => Promise<RequestPreview>>();
  expectTypeOf(planRepair).toEqualTypeOf<(log: Log) => Promise<RepairPlan>>();
  expectTypeOf(importHistory).toEqualTypeOf<
    (store: Store, content: string | Uint8Array, options?: ImportHistoryOptions) => Promise<ImportedHistory>
  >();
  expectTypeOf(buildTree).toEqualTypeOf<(events: readonly LoggedEvent[]) => readonly TreeTurn[]>();
  expectTypeOf(toLine).toEqualTypeOf<(event: LoggedEvent) => string>();
  expectTypeOf(parseLine).toEqualTypeOf<(line: string) => LoggedEvent>();
  expectTypeOf(diffRequests).returns.toEqualTypeOf<RequestDiff>();
  compileOnly((rebuilt: RebuiltRequest, store: Store) => {
    diffRequests(rebuilt, rebuilt);
    // @ts-expect-error a store is not a log
    void planRepair(store);
    // @ts-expect-error a model is named by `from` as an object, not by its name
    void importHistory(store, "[]", { from: "openai/gpt-5.6" });
    // @ts-expect-error the proof has three values
    return rebuilt.proof === "equal";
  });
});

test("every public function is in a type test", () => {
  const folder = import.meta.dirname;
  const tests = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  const text = tests.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  const tested = new Set(
    [...text.matchAll(/\bexpectTypeOf\((\w+)\)|\b(\w+)\(/g)].flatMap(([, a, b]) => [a, b]),
  );
  const missing = publicExports()
    .filter(({ name, kind }) => kind === "function" && !tested.has(name))
    .map(({ name }) => name);
  expect(missing).toEqual([]);
});
