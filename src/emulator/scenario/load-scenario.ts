/**
 * Loads scenario files, JSON or YAML. Every problem names the file, the line, and what would be valid. Nothing is
 * guessed, and unknown keys are refused, because a misspelt fault that does nothing hides a failing test.
 */

import { type Document, isNode, LineCounter, parseDocument } from "yaml";

import {
  closestTo,
  isObject,
  type JsonObject,
  messageOf,
  ThroughlineError,
} from "../../base/support/index.ts";
import type { Fault } from "../faults/fault.ts";
import { parseFaults } from "../faults/parse-fault.ts";
import { dialectNames, isDialectName, type ModelTraits } from "../model-traits.ts";
import { maxOutputItems } from "../seal.ts";
import { parseSwitch, type Switches } from "../switches.ts";
import { type Path, readDraft } from "./read-draft.ts";
import type { Scenario, ScenarioStep } from "./scenario.ts";

/** Reads a scenario from JSON or YAML. Throws `scenario_invalid`; `file` is only used in its message. */
export function loadScenario(text: string, file: string): Scenario {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const reader = new ScenarioReader(document, lines, file);
  const [broken] = document.errors;
  if (broken !== undefined) {
    throw reader.problemAt(
      lines.linePos(broken.pos[0]).line,
      `it is neither JSON nor YAML: ${broken.message}`,
    );
  }
  return reader.read();
}

class ScenarioReader {
  readonly #document: Document;
  readonly #lines: LineCounter;
  readonly #file: string;

  constructor(document: Document, lines: LineCounter, file: string) {
    this.#document = document;
    this.#lines = lines;
    this.#file = file;
  }

  read(): Scenario {
    const root: unknown = this.#document.toJS();
    if (!isObject(root)) throw this.problem([], "the file must contain an object with `steps`");
    this.onlyKeys(root, ["name", "dialect", "afterwards", "switches", "models", "steps"], []);
    const { name, dialect, afterwards, steps } = root;
    if (!Array.isArray(steps)) throw this.problem(["steps"], "`steps` must be a list of answers");
    if (
      afterwards !== undefined &&
      afterwards !== "model" &&
      afterwards !== "repeat" &&
      afterwards !== "error"
    ) {
      throw this.problem(["afterwards"], "`afterwards` takes model, repeat or error");
    }
    if (name !== undefined && typeof name !== "string") throw this.problem(["name"], "`name` must be text");
    if (dialect !== undefined && !isDialectName(dialect)) {
      throw this.problem(["dialect"], `\`dialect\` takes ${dialectNames.join(", ")}`);
    }
    return {
      name: name ?? this.#file,
      dialect,
      afterwards: afterwards ?? "model",
      steps: steps.map((step, index) => this.#step(step, ["steps", index])),
      switches: this.#switches(root["switches"]),
      models: this.#models(root["models"]),
    };
  }

  #step(step: unknown, path: Path): ScenarioStep {
    if (!isObject(step)) throw this.problem(path, "a step must be an object with `output`");
    this.onlyKeys(step, ["when", "output", "status", "reason", "error", "container", "faults"], path);
    const { when, output, status, reason, error } = step;
    if (when !== undefined && typeof when !== "string") {
      throw this.problem([...path, "when"], "`when` must be text that the user message contains");
    }
    if (!Array.isArray(output)) throw this.problem([...path, "output"], "`output` must be a list of items");
    if (output.length > maxOutputItems) {
      throw this.problem([...path, "output"], `a response has at most ${maxOutputItems} items`);
    }
    if (status !== undefined && status !== "completed" && status !== "incomplete" && status !== "failed") {
      throw this.problem([...path, "status"], "`status` takes completed, incomplete or failed");
    }
    if (reason !== undefined && typeof reason !== "string") {
      throw this.problem([...path, "reason"], "`reason` must be text, such as max_output_tokens");
    }
    return {
      output: output.map((item, index) => readDraft(this, item, [...path, "output", index])),
      when,
      status,
      incompleteReason: status === "incomplete" ? (reason ?? "max_output_tokens") : undefined,
      ...(status === "failed" ? { error: this.#error(error, [...path, "error"]) } : {}),
      container: this.#container(step["container"], [...path, "container"]),
      faults: this.#faults(step["faults"], [...path, "faults"]),
    };
  }

  #error(error: unknown, path: Path): { readonly code: string; readonly message: string } {
    if (error === undefined) return { code: "server_error", message: "The scenario says that this fails." };
    if (!isObject(error) || typeof error["code"] !== "string" || typeof error["message"] !== "string") {
      throw this.problem(path, "`error` needs `code` and `message` as text");
    }
    return { code: error["code"], message: error["message"] };
  }

  #container(container: unknown, path: Path): JsonObject | undefined {
    if (container === undefined) return undefined;
    if (!isObject(container) || typeof container["id"] !== "string") {
      throw this.problem(path, "`container` needs `id` as text; `expires_at` is a time");
    }
    return { expires_at: "2099-01-01T00:00:00Z", ...container };
  }

  #faults(faults: unknown, path: Path): readonly Fault[] {
    if (faults === undefined) return [];
    const list = Array.isArray(faults) ? faults : [faults];
    return list.flatMap((fault: unknown, index) => {
      const where = Array.isArray(faults) ? [...path, index] : path;
      const text = typeof fault === "number" ? String(fault) : fault; // a bare `429` is a number in YAML
      if (typeof text !== "string") throw this.problem(where, 'a fault is text, such as "cut=after-item:0"');
      try {
        return parseFaults(text);
      } catch (error) {
        throw this.problem(where, messageOf(error).replace(/\.$/, ""));
      }
    });
  }

  #switches(switches: unknown): Partial<Switches> {
    if (switches === undefined) return {};
    if (!isObject(switches)) throw this.problem(["switches"], "`switches` must be an object");
    let all: Partial<Switches> = {};
    for (const [name, value] of Object.entries(switches)) {
      const one = parseSwitch(name, value);
      if ("problem" in one) throw this.problem(["switches", name], one.problem);
      all = { ...all, ...one };
    }
    return all;
  }

  #models(models: unknown): Readonly<Record<string, Partial<ModelTraits>>> {
    if (models === undefined) return {};
    if (!isObject(models)) throw this.problem(["models"], "`models` must be an object: model id → traits");
    for (const [id, traits] of Object.entries(models)) {
      if (!isObject(traits)) throw this.problem(["models", id], "traits must be an object");
      this.onlyKeys(
        traits,
        ["reasoning", "encryptedContent", "sampling", "prefixBound", "contextTokens"],
        ["models", id],
      );
      for (const [name, value] of Object.entries(traits)) {
        const expected = name === "contextTokens" ? "number" : "boolean";
        if (typeof value !== expected)
          throw this.problem(["models", id, name], `\`${name}\` must be a ${expected}`);
      }
    }
    return models as Readonly<Record<string, Partial<ModelTraits>>>;
  }

  onlyKeys(object: JsonObject, known: readonly string[], path: Path): void {
    const unknown = Object.keys(object).find((key) => !known.includes(key));
    if (unknown === undefined) return;
    const meant = closestTo(unknown, known);
    throw this.problem(
      [...path, unknown],
      `unknown key \`${unknown}\`${meant === undefined ? ";" : `; did you mean \`${meant}\`?`} ${meant === undefined ? "use" : "Use"} one of: ${known.join(", ")}`,
    );
  }

  problem(path: Path, problem: string): ThroughlineError {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = length === 0 ? this.#document.contents : this.#document.getIn(path.slice(0, length), true);
      const start = isNode(node) ? node.range?.[0] : undefined;
      if (start !== undefined) return this.problemAt(this.#lines.linePos(start).line, problem, path);
    }
    return this.problemAt(1, problem, path);
  }

  problemAt(line: number, problem: string, path: Path = []): ThroughlineError {
    const where = path.length === 0 ? "" : ` (${path.join(".")})`;
    return new ThroughlineError({
      code: "scenario_invalid",
      message: `${this.#file}:${line}: ${problem}${where}.`,
      details: { file: this.#file, line, path: path.join(".") },
    });
  }
}
