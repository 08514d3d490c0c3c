/**
 * A canary as the API key: whatever a tool, a server or an error does with it, it is in no file below the home and on
 * neither stream. (Provider items are exempt, because they must be sent back exactly; SECURITY.md says so.)
 */

import { readFileSync, statSync } from "node:fs";

import { describe, expect, test } from "vitest";

import {
  emulatorOf,
  eventsOf,
  newPlace,
  onlyLog,
  type Place,
  run,
  type Ran,
  serverOf,
  toolsFile,
  treeOf,
} from "./harness.ts";

const CANARY = "sk-canary-9f8e7d6c5b4a3210/+=";
const FORMS = [CANARY, encodeURIComponent(CANARY), Buffer.from(CANARY).toString("base64")];

function expectNowhere(place: Place, ran: Ran): void {
  const texts = treeOf(place.home)
    .filter((path) => statSync(path).isFile())
    .map((path) => [path, readFileSync(path, "utf8")] as const);
  expect(texts.length).toBeGreaterThan(0);
  for (const form of FORMS) {
    for (const [path, text] of [...texts, ["stdout", ran.out], ["stderr", ran.err]] as const) {
      expect(text.includes(form), `${path} holds ${form}`).toBe(false);
    }
  }
}

describe("a tool that has read the key", () => {
  const key = "process.env.OPENAI_API_KEY";
  test.for([
    ["returns it", `run: () => "key: " + ${key}`, "ok"],
    [
      "returns it encoded",
      `run: () => [encodeURIComponent(${key}), Buffer.from(${key}).toString("base64")]`,
      "ok",
    ],
    ["throws it", `run: () => { throw new Error("bad key " + ${key}); }`, "error"],
    ["reports it as progress", `run: (_, { progress }) => { progress(${key}); return "told"; }`, "ok"],
    ["hides it in megabytes", `run: () => "x".repeat(500_000) + ${key} + "y".repeat(500_000)`, "ok"],
    ["puts it where a preview is cut", `run: () => (${key} + "\\n").repeat(50_000)`, "ok"],
  ] as const)("%s", async ([, body, status]) => {
    const place = newPlace();
    const { env } = await emulatorOf();
    const file = toolsFile(
      place,
      `export const t = tool({ name: "leak_it", description: "d", access: "read", input: { type: "object" }, ${body} });`,
    );
    for (const json of [[], ["--json", "-c"]]) {
      const ran = await run(place, ["-p", ...json, "--tools", file, "please leak_it"], {
        env: { ...env, OPENAI_API_KEY: CANARY },
      });
      expect(ran.code).toBe(0);
      expectNowhere(place, ran);
    }
    const results = eventsOf((await onlyLog(place)).events, "tool_result");
    expect(results.map((one) => one.status)).toEqual([status, status]);
  });

  test("a command run by the model does not even see it", async () => {
    const place = newPlace();
    const { env } = await emulatorOf();
    const ran = await run(place, ["-p", "--permissions", "auto", 'Run "env | sort".'], {
      env: { ...env, OPENAI_API_KEY: CANARY },
    });
    const [result] = eventsOf((await onlyLog(place)).events, "tool_result");
    expect(result?.text).toContain("PATH=");
    expect(result?.text).not.toContain("OPENAI");
    expectNowhere(place, ran);
  });
});

describe("a server that echoes the key", () => {
  const said = `you sent ${CANARY}, or ${encodeURIComponent(CANARY)}`;
  const failed = {
    type: "response.failed",
    sequence_number: 1,
    response: {
      id: "resp_1",
      object: "response",
      status: "failed",
      output: [],
      error: { code: "bad", message: said },
    },
  };
  test.for([
    [
      "in a 401",
      401,
      "application/json",
      JSON.stringify({ error: { message: said, code: "invalid_api_key" } }),
    ],
    [
      "in the parameter of a 400",
      400,
      "application/json",
      JSON.stringify({ error: { message: "no", param: CANARY, code: CANARY } }),
    ],
    ["in a body that is not JSON", 403, "text/plain", said],
    [
      "in a failed response",
      200,
      "text/event-stream",
      `event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`,
    ],
    [
      "in an error event",
      200,
      "text/event-stream",
      `event: error\ndata: ${JSON.stringify({ type: "error", code: "bad", message: said })}\n\n`,
    ],
  ] as const)("%s", async ([, status, type, body]) => {
    const baseUrl = await serverOf((_request, response) => {
      response.writeHead(status, { "content-type": type, "x-request-id": `req-${CANARY}` });
      response.end(body);
    });
    for (const json of [[], ["--json"]]) {
      const place = newPlace();
      const env = { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: CANARY };
      const ran = await run(place, ["-p", ...json, "-m", "openai/emu-reasoner", "hi"], { env });
      expect(ran.code).toBe(1);
      expect(`${ran.err}${ran.out}`).toContain("[redacted]");
      expectNowhere(place, ran);
    }
  });

  test("in a redirect", async () => {
    const place = newPlace();
    const baseUrl = await serverOf((_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:1/?key=${encodeURIComponent(CANARY)}` });
      response.end();
    });
    const env = { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: CANARY };
    const ran = await run(place, ["-p", "-m", "openai/emu-reasoner", "hi"], { env });
    expect(ran.err).toContain("[redacted]");
    expectNowhere(place, ran);
  });
});
