/** `throughline/client`: the sessions of a server, with the same handles as local ones. Runs in a browser. */

export * from "../../base/api/index.ts";
export {
  connect,
  type ConnectOptions,
  type ListSessionsOptions,
  type RemoteAgent,
  type RemoteOpenOptions,
} from "./connect.ts";
