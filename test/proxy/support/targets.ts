/** Requests of every kind: those that the proxy reads, and others that it pipes. */

/** The three that are read, and others that are piped. */
export const READ = [
  "/v1/responses",
  "/v1/chat/completions",
  "/v1/messages",
  "/anthropic/v1/messages?beta=true",
] as const;
const PIPED: readonly (readonly [method: string, target: string])[] = [
  ["GET", "/v1/models?limit=1&after=a%20b"],
  ["GET", "/v1/responses/resp_1"],
  ["DELETE", "/v1/responses/resp_1"],
  ["POST", "/v1/embeddings"],
  ["POST", "/v1/messages/count_tokens"],
  ["POST", "/v1/responses/compact"],
  ["POST", "/v1/responses/"],
  ["POST", "/v1/files?purpose=batch"],
  ["PUT", "/upload/part/1"],
  ["PATCH", "/v1/things/1"],
  ["OPTIONS", "/v1/responses"],
  ["HEAD", "/v1/models"],
];
export const TARGETS = [...READ.map((target) => ["POST", target] as const), ...PIPED];
