/**
 * Other pages in a logged-in browser: on another port of the same machine, on another site, and under a name that was
 * pointed at this machine (DNS rebinding, CVE-2025-66414). None of them reads or changes anything.
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { type BrowserContext, chromium, type Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import { afterTest } from "../contracts/file-fixture.ts";
import { served, type Served } from "../server/server-fixture.ts";
import { findChromium } from "./chromium.ts";

const found = findChromium();

/** Everything a page can send without a preflight; resolves to what it could read of the answers. */
const ATTEMPTS = `async (target) => {
  const read = [];
  const attempt = async (name, work) => {
    try {
      const text = await work();
      if (text) read.push(name + ": " + text);
    } catch {}
  };
  const send = (mode, method, type, body) => async () => {
    const response = await fetch(target + "/api/sessions", {
      mode, method, credentials: "include",
      ...(body === undefined ? {} : { body, headers: { "content-type": type } }),
    });
    return response.ok ? await response.text() : "";
  };
  for (const mode of ["cors", "no-cors"]) {
    await attempt(mode + " get", send(mode, "GET"));
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json"])
      await attempt(mode + " post " + type, send(mode, "POST", type, '{"id":"taken"}'));
    await attempt(mode + " delete", send(mode, "DELETE"));
  }
  await attempt("beacon", async () => { navigator.sendBeacon(target + "/api/sessions", '{"id":"taken"}'); });
  await attempt("form", () => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.name = "frame";
    const form = document.createElement("form");
    Object.assign(form, { method: "post", action: target + "/api/sessions", target: "frame", enctype: "text/plain" });
    const field = document.createElement("input");
    Object.assign(field, { name: '{"id":"taken","x":"', value: '"}' });
    form.append(field);
    document.body.append(frame, form);
    frame.onload = () => { try { resolve(frame.contentDocument?.body?.innerText ?? ""); } catch { resolve(""); } };
    form.submit();
    setTimeout(() => resolve(""), 2000);
  }));
  await attempt("events", () => new Promise((resolve) => {
    const source = new EventSource(target + "/api/sessions/s1/events", { withCredentials: true });
    source.onmessage = (event) => { source.close(); resolve(event.data); };
    source.onerror = () => { source.close(); resolve(""); };
  }));
  await attempt("socket", () => new Promise((resolve) => {
    const socket = new WebSocket(target.replace("http", "ws") + "/api/sessions/s1/events");
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("");
  }));
  for (const [tag, path] of [["img", "/favicon.ico"], ["script", "/api/server"], ["iframe", "/"]])
    await attempt(tag, () => new Promise((resolve) => {
      const element = document.createElement(tag);
      element.onload = () => {
        try { resolve(tag === "iframe" ? element.contentDocument?.body?.innerText ?? "" : tag === "img" ? "drawn" : ""); }
        catch { resolve(""); }
      };
      element.onerror = () => resolve("");
      element.src = target + path;
      document.body.append(element);
    }));
  return read;
}`;

describe.skipIf("missing" in found)(`other pages${"missing" in found ? ` (${found.missing})` : ""}`, () => {
  test("on another port, another site, or under a name pointed at us read and change nothing", async () => {
    if ("missing" in found) return;
    const parts: Served = await served();
    const { server } = parts;
    await (await parts.remote.open({ id: "s1" })).send("A secret").result();
    const foreign = createServer((_request, response) => {
      response.setHeader("content-type", "text/html").end("<!doctype html><body>hello");
    });
    await new Promise<void>((resolve) => void foreign.listen(0, "127.0.0.1", resolve));
    afterTest(() => void foreign.close());
    const { port } = foreign.address() as AddressInfo;
    const browser = await chromium.launch({
      executablePath: found.path,
      args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP evil.test 127.0.0.1"],
    });
    afterTest(() => browser.close());
    const context: BrowserContext = await browser.newContext();
    const own = await context.newPage();
    await own.goto(await server.newLink());
    await expect.poll(() => own.evaluate("fetch('/api/server').then((answer) => answer.status)")).toBe(200);
    // Every request that this browser sends with its cookie counts.
    const page: Page = await context.newPage();
    for (const address of [
      `http://127.0.0.1:${port}/`,
      `http://evil.test:${port}/`,
      `http://localhost:${port}/`,
    ]) {
      await page.goto(address);
      expect([address, await page.evaluate(`(${ATTEMPTS})(${JSON.stringify(server.url)})`)]).toEqual([
        address,
        [],
      ]);
    }
    const rebound = `http://evil.test:${server.port}`;
    expect((await page.goto(`${rebound}/`))?.status()).toBe(421);
    expect(await page.evaluate(`(${ATTEMPTS})(${JSON.stringify(rebound)})`)).toEqual([]);
    expect((await parts.remote.list()).map(({ id }) => id)).toEqual(["s1"]);
    expect(parts.problems).toEqual([]);
  });
});
