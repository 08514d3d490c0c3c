/** What `throughline proxy` refuses: exit 2, one line with a code and what to do, nothing written, nothing started. */

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";

import { describe, expect, test, vi } from "vitest";

import { codeOf, messageOf } from "../../src/base/support/index.ts";
import { proxyCommand } from "../../src/interface/cli/commands/proxy.ts";
import { type ProxyFlags, proxySettings } from "../../src/interface/cli/proxy/proxy-settings.ts";
import { systemTerminal } from "../../src/interface/cli/terminal.ts";
import { afterTest } from "../support/clean-up.ts";
import { expectProblem, newPlace, type Place, run, treeOf } from "./harness.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "./proxy-fixture.ts";

const OTHER_KEY = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
`;

const FILES: ReadonlySet<string> = new Set(["empty", "weak", "c.pem", "k.pem", "other.pem"]);

function files(place: Place): void {
  place.write("empty", "");
  place.write("weak", "secret-but-short");
  place.write("c.pem", CERTIFICATE);
  place.write("k.pem", CERTIFICATE_KEY);
  place.write("other.pem", OTHER_KEY);
}

describe("a bad flag or argument", () => {
  test.concurrent.for([
    [["--nope"], "usage", "unknown flag --nope"],
    [
      ["claude"],
      "usage",
      "unknown command claude; throughline proxy has log, show, stats, erase, doctor. To run a program: throughline proxy -- claude",
    ],
    [["lgo"], "usage", 'did you mean "log"? To run a program'],
    [["--port", "99999"], "number_invalid", "--port 99999: use a whole number from 0 to 65535"],
    [["--days", "many"], "number_invalid", "--days many"],
    [
      ["--max-bytes", "4GB"],
      "number_invalid",
      "--max-bytes 4GB: use a number of bytes, such as 1000000, 500MiB or 4GiB",
    ],
    [["--observe", "--strict"], "usage", "--observe and --strict cannot be used together"],
    [["--to", "https://me:hunter2@x.example"], "base_url_invalid", "holds a user name or password"],
    [["--to", "http://127.0.0.1:4321"], "base_url_invalid", "--to: the address is the proxy's own"],
    [["--to", "https://x.example,profile=opnai"], "profile_unknown", 'unknown profile "opnai"'],
    [
      ["--host", "0.0.0.0", "--expose"],
      "usage",
      "needs a token, or anyone who can reach it may use it: set THROUGHLINE_PROXY_TOKEN",
    ],
    [["--token-file", "weak"], "token_weak", "must have 32 or more letters"],
    [
      ["--tls-cert", "c.pem", "--tls-key", "c.pem"],
      "file_unreadable",
      "--tls-key: the file does not hold a private key",
    ],
    [
      ["--ledger", "empty/below"],
      "file_unwritable",
      "a part of its path is a file. Name another folder with --ledger",
    ],
    [
      ["--ledger", "x", "log"],
      "usage",
      "--ledger stands before log: write throughline proxy log and then its own flags",
    ],
    [["log", "surplus"], "usage", "too many arguments: throughline proxy log takes none"],
    [["log", "--", "surplus"], "usage", "throughline proxy log runs no command"],
    [["log", "--limit", "0"], "number_invalid", "--limit 0: use a whole number above 0"],
    [["log", "--port", "1"], "usage", "unknown flag --port"],
    [["show"], "usage", "missing argument; usage: throughline proxy show <id>"],
    [["show", "x1"], "exchange_not_found", 'there is no exchange "x1"'],
    [["erase"], "usage", "say what to erase: --before DATE, --account FINGERPRINT, --exchange ID or --all"],
    [["erase", "--all", "--before", "2026-01-01"], "usage", "cannot be used together"],
    [["erase", "--account", "x", "--exchange", "y"], "usage", "cannot be used together"],
    [["erase", "--before", "yesterday"], "usage", "--before yesterday: use a date such as 2026-08-31"],
    [["erase", "--before", "2026-02-31"], "usage", "--before 2026-02-31"],
    [["erase", "--before", "2026-01-01T25:00Z"], "usage", "--before 2026-01-01T25:00Z"],
  ] as const)("%j", async ([args, code, part]) => {
    const place = newPlace();
    files(place);
    const ran = await run(place, ["proxy", ...args]);
    expectProblem(ran, 2, code);
    expect(ran.err).toContain(part);
    expect(ran.err).not.toMatch(/hunter2|secret-but-short/);
    expect(treeOf(place.home)).toEqual([]);
  });

  // What the process above does with the first error, it does with each: these need no process of their own.
  test.for([
    [["--port", "x"], "number_invalid", "--port x"],
    [["--port", ""], "number_invalid", "--port"],
    [["--days", "0"], "number_invalid", "--days 0: use a whole number from 1 to 36500"],
    [["--max-bytes", "0"], "number_invalid", "--max-bytes 0"],
    [["--max-bytes", "99999999TiB"], "number_invalid", "--max-bytes 9"],
    [
      ["--to", "nonsense"],
      "base_url_invalid",
      "--to: the address is not an http or https URL. Use one like https://",
    ],
    [["--to", "ftp://x.example"], "base_url_invalid", "--to: the address is not an http or https URL"],
    [["--to", "https://x.example?key=hunter2"], "base_url_invalid", "holds a query"],
    [["--to", "http://localhost:1234", "--port", "1234"], "base_url_invalid", "the proxy's own"],
    [["--to", "https://x.example,model=x"], "usage", 'unknown setting "model"'],
    [["--route", "nonsense"], "usage", "--route nonsense: write NAME=URL"],
    [["--route", "=https://x.example"], "usage", "write NAME=URL"],
    [["--route", "a/b=https://x.example"], "usage", "A name has letters, digits and . _ -"],
    [["--route", "t=https://x.example"], "usage", "and is not t"],
    [["--route", "x=nonsense"], "base_url_invalid", "--route x: the address is not an http or https URL"],
    [["--route", "x=https://x.example,profile=nope"], "profile_unknown", 'unknown profile "nope"'],
    [["--host", "0.0.0.0"], "host_not_loopback", "Add --expose and a token if you want this"],
    [
      ["--host", "0.0.0.0", "--expose", "--token-file", "nowhere"],
      "file_unreadable",
      "--token-file: the file of the token cannot be read: no such file",
    ],
    [["--token-file", "empty"], "file_unreadable", "--token-file: the file of the token is empty"],
    [["--allow-host", "http://x"], "usage", "--allow-host http://x: use a name and a port"],
    [
      ["--allow-origin", "http://x/y"],
      "usage",
      "--allow-origin http://x/y: use the address of a page without its path",
    ],
    [["--tls-cert", "c.pem"], "usage", "--tls-cert and --tls-key go together"],
    [["--tls-key", "k.pem"], "usage", "--tls-cert and --tls-key go together"],
    [
      ["--tls-cert", "nowhere", "--tls-key", "k.pem"],
      "file_unreadable",
      "--tls-cert: cannot read nowhere: no such file",
    ],
    [["--tls-cert", "c.pem", "--tls-key", "nowhere"], "file_unreadable", "--tls-key: cannot read nowhere"],
    [
      ["--tls-cert", "empty", "--tls-key", "k.pem"],
      "file_unreadable",
      "--tls-cert: the file does not hold a certificate in PEM form",
    ],
    [
      ["--tls-cert", "c.pem", "--tls-key", "other.pem"],
      "file_unreadable",
      "the key does not belong to the certificate",
    ],
    [["--ledger", ""], "usage", "--ledger is empty: name a folder"],
  ] as const)("%j", ([args, code, part]) => {
    const place = newPlace();
    files(place);
    vi.stubEnv("THROUGHLINE_HOME", place.home);
    const inPlace = args.map((arg) => (FILES.has(arg) ? join(place.work, arg) : arg));
    const command = proxyCommand(systemTerminal(), () => undefined);
    const { unknown } = command.parseOptions(inPlace);
    expect(unknown).toEqual([]);
    let error: unknown;
    try {
      proxySettings(command.opts<ProxyFlags>());
    } catch (thrown) {
      error = thrown;
    }
    expect([codeOf(error), messageOf(error)]).toEqual([code, expect.stringContaining(part)]);
    expect(messageOf(error)).not.toMatch(/hunter2|secret-but-short/);
    expect(treeOf(place.home)).toEqual([]);
  });

  test("a taken port", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(0, "127.0.0.1", resolve);
    });
    afterTest(() => taken.close());
    const { port } = taken.address() as AddressInfo;
    const ran = await run(newPlace(), ["proxy", "--port", String(port)]);
    expectProblem(ran, 2, "port_in_use");
    expect(ran.err).toContain("choose another with --port");
  });

  test("two tokens", async () => {
    const place = newPlace();
    const token = "0123456789abcdef0123456789abcdef";
    const ran = await run(place, ["proxy", "--token-file", place.write("token", token)], {
      env: { THROUGHLINE_PROXY_TOKEN: token },
    });
    expectProblem(ran, 2, "usage");
    expect(ran.err).toContain("are both given: keep one of them");
    expect(ran.err).not.toContain(token);
  });
});

describe("a bad setting", () => {
  test.concurrent.for([
    [{ mode: "mend" }, "config_value_invalid", "proxy.mode: use one of repair, observe, strict"],
    [{ to: "nonsense" }, "config_value_invalid", "proxy.to: it is not an http or https URL"],
    [{ routes: { t: "https://x.example" } }, "config_value_invalid", "proxy.routes.t: a name has"],
    [
      { routes: { x: "https://a:hunter2@x.example" } },
      "config_value_invalid",
      "proxy.routes.x: it holds a user name",
    ],
    [{ ledger: "relative" }, "config_value_invalid", "proxy.ledger: use an absolute path"],
    [{ days: 0 }, "config_value_invalid", "proxy.days: use a whole number, 1 or more"],
    [{ maxBytes: "4GiB" }, "config_value_invalid", "proxy.maxBytes: use a whole number"],
    [{ keep: "everything" }, "config_value_invalid", "proxy.keep: unknown field"],
    [{ to: "https://x.example,profile=nope" }, "profile_unknown", 'unknown profile "nope"'],
    [{ to: "http://127.0.0.1:4321" }, "base_url_invalid", "the proxy's own"],
  ] as const)("%j", async ([proxy, code, part]) => {
    const place = newPlace();
    mkdirSync(place.home);
    writeFileSync(join(place.home, "config.json"), JSON.stringify({ proxy }));
    const ran = await run(place, ["proxy"]);
    expectProblem(ran, 2, code);
    expect(ran.err).toContain(part);
    expect(ran.err).not.toContain("hunter2");
  });
});
