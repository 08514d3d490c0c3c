/** `throughline proxy doctor`: finds problems with the proxy's set-up and says how to fix them. */

import { codeOf, messageOf } from "../../../base/support/index.ts";
import { findingText, type Finding, bad } from "../doctor/finding.ts";
import { EXIT } from "../exit-codes.ts";
import { stopOnSignals } from "../signals.ts";
import { printJson, type Terminal } from "../terminal.ts";
import { checkClock, checkLedger, checkLedgerFolder, checkRoutes } from "./check-proxy.ts";
import { chosenLedger, type LedgerFlag, settledRoutes } from "./proxy-settings.ts";

export interface DoctorFlags extends LedgerFlag {
  readonly offline?: boolean;
  readonly json?: boolean;
}

export async function proxyDoctor(flags: DoctorFlags, terminal: Terminal): Promise<number> {
  const stopped = new AbortController();
  const end = stopOnSignals(() => stopped.abort());
  const findings: Finding[] = [];
  const tell = (found: readonly Finding[]): void => {
    findings.push(...found);
    if (flags.json !== true) for (const one of found) terminal.stdout.write(`${findingText(one)}\n`);
  };
  if (flags.offline !== true) tell(await routes(stopped.signal));
  const folder = chosenLedger(flags);
  const usable = checkLedgerFolder(folder);
  tell(usable);
  tell(checkLedger(folder));
  tell(checkClock(folder));
  const wrong = findings.filter(({ status }) => status === "bad").length;
  if (flags.json === true) printJson(terminal.stdout, { ok: wrong === 0, findings });
  else
    terminal.stdout.write(
      wrong === 0 ? "no problems found\n" : `${wrong} ${wrong === 1 ? "problem" : "problems"} found\n`,
    );
  return end() ?? (wrong === 0 ? EXIT.ok : EXIT.turnFailed);
}

async function routes(signal: AbortSignal): Promise<readonly Finding[]> {
  let found: ReturnType<typeof settledRoutes>;
  try {
    found = settledRoutes();
  } catch (error) {
    const fix = `correct it; throughline config schema prints what is allowed (${codeOf(error) ?? "unknown"})`;
    return [bad("settings", messageOf(error), fix)];
  }
  return checkRoutes(found, signal);
}
