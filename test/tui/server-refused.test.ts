/** `--server` on a terminal: problems are reported before anything is drawn, and the link logs in. */

import { expect, test } from "vitest";

import { emulatorOf, newPlace, run } from "../cli/harness.ts";
import { ownPort } from "../support/own-port.ts";
import { KEYS, onScreen } from "./screen-harness.ts";
import { serve, TOKEN } from "./server-harness.ts";

test("a wrong token, address or flag is refused", async () => {
  const there = newPlace();
  const server = await serve(there, {});
  const place = newPlace();
  const tried = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
    const screen = onScreen(place, args, { env, columns: 200 });
    return { code: await screen.ended, said: screen.screen };
  };
  const wrong = await tried(["--server", server.url], { THROUGHLINE_TOKEN: "f".repeat(32) });
  expect(wrong).toEqual({
    code: 2,
    said: expect.stringMatching(/rejected the token.*\[unauthorized\]/s),
  });
  const none = await tried(["--server", server.url], {});
  expect(none).toEqual({ code: 2, said: expect.stringMatching(/needs a token.*\[unauthorized\]/s) });
  const kept = await tried(["--server", "http://127.0.0.1:1"], { THROUGHLINE_TOKEN: TOKEN });
  expect(kept).toEqual({
    code: 2,
    said: expect.stringMatching(/reserved for another.*\[server_url_invalid\]/s),
  });
  const empty = `http://127.0.0.1:${await ownPort()}`;
  const nobody = await tried(["--server", empty], { THROUGHLINE_TOKEN: TOKEN });
  expect(nobody).toEqual({ code: 2, said: expect.stringContaining("[server_unreachable]") });
  const nonsense = await tried(["--server", "nonsense"], {});
  expect(nonsense).toEqual({ code: 2, said: expect.stringContaining("[server_url_invalid]") });
  const unknown = await tried(["--server", server.url, "-r", "nope"], { THROUGHLINE_TOKEN: TOKEN });
  expect(unknown).toEqual({ code: 2, said: expect.stringContaining("[session_not_found]") });
  const effort = await tried(["--server", server.url, "--effort", "never"], { THROUGHLINE_TOKEN: TOKEN });
  expect(effort).toEqual({ code: 2, said: expect.stringContaining("[effort_unknown]") });
  const flags = await run(place, ["--server", server.url, "--permissions", "deny", "-p", "hi"]);
  expect([flags.code, flags.out]).toEqual([2, ""]);
  expect(flags.err).toContain("--server and --permissions cannot be used together");
});

test("a link works instead of a token, and so do lines for a screen reader", async () => {
  const there = newPlace();
  const { env } = await emulatorOf();
  const server = await serve(there, env);
  const screen = onScreen(newPlace(), ["--server", server.link, "--screen-reader", "Think of a number."], {
    columns: 120,
  });
  await screen.shows("Done, 1 request");
  screen.press(KEYS.controlD);
  expect(await screen.ended).toBe(0);
  expect(screen.flat).toContain(`throughline --server ${server.url} -r`);
  expect(screen.everything).not.toContain("code=");
});
