/** The MCP servers of an agent, from a local and a remote session. The servers are real processes. */

import { expect, test } from "vitest";

import type { SessionHandle } from "../../src/index.ts";
import { mcpTools } from "../../src/index.ts";
import type { McpTools } from "../../src/index.ts";
import { afterTest } from "../contracts/file-fixture.ts";
import { ABSENT, EVERYTHING, MUTE } from "../mcp/support/everything.ts";
import { served } from "./server-fixture.ts";

const servers = async (given: Parameters<typeof mcpTools>[0]["servers"]): Promise<McpTools> => {
  const mcp = await mcpTools({ servers: given });
  afterTest(() => mcp.close());
  return mcp;
};

const failure = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    return `resolved to ${JSON.stringify(await work())}`;
  } catch (error) {
    return `${(error as { readonly code: string }).code}: ${(error as Error).message}`;
  }
};

/** A handle of the agent in this process, and one over HTTP. */
const bothHandles = async (options: Parameters<typeof served>[0]): Promise<readonly SessionHandle[]> => {
  const { agent, store, remote } = await served(options);
  const local = await agent.open({ store });
  afterTest(() => local.close());
  return [local, await remote.open()];
};

test("a local and a remote session show the same servers and prompts", async () => {
  const mcp = await servers({ all: EVERYTHING, gone: ABSENT });
  const looks = await Promise.all(
    (await bothHandles({ tools: [mcp] })).map(async (handle) => ({
      servers: await handle.mcpServers(),
      prompts: await handle.mcpPrompts(),
      messages: await handle.mcpPrompt("all", "args-prompt", { city: "Rome" }),
    })),
  );
  expect(looks[1]).toEqual(JSON.parse(JSON.stringify(looks[0])));
  const [{ servers: views, prompts, messages }] = looks as [(typeof looks)[0]];
  expect(views.map(({ name, state }) => `${name} ${state}`)).toEqual(["all connected", "gone failed"]);
  expect(views[0]?.toolNames).toContain("echo");
  expect(views[0]?.tools).toBe(views[0]?.toolNames.length);
  expect(views[1]?.problem).toBe(`there is no such program: ${ABSENT.command}`);
  expect(prompts.map(({ server, name }) => `${server}:${name}`)).toContain("all:args-prompt");
  expect(messages).toEqual([{ role: "user", text: expect.stringContaining("Rome") as string }]);
});

test("an agent without servers answers with empty lists and knows no server", async () => {
  for (const handle of await bothHandles({})) {
    expect(await handle.mcpServers()).toEqual([]);
    expect(await handle.reconnectMcp()).toEqual([]);
    expect(await handle.mcpPrompts()).toEqual([]);
    expect(await failure(() => handle.reconnectMcp("docs"))).toBe(
      'mcp_server_unknown: there is no MCP server "docs"; there are none',
    );
  }
});

test("a mute server fails after its time, and connecting again says the same", async () => {
  const mcp = await servers({ mute: MUTE });
  for (const handle of await bothHandles({ tools: [mcp] })) {
    const [view] = await handle.reconnectMcp("mute");
    expect(view).toMatchObject({ state: "failed", problem: "it did not answer within 0.3 s", tools: 0 });
    expect(await failure(() => handle.mcpPrompt("mute", "x"))).toMatch(/^mcp_prompt_failed: .*mute/);
  }
});

test("a wrong name, a wrong prompt and wrong arguments are refused by code", async () => {
  const mcp = await servers({ all: EVERYTHING });
  for (const handle of await bothHandles({ tools: [mcp] })) {
    expect(await failure(() => handle.reconnectMcp("al"))).toMatch(
      /^mcp_server_unknown: .*did you mean.*all/,
    );
    expect(await failure(() => handle.reconnectMcp("\u001B[2Jdocs"))).not.toContain("\u001B");
    expect(await failure(() => handle.mcpPrompt("all", "no-such-prompt"))).toMatch(/^mcp_prompt_failed: /);
    expect(await failure(() => handle.mcpPrompt("all", "args-prompt"))).toMatch(/^mcp_prompt_failed: /);
    const wrong = { city: 7 } as unknown as Record<string, string>;
    expect(await failure(() => handle.mcpPrompt("all", "args-prompt", wrong))).toMatch(
      /^(?:options_invalid|field_invalid): /,
    );
  }
});

test("a token that may only read sees the servers and connects none", async () => {
  const { server, remote } = await served({ tools: [await servers({ gone: ABSENT })] });
  const { id } = await remote.open();
  const link = await fetch(`${server.url}/api/links`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    body: JSON.stringify({ may: "read" }),
  });
  const { link: address } = (await link.json()) as { readonly link: string };
  const login = await fetch(`${server.url}/api/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: new URL(address).searchParams.get("code") }),
  });
  const { token } = (await login.json()) as { readonly token: string };
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const path = `${server.url}/api/sessions/${id}/mcp`;
  expect((await fetch(path, { headers })).status).toBe(200);
  const refused = await fetch(`${path}/reconnect`, { method: "POST", headers, body: "{}" });
  expect([refused.status, await refused.json()]).toMatchObject([403, { error: { code: "right_missing" } }]);
});

test("a field that nobody knows and a body that is no object are refused", async () => {
  const { server, remote } = await served({ tools: [await servers({ gone: ABSENT })] });
  const { id } = await remote.open();
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  const post = async (route: string, body: string): Promise<unknown> => {
    const answer = await fetch(`${server.url}/api/sessions/${id}/mcp/${route}`, {
      method: "POST",
      headers,
      body,
    });
    return [answer.status, ((await answer.json()) as { error: { code: string } }).error.code];
  };
  expect(await post("reconnect", '{"sever":"gone"}')).toEqual([400, "field_unknown"]);
  expect(await post("reconnect", '{"server":7}')).toEqual([400, "field_invalid"]);
  expect(await post("reconnect", '{"server":"gon"}')).toEqual([404, "mcp_server_unknown"]);
  expect(await post("prompt", "[]")).toEqual([400, "body_invalid"]);
  expect(await post("prompt", '{"server":"gone"}')).toEqual([400, "field_invalid"]);
  expect(await post("prompt", '{"server":"gone","name":"x","arguments":{"a":1}}')).toEqual([
    400,
    "field_invalid",
  ]);
  expect(await post("prompt", '{"server":"gone","name":"x"}')).toEqual([409, "mcp_prompt_failed"]);
});
