import { expectTypeOf, test } from "vitest";

import {
  type Agent,
  type AgentOptions,
  type ApproveOptions,
  type CompactOptions,
  createAgent,
  type Decision,
  type EditOptions,
  emulator,
  type EphemeralEvent,
  fileStore,
  type FileStoreOptions,
  type ForkOptions,
  type Input,
  isEphemeral,
  type LoggedEvent,
  memoryStore,
  type Model,
  modelFrom,
  type OpenSessionOptions,
  postgresStore,
  type PostgresStoreOptions,
  type RebuiltRequest,
  type RequestPreview,
  type ResumeOptions,
  type RuleView,
  type Session,
  type SessionEvent,
  type SessionHandle,
  type SessionSummary,
  type Store,
  type SwitchPreview,
  type Turn,
} from "../../src/index.ts";
import { compileOnly } from "./compile-only.ts";

test("createAgent takes options and returns an agent", () => {
  expectTypeOf(createAgent).toEqualTypeOf<(options: AgentOptions) => Agent>();
  expectTypeOf(modelFrom).toExtend<NonNullable<AgentOptions["modelFrom"]>>();
});

test("rules are texts, and an answer may add one", () => {
  expectTypeOf<AgentOptions["allow"]>().toEqualTypeOf<readonly string[] | undefined>();
  expectTypeOf<SessionHandle["rules"]>().toEqualTypeOf<readonly RuleView[]>();
  expectTypeOf<SessionHandle["approve"]>().parameter(1).toEqualTypeOf<ApproveOptions | undefined>();
  expectTypeOf<ApproveOptions["forSession"]>().toEqualTypeOf<boolean | undefined>();
});

test("wrong options of an agent do not compile", () => {
  const model = emulator();
  compileOnly(() => {
    // @ts-expect-error a model is required
    createAgent({});
    // @ts-expect-error a name is not a model
    createAgent({ model: "openai/gpt-5.6" });
    // @ts-expect-error the option is `interactive`
    createAgent({ model, canAsk: false });
    // @ts-expect-error "always" is not a permission mode
    createAgent({ model, permissions: "always" });
    // @ts-expect-error there is no limit `maxTokens`
    createAgent({ model, limits: { maxTokens: 1 } });
    // @ts-expect-error the option is `otherModels`
    createAgent({ model, replay: { foreign: "note" } });
    // @ts-expect-error an object is not a tool unless `tool` made it
    createAgent({ model, tools: [{ name: "t", run: () => 1 }] });
    createAgent({ model, permissions: async ({ tool }) => ({ decision: tool === "t" ? "allow" : "deny" }) });
    createAgent({ model, limits: { maxSteps: 5, maxCostUsd: undefined } });
    createAgent({ model, fallback: [model], limits: { maxSessionCostUsd: 0.5 } });
    createAgent({ model, repairArguments: ({ arguments: text }) => `${text}}` });
    createAgent({ model, repairArguments: async ({ problem }) => (problem === "" ? "{}" : undefined) });
    // @ts-expect-error arguments are text, not an object
    createAgent({ model, repairArguments: () => ({}) });
    // @ts-expect-error a fallback is a list of models, not of names
    createAgent({ model, fallback: ["openai/gpt-5.6"] });
  });
});

test("an agent opens and lists sessions", () => {
  expectTypeOf<Agent["open"]>().toEqualTypeOf<(options?: OpenSessionOptions) => Promise<Session>>();
  expectTypeOf<Agent["session"]>().toEqualTypeOf<
    (id: string, options?: Pick<OpenSessionOptions, "store">) => Promise<Session>
  >();
  expectTypeOf<Agent["sessions"]>().toEqualTypeOf<(store?: Store) => AsyncIterable<SessionSummary>>();
  compileOnly((agent: Agent) => {
    // @ts-expect-error "append" is not a mode
    void agent.open({ mode: "append" });
    // @ts-expect-error there is no option `title`
    void agent.open({ title: "Notes" });
  });
});

test("a session is a handle", () => {
  expectTypeOf<Session>().toExtend<SessionHandle>();
  expectTypeOf<Session>().toExtend<AsyncDisposable>();
  expectTypeOf<Session["model"]>().toEqualTypeOf<Model>();
  expectTypeOf<Session["location"]>().toEqualTypeOf<string>();
});

test("the methods of a session", () => {
  expectTypeOf<Session["keepLastTurns"]>().toEqualTypeOf<(count: number) => Promise<void>>();
  expectTypeOf<Session["truncateFrom"]>().toEqualTypeOf<(seq: number) => Promise<void>>();
  expectTypeOf<Session["undo"]>().toEqualTypeOf<() => Promise<void>>();
  expectTypeOf<Session["checkout"]>().toEqualTypeOf<(options: { readonly to: number }) => Promise<void>>();
  expectTypeOf<Session["compact"]>().toEqualTypeOf<(options?: CompactOptions) => Promise<void>>();
  expectTypeOf<Session["fork"]>().toEqualTypeOf<(options?: ForkOptions) => Promise<Session>>();
  expectTypeOf<SessionHandle["fork"]>().toEqualTypeOf<(options?: ForkOptions) => Promise<SessionHandle>>();
  expectTypeOf<Session["setModel"]>().toEqualTypeOf<(model: Model | string) => Promise<void>>();
  expectTypeOf<Session["previewSwitch"]>().toEqualTypeOf<(model: Model | string) => Promise<SwitchPreview>>();
  expectTypeOf<SessionHandle["previewSwitch"]>().toEqualTypeOf<(name: string) => Promise<SwitchPreview>>();
  expectTypeOf<Session["cancel"]>().toEqualTypeOf<() => Promise<boolean>>();
  expectTypeOf<SessionHandle["resume"]>().toEqualTypeOf<(options?: ResumeOptions) => Turn>();
  expectTypeOf<SessionHandle["edit"]>().toEqualTypeOf<
    (seq: number, input: Input, options?: EditOptions) => Turn
  >();
  expectTypeOf<Session["events"]>().returns.toEqualTypeOf<AsyncIterable<LoggedEvent>>();
  expectTypeOf<Session["follow"]>().returns.toEqualTypeOf<AsyncIterable<SessionEvent>>();
  expectTypeOf<Session["preview"]>().returns.resolves.toEqualTypeOf<RequestPreview>();
  expectTypeOf<Session["explain"]>().returns.resolves.toEqualTypeOf<readonly Decision[]>();
  expectTypeOf<Session["rebuild"]>().toEqualTypeOf<(request: number) => Promise<RebuiltRequest>>();
  expectTypeOf<SwitchPreview["dropped"]>().toEqualTypeOf<number>();
});

test("wrong options of a session's methods do not compile", () => {
  compileOnly((session: Session, handle: SessionHandle, model: Model) => {
    // @ts-expect-error a count is a number
    void session.keepLastTurns("2");
    // @ts-expect-error `truncate` is now two methods
    void session.truncate({ from: 2 });
    // @ts-expect-error the option is `at`
    void session.fork({ seq: 2 });
    // @ts-expect-error the option is `keepTurns`
    void session.compact({ keep: 2 });
    // @ts-expect-error `to` is required
    void session.checkout({});
    // @ts-expect-error "turn" is not a place to retry from
    session.retry({ from: "turn" });
    // @ts-expect-error a handle takes names, because a model holds keys
    void handle.previewSwitch(model);
    // @ts-expect-error "branch" is not a path
    session.events({ path: "branch" });
  });
});

test("isEphemeral narrows both ways", () => {
  compileOnly((event: SessionEvent) => {
    if (isEphemeral(event)) expectTypeOf(event).toEqualTypeOf<EphemeralEvent>();
    else {
      expectTypeOf(event).toEqualTypeOf<LoggedEvent>();
      expectTypeOf(event.seq).toEqualTypeOf<number>();
    }
  });
});

test("the stores have one type", () => {
  expectTypeOf(fileStore).toEqualTypeOf<(folder: string, options?: FileStoreOptions) => Store>();
  expectTypeOf(postgresStore).toEqualTypeOf<(url: string, options?: PostgresStoreOptions) => Store>();
  expectTypeOf(memoryStore).returns.toEqualTypeOf<Store>();
  compileOnly(() => {
    // @ts-expect-error a folder is required
    fileStore();
    // @ts-expect-error there is no option `sync`
    fileStore("sessions", { sync: true });
    // @ts-expect-error there is no option `ssl`: the URL says it
    postgresStore("postgres://db/throughline", { ssl: true });
    // @ts-expect-error a memory store has no folder
    memoryStore("sessions");
  });
});
