/** Folders, files and processes for tests of the file log. Everything is removed after the test. */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

import { type FileIo, systemFileIo } from "../../src/runtime/log/index.ts";
import type { ChildName } from "../support/build-once.ts";
import { childProgram } from "../support/built.ts";
import { afterTest } from "../support/clean-up.ts";

export { afterTest };

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "throughline-test-"));
  // A process that was killed a moment ago may still have created a file.
  afterTest(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  return folder;
}

export const linesOf = (path: string): readonly string[] =>
  readFileSync(path, "utf8").split("\n").slice(0, -1);

/** The real system calls, counted, and failing on demand. */
export interface CountedIo extends FileIo {
  readonly calls: { write: number; truncate: number; sync: number; syncFolder: number };
  failWrite: (() => number) | undefined;
  failTruncate: (() => void) | undefined;
  /** Called instead of the real sync. */
  onSync: (() => Promise<void>) | undefined;
  /** Called instead of the real sync of the folder. */
  onSyncFolder: (() => Promise<void>) | undefined;
}

export function countedIo(): CountedIo {
  const io: CountedIo = {
    calls: { write: 0, truncate: 0, sync: 0, syncFolder: 0 },
    failWrite: undefined,
    failTruncate: undefined,
    onSync: undefined,
    onSyncFolder: undefined,
    write(file, bytes, offset, position) {
      io.calls.write += 1;
      if (io.failWrite !== undefined) {
        const some = io.failWrite();
        return systemFileIo.write(file, bytes.subarray(0, offset + some), offset, position);
      }
      return systemFileIo.write(file, bytes, offset, position);
    },
    size: (file) => systemFileIo.size(file),
    isAt: (file, path) => systemFileIo.isAt(file, path),
    truncate(file, length) {
      io.calls.truncate += 1;
      io.failTruncate?.();
      systemFileIo.truncate(file, length);
    },
    sync(file) {
      io.calls.sync += 1;
      return io.onSync === undefined ? systemFileIo.sync(file) : io.onSync();
    },
    syncFolder(path) {
      io.calls.syncFolder += 1;
      return io.onSyncFolder === undefined ? systemFileIo.syncFolder(path) : io.onSyncFolder();
    },
  };
  return io;
}

export function errno(code: string): Error & { code: string } {
  return Object.assign(new Error(`${code}: made by the test`), { code });
}

export interface Child {
  readonly pid: number;
  /**
   * Returns the next output line that starts with this word, without the word. Other lines wait for their own readers.
   */
  line(word: string): Promise<string>;
  /** Resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  readonly exited: Promise<void>;
}

const root = resolve(import.meta.dirname, "../..");

export interface ChildOptions {
  /** The Node binary that runs it. Default: ours. */
  readonly node?: string;
  /** The user it runs as. Only root can choose one. */
  readonly uid?: number;
  /** A command that starts it, such as `unshare --net`. It must exec the program, so that its pid is the child's. */
  readonly by?: readonly string[];
}

/** Runs a test program in its own process. It prints lines, and the tests wait for them. */
export function startChild(name: ChildName, args: readonly string[], options: ChildOptions = {}): Child {
  const { node = process.execPath, uid, by = [] } = options;
  const [command = node, ...rest] = [...by, node, childProgram(name), ...args];
  const child = spawn(command, rest, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    uid,
    gid: uid,
  });
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  let errors = "";
  let ended = false;
  const wake = (): void => {
    for (const one of waiting.splice(0)) one();
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    wake();
  });
  child.stderr.on("data", (data: Buffer) => (errors += data.toString()));
  const exited = new Promise<void>((done) => {
    child.once("close", () => {
      ended = true;
      wake();
      done();
    });
  });
  const kill = (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    child.kill(signal);
    return exited;
  };
  afterTest(() => kill());
  return {
    pid: child.pid ?? 0,
    exited,
    kill,
    async line(word) {
      for (;;) {
        const index = lines.findIndex((line) => line === word || line.startsWith(`${word} `));
        if (index !== -1) return (lines.splice(index, 1)[0] ?? "").slice(word.length + 1);
        if (ended) throw new Error(`the child ended without saying "${word}"; it said: ${errors}`);
        await new Promise<void>((done) => {
          waiting.push(done);
        });
      }
    },
  };
}
