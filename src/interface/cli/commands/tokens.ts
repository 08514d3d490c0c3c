/** `throughline tokens`: who may use the servers of a PostgreSQL store. A token is shown once, when it is made. */

import { Command, Option } from "commander";

import { codedError, isoTime } from "../../../base/support/index.ts";
import { type Right, RIGHTS, type StoredToken, type TokenTable } from "../../../runtime/log/index.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { age } from "../flag-numbers.ts";
import { inertLine } from "../inert-text.ts";
import { openDatabase, requiredDatabase, type StoreFlags } from "../open-store.ts";
import { STORE_FLAG } from "../store-flag.ts";
import { printJson, printLines, type Terminal } from "../terminal.ts";

interface AddFlags extends StoreFlags {
  readonly tenant?: string;
  readonly may: Right;
  readonly expires: string;
}

interface ListFlags extends StoreFlags {
  readonly json?: boolean;
}

export function tokensCommand(terminal: Terminal, finish: Finish): Command {
  const tokens = new Command("tokens")
    .description("Make, list and remove the tokens of a PostgreSQL store")
    .helpCommand("help [command]", "Show the help of a command")
    .addHelpText(
      "after",
      `
Examples:
  throughline tokens add alice --tenant acme --may write --expires 90d
  throughline tokens list
  throughline tokens rm alice`,
    );
  tokens
    .command("add")
    .argument("<name>", "a name for it, to find it again")
    .description("Make a token and print it, this once")
    .option("--tenant <name>", "whose sessions it opens (default: the tenant without a name)")
    .addOption(
      new Option("--may <right>", "what it allows; each right includes the ones before it")
        .choices(RIGHTS)
        .default("write"),
    )
    .option("--expires <age>", "when it stops working, such as 90d or 12h; never: until it is removed", "90d")
    .option(...STORE_FLAG)
    .action(async (name: string, flags: AddFlags) => {
      await add(name, flags, terminal);
      finish(EXIT.ok);
    });
  tokens
    .command("list")
    .description("List tokens and who logged in by their links, never the tokens themselves")
    .option("--json", "print one JSON array")
    .option(...STORE_FLAG)
    .action(async (flags: ListFlags) => {
      await list(flags, terminal);
      finish(EXIT.ok);
    });
  tokens
    .command("rm")
    .argument("<name>", "the name of the token")
    .description("Remove a token, with everybody who logged in by its links")
    .option(...STORE_FLAG)
    .action(async (name: string, flags: StoreFlags) => {
      await remove(name, flags, terminal);
      finish(EXIT.ok);
    });
  return tokens;
}

async function tableOf(flags: StoreFlags): Promise<TokenTable> {
  const { shared } = await openDatabase(requiredDatabase(flags));
  if (shared === undefined) throw new Error("the store is not shared");
  return shared.tokens;
}

/** What terminals of other people show, so no character that could disguise it. */
const NAME = /^[A-Za-z0-9][\w.@-]{0,63}$/;

function checked(what: string, text: string): string {
  if (NAME.test(text)) return text;
  throw codedError(
    "usage",
    `${what} must have 1 to 64 letters, digits and . _ @ -, beginning with a letter or a digit`,
  );
}

async function add(name: string, flags: AddFlags, terminal: Terminal): Promise<void> {
  const tenant = flags.tenant === undefined ? "" : checked("--tenant", flags.tenant);
  const grant = { name: checked("the name of a token", name), tenant, may: flags.may };
  const expiresInMs = flags.expires === "never" ? undefined : age("--expires", flags.expires, ", or never");
  const token = await (await tableOf(flags)).add(grant, expiresInMs);
  terminal.stdout.write(`${token}\n`);
  terminal.stderr.write(
    `${name} may ${flags.may} the sessions of ${whose(tenant)}. This token is shown only now: keep it safe\n`,
  );
}

async function list(flags: ListFlags, terminal: Terminal): Promise<void> {
  const found = await (await tableOf(flags)).list();
  if (flags.json === true) return printJson(terminal.stdout, found.map(forJson));
  if (found.length === 0)
    return void terminal.stderr.write("there are no tokens yet: throughline tokens add\n");
  const rows = [HEAD, ...found.map(rowOf)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  printLines(
    terminal.stdout,
    rows.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    ),
  );
}

const HEAD = ["name", "tenant", "may", "kind", "expires"];

function rowOf({ name, tenant, may, kind, expiresAt }: StoredToken): readonly string[] {
  const expires = expiresAt === undefined ? "never" : isoTime(expiresAt).slice(0, 16).replace("T", " ");
  return [inertLine(name, 64), tenant === "" ? "-" : inertLine(tenant, 64), may, KINDS[kind], expires];
}

const KINDS: Readonly<Record<StoredToken["kind"], string>> = {
  token: "token",
  browser: "browser, by its link",
  login: "program, by its link",
};

function forJson({ name, tenant, may, kind, createdAt, expiresAt }: StoredToken): object {
  const expires = expiresAt === undefined ? null : isoTime(expiresAt);
  return { name, tenant, may, kind, createdAt: isoTime(createdAt), expiresAt: expires };
}

async function remove(name: string, flags: StoreFlags, terminal: Terminal): Promise<void> {
  if (!(await (await tableOf(flags)).remove(name)))
    throw codedError(
      "token_not_found",
      `there is no token named "${inertLine(name, 64)}": throughline tokens list shows all of them`,
    );
  terminal.stdout.write(
    `removed ${inertLine(name, 64)}: it stops working on every server within 3 seconds\n`,
  );
}

function whose(tenant: string): string {
  return tenant === "" ? "the tenant without a name" : `tenant ${tenant}`;
}
