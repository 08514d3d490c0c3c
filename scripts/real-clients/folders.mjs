/**
 * A client's folder and environment: loopback addresses, a dummy key, no telemetry.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

import { runToEnd } from "../../bench/processes.mjs";

/** Install scripts do not run. A client's file finds what they would fetch in the packages themselves. */
const INSTALL = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];

/** Returns the folder with the client's packages. Installs them unless this exact list is installed. */
export async function installed({ client, node, cache }) {
  const list = client.packages.join(" ");
  const key = createHash("sha256").update(list).digest("hex").slice(0, 12);
  const dir = join(cache, `${client.name}-${key}`);
  const done = join(dir, "installed");
  if (existsSync(done)) return dir;
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  await runToEnd("npm", ["install", ...INSTALL, ...client.packages], { cwd: dir, env, timeoutMs: 600_000 });
  writeFileSync(done, list);
  return dir;
}

export function versionsIn(dir, packages) {
  return packages
    .map((one) => one.replace(/(?<=.)@[^@/]*$/, ""))
    .map((name) => {
      const file = join(dir, "node_modules", name, "package.json");
      return `${name}@${JSON.parse(readFileSync(file, "utf8")).version}`;
    })
    .join(", ");
}

/** Contains none of the user's settings. Every proxy leads to a port where nothing listens. */
export function environmentOf({ work, url, baseUrl, key, node }) {
  const nowhere = "http://127.0.0.1:9";
  return {
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    HOME: work,
    TMPDIR: work,
    LANG: "C.UTF-8",
    OPENAI_BASE_URL: baseUrl,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
    DEEPSEEK_BASE_URL: baseUrl,
    DEEPSEEK_API_KEY: key,
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    http_proxy: nowhere,
    https_proxy: nowhere,
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
    DO_NOT_TRACK: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_ERROR_REPORTING: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    LANGSMITH_TRACING: "false",
    LANGCHAIN_TRACING_V2: "false",
    AI_SDK_LOG_WARNINGS: "false",
    PI_OFFLINE: "1",
    PI_TELEMETRY: "0",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
  };
}
