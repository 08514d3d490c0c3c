/**
 * Correctness first: what an adapter received, and what the server received from it, must equal what the generator made. A
 * different total fails the sample. Known differences have a named rule that subtracts them; there is no tolerance.
 *
 * @module
 */
import { historyItems, historyStep } from "./load/history.mjs";
import { known } from "./load/items-sent.mjs";
import { toolOutput, truthOf } from "./load/scenarios.mjs";

/** Each rule converts an adapter's totals to what they would be without the difference. */
export const KNOWN_DIFFERENCES = [
  {
    adapter: "pi",
    name: 'pi adds "\\n\\n" to the reasoning after each part of a summary',
    correct: (totals, truth) => ({ ...totals, reasoning: totals.reasoning - 2 * truth.summaryParts }),
  },
];

/**
 * The totals that a sample must report in each round, and those that the server must have received in all of them. The
 * floor opens a file and has no session to send from.
 */
export function expectationOf(sample, { adapter, rounds = 1 } = {}) {
  const { kind, scenario, order = {} } = sample;
  if (kind === "build") {
    const items = historyItems(order.items);
    const outputs = items.filter(({ type }) => type === "function_call_output");
    return {
      totals: {
        ciphertexts: items.flatMap(({ encrypted_content: text }) =>
          text === undefined ? [] : [known(text)],
        ),
        outputs: outputs.length,
        outputChars: outputs.reduce((sum, { output }) => sum + output.length, 0),
        grows: true,
      },
    };
  }
  if (kind === "open") {
    const sends = order.send === true && adapter !== "floor";
    return { totals: { events: sample.events, ...(sends ? allSteps(sample.steps) : {}) } };
  }
  if (kind === "list") return { totals: { listed: order.search === undefined ? sample.sessions : 0 } };
  if (kind === "idle") return { totals: { streams: order.sessions } };
  if (scenario === undefined) return { totals: {} };
  const truth = truthOf(scenario);
  const times = order.streams ?? order.calls ?? 1;
  const totals = {
    text: truth.text * times,
    reasoning: truth.reasoning * times,
    arguments: truth.arguments * times,
    calls: truth.calls * times,
    ...(times === 1 ? { ciphertexts: truth.ciphertexts.map(known) } : {}),
  };
  if (kind !== "loop") return { truth, totals, server: { requests: times * rounds } };
  const { steps } = order;
  const outputs = Array.from({ length: steps }, (_, step) => toolOutput(step).length);
  return {
    truth,
    totals: { ...totals, steps },
    server: {
      requests: (steps + 1) * rounds,
      outputs: steps,
      outputChars: outputs.reduce((sum, length) => sum + length, 0),
      ciphertexts: totals.ciphertexts,
    },
  };
}

const replays = new Map();

/** The first request after opening a session contains all of its items. */
function allSteps(steps) {
  if (!replays.has(steps)) {
    const ciphertexts = Array.from({ length: steps }, (_, step) => {
      const [{ encrypted_content: text }] = historyStep(step);
      return known(text);
    });
    replays.set(steps, { outputs: steps, ciphertexts });
  }
  return replays.get(steps);
}

/** The problems of a sample as text; empty if there are none. */
export function problemsOf(adapter, expected, { totals = {} }, server = {}) {
  const rules = KNOWN_DIFFERENCES.filter((rule) => rule.adapter === adapter && expected.truth !== undefined);
  const corrected = rules.reduce((sum, { correct }) => correct(sum, expected.truth), totals);
  return [...differences(expected.totals, corrected, "saw"), ...differences(expected.server, server, "sent")];
}

function differences(expected = {}, actual, verb) {
  return Object.entries(expected).flatMap(([key, wanted]) => {
    const got = actual[key];
    if (JSON.stringify(got) === JSON.stringify(wanted)) return [];
    if (!Array.isArray(wanted)) return [`${verb} ${key} ${String(got)}, expected ${String(wanted)}`];
    const right = wanted.filter((one, at) => got?.[at] === one).length;
    return [
      `${verb} ${key}: ${got?.length ?? 0}, of ${wanted.length} expected ${right} are right and in their place`,
    ];
  });
}
