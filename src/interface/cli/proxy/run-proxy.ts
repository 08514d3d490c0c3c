/**
 * A proxy that runs until a signal ends it. The base URL goes to stdout, so that a script can read it; everything else
 * goes to stderr.
 */

import { once } from "node:events";

import { type ExchangeLine, type RunningProxy, startProxy } from "../../../proxy/relay/index.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import { isLoopback } from "../loopback.ts";
import { stopOnSignals } from "../signals.ts";
import { say, type Terminal } from "../terminal.ts";
import { whenUnread } from "../unread-output.ts";
import { exchangeText, timeText } from "./exchange-words.ts";
import type { ProxySettings } from "./proxy-settings.ts";

export async function runProxy(settings: ProxySettings, quiet: boolean, terminal: Terminal): Promise<number> {
  const stopping = new AbortController();
  const ended = stopOnSignals(() => stopping.abort());
  // Clients depend on it, whether or not anybody reads its messages.
  whenUnread(() => undefined);
  const proxy = await startProxy({
    ...settings.options,
    onExchange: quiet ? undefined : (line) => tellExchange(line, terminal),
    onProblem: (message) => say(terminal, message),
  });
  terminal.stdout.write(`${proxy.url}\n`);
  terminal.stderr.write(welcome(proxy, settings));
  if (!stopping.signal.aborted) await once(stopping.signal, "abort");
  terminal.stderr.write("stopping: answers that are under way have a moment to end\n");
  await proxy.close();
  return ended() === EXIT.hungUp ? EXIT.hungUp : EXIT.ok;
}

export function tellExchange(line: ExchangeLine, { stderr }: Terminal): void {
  stderr.write(`${timeText(line.at)} ${exchangeText(line)}\n`);
}

function welcome({ url, routes }: RunningProxy, { options, notes }: ProxySettings): string {
  const root = options.to === undefined ? undefined : routes[0];
  const rows = routes.map((route) => [
    route === root ? url : `${url}/${route.name}`,
    inertLine(`${route.url.origin}${route.url.pathname.replace(/\/$/, "")}`, 200),
  ]);
  const width = Math.max(...rows.map(([ours = ""]) => ours.length));
  const table = rows.map(([ours = "", theirs = ""]) => `  ${ours.padEnd(width)}  in place of  ${theirs}\n`);
  const warnings = [...warningsOf(options, url), ...notes].map((text) => `  note: ${inertLine(text, 300)}\n`);
  return `Throughline proxy, mode ${options.mode}. Press Ctrl-C to stop.
Give a client one of these addresses; the rest of the address stays.

${table.join("")}
  ledger: ${inertLine(options.ledger, 300)}
${warnings.join("")}`;
}

function warningsOf(options: ProxySettings["options"], url: string): readonly string[] {
  const token =
    options.token === undefined
      ? []
      : ["clients send the token in the header x-throughline-token, or in the address: /t/TOKEN/NAME"];
  const open = isLoopback(options.host ?? "127.0.0.1") || options.tls !== undefined;
  return open
    ? token
    : [
        ...token,
        `${url} can be reached from other machines, without encryption. Give it --tls-cert and --tls-key, or put it behind a tunnel`,
      ];
}
