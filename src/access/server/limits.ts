/**
 * What one client, or somebody who is not even one, may take of the server (reliability.md §4). In one place, and
 * options of the server, so that tests reach them with a few sockets and milliseconds.
 */

export interface ServerLimits {
  /** So long may the head of a request take, and a connection that says nothing last. */
  readonly headMs: number;
  /** So long may a whole request take to arrive. Streams are answers: they last as long as their client. */
  readonly requestMs: number;
  readonly headBytes: number;
  /**
   * Open at a time. One more takes the place of the oldest on which no request was ever let in, or else of the one that
   * has been idle longest. A connection is safe only while a request with a valid key waits on it for its answer.
   */
  readonly connections: number;
  /** Requests on one connection that wait for their answers. */
  readonly pipelined: number;
  /** So long a request without a valid key (a login, or one that is refused) has for its body and its answer. */
  readonly strangerMs: number;
  /** So large may the body of a login be: a code, and room for the spaces around it. */
  readonly strangerBytes: number;
  /** So much of a body that was refused is read and dropped, so that its sender lives to read the refusal. */
  readonly lingerBytes: number;
  readonly lingerMs: number;
  /** Wrong tokens, cookies and codes in a minute, from all together. */
  readonly wrongKeys: number;
  /** So long may a client take nothing of a download. */
  readonly stuckMs: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headMs: 10_000,
  requestMs: 30_000,
  headBytes: 16 * 1024,
  connections: 2000,
  pipelined: 32,
  strangerMs: 5000,
  strangerBytes: 4096,
  lingerBytes: 64 * 1024 * 1024,
  lingerMs: 20_000,
  wrongKeys: 60,
  stuckMs: 30_000,
};
