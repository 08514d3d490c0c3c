/**
 * What an error of the driver means. A message of the server may name a host, a user or a database, so none of it is
 * shown: the code of the error decides the words, and is kept in the details.
 */

import { codeOf, type ErrorCode, isThroughlineError, ThroughlineError } from "../../base/support/index.ts";

/**
 * - `unknown`: no answer came, so the statement may have been carried out;
 * - `again`: the server undid the statement and would take it again (a deadlock, a lock that took too long);
 * - `no`: the server refused the statement and did nothing.
 */
export type Outcome = "unknown" | "again" | "no";

/** Connection lost, server stopping or starting, too many connections. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const NO_ANSWER = /^(?:08...|57P0[1-5]|53300)$/;
const TAKEN_BACK = /^(?:40001|40P01|55P03|57014)$/;
/** SQLSTATE: five digits or capital letters. Node's own codes (ECONNRESET) are longer. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

export function sqlState(error: unknown): string | undefined {
  const code = codeOf(error);
  return code !== undefined && SQLSTATE.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : undefined;
}

/** The driver itself gave up the login: it has no password, or the server did not prove that it knows it. */
function isLoginGivenUp(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("SASL: ");
}

export function outcomeOf(error: unknown): Outcome {
  if (isThroughlineError(error)) return error.code === "store_unreachable" ? "unknown" : "no";
  if (isLoginGivenUp(error)) return "no";
  const state = sqlState(error);
  if (state === undefined || NO_ANSWER.test(state)) return "unknown";
  return TAKEN_BACK.test(state) ? "again" : "no";
}

/** Whether we gave a statement up that may still run on the server. */
export function isOverdue(error: unknown): boolean {
  return isThroughlineError(error) && error.code === "store_unreachable";
}

/** Whether a statement had to wait too long, perhaps for a lock that another one holds. */
export function isHeldUp(error: unknown): boolean {
  return isOverdue(error) || outcomeOf(error) === "again";
}

/** Whether a statement that only reads may simply be sent once more. */
export function isTransient(error: unknown): boolean {
  return outcomeOf(error) !== "no";
}

/** A pooler gave us a connection on which another client has prepared statements (42P05), or none of ours (26000). */
export function isPreparedElsewhere(error: unknown): boolean {
  return ["42P05", "26000"].includes(sqlState(error) ?? "");
}

interface Meaning {
  readonly code: ErrorCode;
  readonly message: string;
}

const MIGRATE = "Run: throughline migrate";

function meaningOf(error: unknown): Meaning {
  const state = isLoginGivenUp(error) ? "28P01" : (sqlState(error) ?? "");
  if (outcomeOf(error) === "unknown")
    return { code: "store_unreachable", message: unreachable(error, state) };
  switch (state) {
    case "28000":
      return {
        code: "store_login_refused",
        message:
          "the database server lets this user in neither from here nor in this way: check the user of THROUGHLINE_STORE and the server's pg_hba.conf, and add sslmode=require if it accepts only TLS",
      };
    case "28P01":
      return {
        code: "store_login_refused",
        message:
          "the database refused the login: check the user of THROUGHLINE_STORE, and the password in THROUGHLINE_STORE_PASSWORD_FILE or PGPASSWORD",
      };
    case "3D000":
      return {
        code: "store_login_refused",
        message: "the server has no such database: create it, or check the address in THROUGHLINE_STORE",
      };
    case "42501":
      return {
        code: "store_no_rights",
        message:
          'the database user lacks a right on the store\'s tables: grant select, insert, update and delete on them; "throughline migrate" needs a user that may create tables',
      };
    case "3F000":
    case "42P01":
    case "42703":
      return {
        code: "store_too_old",
        message: `the database has no tables of this version yet. ${MIGRATE}`,
      };
    case "53100":
      return {
        code: "store_full",
        message:
          "the disk of the database server is full: free some space there. Nothing of the last append was written",
      };
    case "25006":
      return {
        code: "store_no_rights",
        message:
          "the database takes no writes: it is a replica, or read-only. Use the address of the primary server",
      };
    default:
      return { code: "store_failed", message: `the database refused a statement (SQLSTATE ${state})` };
  }
}

/** What the driver says, without a code. */
const NO_TLS = "The server does not support SSL connections";

function unreachable(error: unknown, state: string): string {
  const code = codeOf(error) ?? "";
  if (state === "53300")
    return "the database server has no free connections: raise max_connections, or put a pooler in front of it";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return "the host name of the store was not found: check the address in THROUGHLINE_STORE";
  if (error instanceof Error && error.message === NO_TLS)
    return "the database server offers no TLS, which sslmode asks for: turn it on there, or omit sslmode on a network that you trust";
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code))
    return `the store's TLS certificate was not accepted (${code}): check sslmode and sslrootcert`;
  const why = code === "" ? "" : ` (${code})`;
  return `the database server of the store does not answer${why}: check that it runs, and the address in THROUGHLINE_STORE`;
}

/** The error as it leaves this folder. Errors of ours stay as they are. */
export function storeError(error: unknown): ThroughlineError {
  if (isThroughlineError(error)) return error;
  const { code, message } = meaningOf(error);
  return new ThroughlineError({
    code,
    message,
    details: { sqlState: sqlState(error), errno: codeOf(error) },
  });
}
