/** A scenario of an evaluation: the messages, the tools and files, and what must result (docs/eval.md). */

import type { JsonObject } from "../../../base/support/index.ts";

export interface TextExpectation {
  readonly equals?: string;
  readonly contains?: readonly string[];
  /** A regular expression. */
  readonly matches?: string;
  readonly lacks?: readonly string[];
}

export interface CallExpectation {
  readonly tool: string;
  /** Every member must be in the arguments, with this value. */
  readonly with?: JsonObject;
  /** Exactly this often. Default: at least once. */
  readonly times?: number;
  readonly result?: string;
}

export interface TurnExpectation {
  /** Default: completed. */
  readonly status?: string;
  readonly text?: TextExpectation;
  /** The answer is JSON that matches this schema. */
  readonly json?: JsonObject;
  readonly calls?: readonly CallExpectation[];
  readonly noCalls?: boolean;
  readonly minSteps?: number;
  readonly maxSteps?: number;
}

export interface FileExpectation extends TextExpectation {
  readonly path: string;
  readonly exists?: boolean;
}

export interface CommandExpectation {
  readonly run: string;
  /** Default: 0. */
  readonly exit?: number;
  readonly output?: TextExpectation;
}

export interface RunExpectation {
  readonly files?: readonly FileExpectation[];
  readonly commands?: readonly CommandExpectation[];
  readonly noRefusedRequest?: boolean;
  /** The number of requests that may be rejected and healed. */
  readonly maxRefusedRequests?: number;
  /** The least share of reusable reasoning that must have been sent back. */
  readonly reasoningRecall?: number;
  readonly prefixStable?: boolean;
  readonly maxCostUsd?: number;
  readonly maxSteps?: number;
}

export interface ScenarioTurn {
  readonly send: string;
  /** The model from this turn on; `first` is the model the run started with. */
  readonly model?: string | undefined;
  readonly output?: JsonObject | undefined;
  readonly expect: TurnExpectation;
}

export interface EvalScenario {
  readonly name: string;
  readonly file: string;
  readonly about: string;
  /** The models to use if `-m` is not given. */
  readonly models: readonly string[];
  /** An absolute path. */
  readonly fixture: string | undefined;
  readonly files: Readonly<Record<string, string>>;
  /** `builtin`, `none` or the absolute path of a module. */
  readonly tools: string;
  readonly allowTools: readonly string[] | undefined;
  readonly system: string | undefined;
  readonly permissions: "auto" | "read-only" | "deny";
  readonly limits: {
    readonly steps?: number | undefined;
    readonly seconds: number;
    readonly costUsd?: number | undefined;
  };
  /** For emulated models only: scripted answers, faults, switches. */
  readonly emulator: JsonObject | undefined;
  readonly turns: readonly ScenarioTurn[];
  readonly expect: RunExpectation;
}
