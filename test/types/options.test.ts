import { expectTypeOf, test } from "vitest";

import type {
  ConnectOptions,
  HandleSendOptions,
  ListSessionsOptions,
  RemoteOpenOptions,
} from "../../src/access/client/index.ts";
import type { ServerOptions } from "../../src/access/server/index.ts";
import type { HistoryOptions, RepairOptions } from "../../src/diagnostics/check/index.ts";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import {
  type AgentOptions,
  type AnthropicOptions,
  anthropic,
  type CompactOptions,
  createAgent,
  type EditOptions,
  type EmulatorModelOptions,
  type EventsOptions,
  emulator,
  type ExplainOptions,
  type FileStoreOptions,
  type FollowOptions,
  type ForkOptions,
  type ModelFromOptions,
  type ModelOptions,
  openai,
  type OpenAiOptions,
  type OpenSessionOptions,
  type Provider,
  type ResumeOptions,
  type RetryOptions,
  type SendOptions,
  type ToolOptions,
  type TurnOptions,
} from "../../src/index.ts";
import type { AppendOptions, ListOptions } from "../../src/inspect.ts";
import { compileOnly } from "./compile-only.ts";

/** The optional members of an interface, each given as `undefined`. */
type AllUndefined<Options> = {
  [Name in keyof Options as object extends Pick<Options, Name> ? Name : never]: undefined;
};

/** Callers with `exactOptionalPropertyTypes` pass values that may be undefined, such as `process.env["KEY"]`. */
test("every optional member of every options interface accepts undefined", () => {
  expectTypeOf<AllUndefined<AgentOptions>>().toExtend<Partial<AgentOptions>>();
  expectTypeOf<AllUndefined<AnthropicOptions>>().toExtend<AnthropicOptions>();
  expectTypeOf<AllUndefined<AppendOptions>>().toExtend<AppendOptions>();
  expectTypeOf<AllUndefined<CompactOptions>>().toExtend<CompactOptions>();
  expectTypeOf<AllUndefined<ConnectOptions>>().toExtend<ConnectOptions>();
  expectTypeOf<AllUndefined<EditOptions>>().toExtend<EditOptions>();
  expectTypeOf<AllUndefined<EmulatorModelOptions>>().toExtend<EmulatorModelOptions>();
  expectTypeOf<AllUndefined<EmulatorOptions>>().toExtend<EmulatorOptions>();
  expectTypeOf<AllUndefined<EventsOptions>>().toExtend<EventsOptions>();
  expectTypeOf<AllUndefined<ExplainOptions>>().toExtend<ExplainOptions>();
  expectTypeOf<AllUndefined<FileStoreOptions>>().toExtend<FileStoreOptions>();
  expectTypeOf<AllUndefined<FollowOptions>>().toExtend<FollowOptions>();
  expectTypeOf<AllUndefined<ForkOptions>>().toExtend<ForkOptions>();
  expectTypeOf<AllUndefined<HandleSendOptions>>().toExtend<HandleSendOptions>();
  expectTypeOf<AllUndefined<HistoryOptions>>().toExtend<HistoryOptions>();
  expectTypeOf<AllUndefined<ListOptions>>().toExtend<ListOptions>();
  expectTypeOf<AllUndefined<ListSessionsOptions>>().toExtend<ListSessionsOptions>();
  expectTypeOf<AllUndefined<ModelFromOptions>>().toExtend<ModelFromOptions>();
  expectTypeOf<AllUndefined<ModelOptions>>().toExtend<ModelOptions>();
  expectTypeOf<AllUndefined<OpenAiOptions>>().toExtend<OpenAiOptions>();
  expectTypeOf<AllUndefined<OpenSessionOptions>>().toExtend<OpenSessionOptions>();
  expectTypeOf<AllUndefined<Provider>>().toExtend<Partial<Provider>>();
  expectTypeOf<AllUndefined<RemoteOpenOptions>>().toExtend<RemoteOpenOptions>();
  expectTypeOf<AllUndefined<RepairOptions>>().toExtend<RepairOptions>();
  expectTypeOf<AllUndefined<ResumeOptions>>().toExtend<ResumeOptions>();
  expectTypeOf<AllUndefined<RetryOptions>>().toExtend<RetryOptions>();
  expectTypeOf<AllUndefined<SendOptions>>().toExtend<SendOptions>();
  expectTypeOf<AllUndefined<ServerOptions>>().toExtend<Partial<ServerOptions>>();
  expectTypeOf<AllUndefined<ToolOptions<object & Record<string, unknown>>>>().toExtend<
    Partial<ToolOptions<object & Record<string, unknown>>>
  >();
  expectTypeOf<AllUndefined<TurnOptions>>().toExtend<TurnOptions>();
});

test("the check of optional members finds one that refuses undefined", () => {
  interface Exact {
    readonly a?: string;
  }
  expectTypeOf<AllUndefined<Exact>>().toHaveProperty("a").toBeUndefined();
  expectTypeOf<AllUndefined<Exact>>().not.toExtend<Exact>();
});

test("a key from the environment is accepted as it is", () => {
  compileOnly(() => [
    openai("a", { apiKey: process.env["KEY"], baseUrl: process.env["URL"] }),
    anthropic("a", { apiKey: process.env["KEY"] }),
  ]);
  createAgent({
    model: emulator({ paceMs: undefined, seed: undefined }),
    trace: undefined,
    modelFrom: undefined,
  });
});
