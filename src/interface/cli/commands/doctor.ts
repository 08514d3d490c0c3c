/** `throughline doctor`: finds problems with the setup and says how to fix them. */

import { Command } from "commander";

import { codeOf } from "../../../base/support/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import type { Finish } from "../command-table.ts";
import { checkEndpoints } from "../doctor/check-endpoints.ts";
import { checkEntries, checkServers } from "../doctor/check-entries.ts";
import { checkFolder, checkSessions } from "../doctor/check-sessions.ts";
import { checkKeys, checkProfiles, checkSettings, checkVersions } from "../doctor/check-settings.ts";
import { checkStore } from "../doctor/check-store.ts";
import { type Finding, findingText } from "../doctor/finding.ts";
import { EXIT } from "../exit-codes.ts";
import type { StoreFlags } from "../open-store.ts";
import { stopOnSignals } from "../signals.ts";
import { takesStore } from "../store-flag.ts";
import { printJson, type Terminal } from "../terminal.ts";

interface DoctorFlags extends StoreFlags {
  readonly offline?: boolean;
  readonly json?: boolean;
}

export function doctorCommand(terminal: Terminal, finish: Finish): Command {
  return takesStore(
    new Command("doctor").description("Check settings, keys, endpoints, folders and sessions for problems"),
  )
    .option("--offline", "do not contact any endpoint or MCP server")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  throughline doctor
  throughline doctor --offline --json | jq '.findings[] | select(.status=="bad")'

Exits with code 1 if something is wrong.`,
    )
    .action(async (flags: DoctorFlags) => finish(await doctor(flags, terminal)));
}

async function doctor(flags: DoctorFlags, terminal: Terminal): Promise<number> {
  const stopped = new AbortController();
  const end = stopOnSignals(() => stopped.abort());
  const findings: Finding[] = [];
  const tell = (found: readonly Finding[]): void => {
    findings.push(...found);
    if (flags.json !== true) for (const one of found) terminal.stdout.write(`${findingText(one)}\n`);
  };
  tell(checkVersions());
  const { config, findings: settings } = checkSettings(process.cwd());
  tell(settings);
  tell(await checkEntries(process.cwd()));
  tell(checkKeys(config));
  if (flags.offline !== true) {
    tell(await checkServers(process.cwd(), stopped.signal));
    tell(await checkEndpoints(config, stopped.signal));
  }
  tell(checkProfiles(config));
  const store = await checkStore(flags);
  const folder = usableFolder();
  if (store !== undefined) tell(store);
  else if (folder !== undefined) {
    tell(checkFolder(folder));
    const progress = (done: number, all: number): void => {
      if (terminal.stderr.isTTY === true && done % 500 === 0)
        terminal.stderr.write(`read ${done} of ${all}\n`);
    };
    tell(await checkSessions(folder, { signal: stopped.signal, progress }));
  }
  const wrong = findings.filter(({ status }) => status === "bad").length;
  if (flags.json === true) {
    printJson(terminal.stdout, { ok: wrong === 0, findings });
  } else {
    terminal.stdout.write(
      wrong === 0 ? "no problems found\n" : `${wrong} ${wrong === 1 ? "problem" : "problems"} found\n`,
    );
  }
  return end() ?? (wrong === 0 ? EXIT.ok : EXIT.turnFailed);
}

/** Without a usable HOME there is no folder, and the check of the settings has said so. */
function usableFolder(): string | undefined {
  try {
    return sessionsFolder();
  } catch (error) {
    if (codeOf(error) === "home_invalid") return undefined;
    throw error;
  }
}
