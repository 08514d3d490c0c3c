/**
 * `--playback FILE`: plays a recorded run again through the same decoder and the same loop, without a key or a network
 * and without running tools, and reports whether the result is the same.
 */

import { statSync } from "node:fs";

import type { Input } from "../../../base/api/index.ts";
import {
  type InputPart,
  isPermissionMode,
  type LoggedEvent,
  sameOrigin,
  type Settings,
  type UserMessage,
} from "../../../base/events/index.ts";
import { readText } from "../../../base/files/index.ts";
import {
  type Clock,
  codedError,
  systemClock,
  type ThroughlineError,
  readProblem,
} from "../../../base/support/index.ts";
import { playbackFetch, readRecording, type Recording } from "../../../diagnostics/trace/index.ts";
import { factsOf } from "../../../runtime/facts/index.ts";
import { memoryStore, type Store } from "../../../runtime/log/index.ts";
import type { Model } from "../../../runtime/providers/index.ts";
import { createAgent, type Session, type Turn } from "../../../runtime/session/index.ts";
import { amount } from "../amount.ts";
import { costsWith } from "../cost.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import { enterDirectory } from "../open-session.ts";
import type { RunFlags } from "../open-session.ts";
import { settingsHere } from "../project-trust.ts";
import { promptFrom } from "../read-stdin.ts";
import { tellTurn } from "../run-once.ts";
import { costLimits } from "../run-settings.ts";
import { say, type Terminal } from "../terminal.ts";
import { compareEvents } from "./compare-events.ts";
import { recordedModel } from "./recorded-model.ts";
import { recordedTools } from "./recorded-tools.ts";

export interface PlaybackFlags extends RunFlags {
  readonly playback: string;
}

export async function playBack(
  words: readonly string[],
  flags: PlaybackFlags,
  terminal: Terminal,
): Promise<number> {
  enterDirectory(flags.directory);
  const recording = readFile(flags.playback);
  const own = words.length === 0 ? undefined : await promptFrom(words, flags, terminal);
  const run = new PlaybackRun(recording, flags, terminal);
  return run.play(own);
}

const MAX_BYTES = 512 * 1024 * 1024;

function readFile(file: string): Recording {
  let text: string;
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    text = readText(file);
  } catch (error) {
    throw codedError("file_unreadable", `--playback ${file}: cannot read this file: ${readProblem(error)}`);
  }
  return readRecording(text, file);
}

class PlaybackRun {
  readonly #recording: Recording;
  readonly #flags: PlaybackFlags;
  readonly #terminal: Terminal;
  readonly #problems: string[] = [];
  #turn: Turn | undefined;

  constructor(recording: Recording, flags: PlaybackFlags, terminal: Terminal) {
    this.#recording = recording;
    this.#flags = flags;
    this.#terminal = terminal;
  }

  /** `own` is a prompt that replaces the recorded ones. */
  async play(own: Input | undefined): Promise<number> {
    const { program, at, requests } = this.#recording;
    say(
      this.#terminal,
      `playing back ${amount(requests.length, "request")} of ${program}, recorded ${at}; nothing is sent and no tools run`,
    );
    const store = await this.#store();
    const first = firstSettings(this.#recording);
    const session = await this.#open(store, first);
    const before = this.#recording.earlier.length;
    let code: number = EXIT.ok;
    let played: LoggedEvent[] = [];
    try {
      let model = first;
      for (const { input, settings, from } of own === undefined
        ? turnsOf(this.#recording, first)
        : [{ input: own, settings: first }]) {
        if (settings !== model) await session.setModel(recordedModel(settings));
        model = settings;
        const output = settings.output === undefined ? {} : { output: settings.output.schema };
        this.#turn = input === undefined ? session.retry({ from, ...output }) : session.send(input, output);
        code = await this.#tell(session, this.#turn);
        if (code === EXIT.interrupted && this.#problems.length > 0) break;
      }
      played = await collect(session, before);
    } finally {
      await session.close();
    }
    if (own === undefined) this.#judge(played);
    if (this.#problems.length === 0) return code;
    return this.#flags.strict === true ? EXIT.differs : code;
  }

  async #store(): Promise<Store> {
    const { run, earlier, blobs } = this.#recording;
    const store = memoryStore();
    const log = await store.open(run.session, { mode: "write" });
    try {
      for (const bytes of blobs.values()) await log.putBlob(bytes);
      const drafts = earlier.map((event) => {
        if (event.type === "unknown") throw unsupported(`an event "${event.unknownType}"`);
        return event;
      });
      if (drafts.length > 0) await log.append(drafts);
    } finally {
      await log.close();
    }
    return store;
  }

  #open(store: Store, settings: Settings): Promise<Session> {
    const { events, run } = this.#recording;
    const onStopped = (): void => this.#turn?.cancel();
    const fast = this.#flags.fast === true;
    const clock = fast ? FAST : systemClock;
    const agent = createAgent({
      model: recordedModel(settings),
      fallback: fallbackModels(events),
      tools: recordedTools({
        specs: settings.tools,
        access: run.access,
        serial: run.serial,
        events,
        blobs: this.#recording.blobs,
        onStopped,
      }),
      system: settings.system,
      replay: { reasoning: settings.replay, otherModels: settings.foreign },
      permissions: isPermissionMode(run.permissions) ? run.permissions : "deny",
      allow: run.permissions === "ask" ? run.allow : undefined,
      interactive: run.interactive,
      limits: { maxSteps: run.maxSteps, ...costLimits(run.maxCostUsd) },
      clock,
      fetch: playbackFetch(this.#recording, {
        clock,
        fast,
        onStopped,
        onDifference: ({ n, recorded, made }) => {
          const where = recorded.path.endsWith(made.path) ? "" : `${made.path} instead of ${recorded.path}, `;
          this.#problem(
            `request ${n} differs from the recorded one: ${where}hash ${made.hash.slice(0, 12)} instead of ${recorded.hash.slice(0, 12)}`,
          );
          if (this.#flags.strict !== true) return;
          this.#turn?.cancel();
          throw codedError("playback_differs", "the request differs");
        },
        onExhausted: (recorded) => {
          this.#problem(`the recording has only ${amount(recorded, "request")}, and this run makes more`);
          this.#turn?.cancel();
        },
      }),
    });
    return agent.open({ store, id: run.session });
  }

  async #tell(session: Session, turn: Turn): Promise<number> {
    const answers = this.#recording.events.filter((event) => event.type === "permission_decision");
    const asked = (async () => {
      for await (const event of turn) {
        // What a person typed is in no recording.
        if (event.type === "elicitation_request" && this.#recording.run.interactive)
          await session.answer(event.requestId, { action: "decline" });
        if (event.type !== "permission_request" || !this.#recording.run.interactive) continue;
        const answer = answers.find(({ callId }) => callId === event.callId);
        if (answer?.decision === "allow") await session.approve(event.requestId);
        else await session.deny(event.requestId, answer?.reason);
      }
    })();
    const code = await tellTurn(
      session,
      turn,
      {
        ...this.#flags,
        permissions: this.#recording.run.permissions,
        costOf: costsWith(settingsHere(this.#terminal).values),
      },
      this.#terminal,
    );
    await asked;
    return code;
  }

  #judge(played: readonly LoggedEvent[]): void {
    const { events } = this.#recording;
    const difference = compareEvents(events, played);
    if (difference === undefined) {
      say(
        this.#terminal,
        `same as recorded: ${amount(events.length, "event")} match, apart from ids and times`,
      );
      return;
    }
    const { nth, recorded, played: got } = difference;
    this.#problem(
      `event ${nth} of the run differs: recorded ${inertLine(recorded, 160)}, played ${inertLine(got, 160)}`,
    );
  }

  #problem(text: string): void {
    this.#problems.push(text);
    say(this.#terminal, `${text} [playback_differs]`);
  }
}

const FAST: Clock = { ...systemClock, sleep: async () => undefined };

interface RecordedTurn {
  /** If undefined, the last message is answered again. */
  readonly input: readonly InputPart[] | string | undefined;
  readonly settings: Settings;
  /** Where a retry starts. */
  readonly from?: "message" | undefined;
}

/** The user's actions, in order. */
function turnsOf({ earlier, events }: Recording, first: Settings): readonly RecordedTurn[] {
  const turns: RecordedTurn[] = [];
  let settings = first;
  const seen = new Set<string>();
  for (const [index, event] of events.entries()) {
    if (event.type === "compaction" || (event.type === "branch" && event.why !== "retry"))
      throw unsupported(event.type === "branch" ? `"${event.why}"` : "a compaction");
    // The recording does not say when the message was sent.
    if (event.type === "user_message" && event.steer !== undefined)
      throw unsupported("a message that joined a running turn");
    if (event.turn === undefined || seen.has(event.turn)) continue;
    const isMessage = event.type === "user_message" && event.by === "person";
    if (!isMessage && event.type !== "branch") continue;
    seen.add(event.turn);
    const message = isMessage ? event : undefined;
    settings =
      settingsOfTurn(events, index, event.turn) ?? settingsAhead(events[index - 1], event.turn) ?? settings;
    const to =
      event.type === "branch" ? [...earlier, ...events].find(({ seq }) => seq === event.to) : undefined;
    turns.push({
      input: inputOf(message),
      settings,
      from: isOpening(to) ? "message" : undefined,
    });
  }
  if (turns.length === 0) throw unsupported("no message of a user");
  return turns;
}

function isOpening(event: LoggedEvent | undefined): boolean {
  return event?.type === "user_message" && event.by === "person" && event.steer === undefined;
}

function inputOf(message: UserMessage | undefined): RecordedTurn["input"] {
  if (message === undefined) return undefined;
  const [only, ...more] = message.content;
  return more.length === 0 && only?.type === "text" ? only.text : message.content;
}

/** Settings that were logged ahead of the turn's message, because its schema is new. */
function settingsAhead(event: LoggedEvent | undefined, turn: string): Settings | undefined {
  return event?.type === "settings" && event.turn === turn ? event.settings : undefined;
}

/** The settings of the turn's first request, if they changed. */
function settingsOfTurn(events: readonly LoggedEvent[], from: number, turn: string): Settings | undefined {
  for (const event of events.slice(from)) {
    if (event.turn !== undefined && event.turn !== turn) return undefined;
    if (event.type === "settings") return event.settings;
    if (event.type === "response_start") return undefined;
  }
  return undefined;
}

/** The models that continued a recorded turn, in the order of their first use. */
function fallbackModels(events: readonly LoggedEvent[]): readonly Model[] {
  const models: Model[] = [];
  for (const settings of [...factsOf(events).turns.values()].flatMap(({ fallbacks }) => fallbacks)) {
    if (models.every(({ settings: { target } }) => !sameOrigin(target, settings.target)))
      models.push(recordedModel(settings));
  }
  return models;
}

function firstSettings({ earlier, events }: Recording): Settings {
  const request = events.findIndex((event) => event.type === "response_start");
  const before = [...earlier, ...events.slice(0, request === -1 ? events.length : request)];
  const { settings } = factsOf(before);
  if (settings !== undefined) return settings;
  throw unsupported("no settings: the run ended before its first request");
}

async function collect(session: Session, before: number): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events({ after: before - 1 })) events.push(event);
  return events;
}

function unsupported(what: string): ThroughlineError {
  return codedError("playback_unsupported", `cannot play back this recording: it contains ${what}`);
}
