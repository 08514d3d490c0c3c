/** `throughline/client`: the sessions of a server as handles like any other. Runs in a browser. */

export * from "../../base/api/index.ts";
export {
  connect,
  type ConnectOptions,
  type ListSessionsOptions,
  type RemoteAgent,
  type RemoteOpenOptions,
} from "./connect.ts";
