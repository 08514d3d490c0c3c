/** The functions that the composition root gives to the chat interfaces. */

import { extname, resolve } from "node:path";

import type { RemoteAgent } from "../../access/client/index.ts";
import type { SessionHandle, SessionSummary } from "../../base/api/index.ts";
import { EFFORTS } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import type { CostOf } from "../../runtime/facts/index.ts";
import { EMULATED_MODELS, pricedModels, PROVIDERS } from "../../runtime/models/index.ts";
import { describeSession } from "../../runtime/session/index.ts";
import type { Choice, Ports } from "../tui/index.ts";
import type { ExportFlags } from "./commands/export.ts";
import { openStore, type StoreFlags } from "./open-store.ts";
import { type Skill, skillMessage } from "./skills.ts";
import type { Terminal } from "./terminal.ts";

const MOST_SESSIONS = 200;

export function chatPorts(
  cwd: string,
  terminal: Terminal,
  { costOf, skills }: { readonly costOf: CostOf; readonly skills: readonly Skill[] },
  flags: StoreFlags,
): Ports {
  return {
    models: async () => modelChoices(),
    efforts: EFFORTS,
    sessions: () => recentSessions(cwd, flags),
    exportSession: (handle, file) => writeSession(handle, file, terminal),
    skill: (name, text) => {
      const skill = skills.find((one) => one.name === name);
      return skill === undefined ? undefined : skillMessage(skill, text);
    },
    skills: () => skills,
    costOf,
    whereToRead: (id) => `throughline sessions show ${id}`,
    whereToInspect: (id) => `throughline inspect ${id}`,
  };
}

/** Ports for a server: models and sessions are the server's, costs come from its handles, files are written here. */
export function remotePorts(agent: RemoteAgent, url: string, terminal: Terminal): Ports {
  const page = (id: string): string => `${url}/s/${id}`;
  return {
    models: async () => agent.server.models.map((name) => choiceOf(name, undefined)),
    efforts: EFFORTS,
    sessions: () => agent.list({ limit: MOST_SESSIONS }),
    exportSession: (handle, file) => writeSession(handle, file, terminal),
    costOf: () => undefined,
    whereToRead: page,
    whereToInspect: page,
  };
}

const FORMATS: Readonly<Record<string, ExportFlags["format"]>> = {
  ".md": "markdown",
  ".html": "html",
  ".jsonl": "jsonl",
};

async function writeSession(
  handle: SessionHandle,
  file: string | undefined,
  terminal: Terminal,
): Promise<string> {
  const output = file ?? `${handle.id}.md`;
  const format = FORMATS[extname(output)];
  if (format === undefined) {
    const message = `${output}: unknown format: use a name that ends in ${Object.keys(FORMATS).join(", ")}`;
    throw codedError("format_unknown", message);
  }
  const { exportHandle } = await import("./commands/export.ts");
  await exportHandle(handle, { format, output, reasoning: true }, terminal);
  return `Written: ${resolve(output)}`;
}

/** The priced models of providers whose key is set, and the emulator's models, which need no key. */
function modelChoices(): readonly Choice[] {
  const real = Object.values(PROVIDERS).flatMap(({ name, keyVariable }) => {
    if (keyVariable === undefined || (process.env[keyVariable] ?? "") === "") return [];
    return pricedModels(name).map((model) => choiceOf(`${name}/${model}`, undefined));
  });
  return [
    ...real,
    ...EMULATED_MODELS.map((model) => choiceOf(`emulator/${model}`, "built-in emulator, no key")),
  ];
}

function choiceOf(name: string, note: string | undefined): Choice {
  return { value: name, label: name, note };
}

/** The sessions of this directory, then all others, each newest first. */
async function recentSessions(cwd: string, flags: StoreFlags): Promise<readonly SessionSummary[]> {
  const store = await openStore(flags);
  const all: SessionSummary[] = [];
  for await (const stored of store.list({ limit: MOST_SESSIONS })) all.push(describeSession(stored));
  return [...all.filter((one) => one.cwd === cwd), ...all.filter((one) => one.cwd !== cwd)];
}
