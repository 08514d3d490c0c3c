/**
 * Which wing imports which. A wing imports only wings above it in this table, so there is no cycle. If it needs one
 * folder of a wing, the row names the folder and grants no more.
 */
export const WINGS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  emulator: ["base"],
  runtime: ["base", "emulator"],
  access: ["base", "runtime"],
  diagnostics: ["base", "runtime"],
  proxy: ["access/gate", "base", "diagnostics/check", "runtime/providers", "runtime/rules", "runtime/wire"],
  interface: ["access/client", "base", "runtime/facts"],
};

/** Which folder imports which inside its wing. The emulator is one folder. */
export const FOLDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  base: {
    support: [],
    files: ["support"],
    events: ["support"],
    api: ["events", "support"],
  },
  runtime: {
    wire: [],
    fold: [],
    facts: ["fold"],
    rules: [],
    tools: [],
    mcp: ["log", "tools"],
    log: ["facts"],
    postgres: ["facts", "log"],
    providers: ["fold", "rules", "wire"],
    models: ["providers"],
    turn: ["facts", "fold", "log", "providers", "tools"],
    compaction: ["fold", "providers", "turn"],
    session: ["compaction", "facts", "fold", "log", "models", "providers", "tools", "turn"],
  },
  access: { client: [], gate: [], server: ["gate"] },
  diagnostics: { check: [], conform: [], import: ["check"], trace: [] },
  proxy: {
    marks: [],
    ledger: ["marks"],
    restore: ["ledger", "marks"],
    heal: ["ledger", "marks", "restore"],
    relay: ["heal", "ledger", "marks", "restore"],
  },
  interface: {
    config: [],
    fragments: [],
    highlight: [],
    tui: ["fragments", "highlight"],
    web: ["fragments", "highlight"],
  },
};
