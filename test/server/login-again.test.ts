/** Opens the terminal's link a second time, in the browser it logged in and elsewhere. */

import { expect, test } from "vitest";

import { type Answer, ask, served } from "./server-fixture.ts";

const leadsToThePage = ({ text }: Answer): boolean => text.includes('http-equiv="refresh" content="0;url=/"');

test("a used link leads to the page in the browser it logged in, and grants nothing there or elsewhere", async () => {
  const { server } = await served();
  const link = new URL(await server.newLink());
  const name = `throughline_${server.port}`;
  const open = (headers: Record<string, string> = {}, code = link.search): Promise<Answer> =>
    ask(server, {
      path: `/login${code}`,
      bare: true,
      headers: { host: `127.0.0.1:${server.port}`, ...headers },
    });
  const cookie = String((await open()).headers["set-cookie"]).split(";")[0] ?? "";

  const again = await open({ cookie });
  expect([again.status, leadsToThePage(again), again.headers["set-cookie"]]).toEqual([200, true, undefined]);
  // Only the cookie counts there; a code that never existed is treated like a used one.
  expect((await open({ cookie }, "?code=never")).status).toBe(200);

  for (const stranger of [
    {},
    { cookie: `${name}=` },
    { cookie: `${name}=${"x".repeat(43)}` },
    { cookie: `${name}=${server.token}` },
    { cookie: `${cookie}; ${cookie}` },
    { cookie: cookie.replace(name, "throughline_1") },
    { authorization: `Bearer ${server.token}` },
  ]) {
    const answer = await open(stranger);
    expect([answer.status, leadsToThePage(answer), answer.headers["set-cookie"]]).toEqual([
      401,
      false,
      undefined,
    ]);
  }
});

test("a link clicked again on a foreign page, where the browser withholds its cookie, leads to the page through a refresh of our own", async () => {
  const { server } = await served();
  const link = new URL(await server.newLink());
  const headers = {
    host: `127.0.0.1:${server.port}`,
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
  };
  const open = (): Promise<Answer> => ask(server, { path: `/login${link.search}`, bare: true, headers });
  await open();
  const again = await open();
  expect([again.status, leadsToThePage(again), again.headers["set-cookie"]]).toEqual([401, true, undefined]);
  // Without a cookie the page grants no access, and there is no redirect loop.
  const page = await ask(server, {
    path: "/",
    bare: true,
    headers: { host: headers.host, "sec-fetch-site": "same-origin", accept: "text/html" },
  });
  expect([page.status, leadsToThePage(page)]).toEqual([401, false]);
});
