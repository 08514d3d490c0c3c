/** The system calls the file log makes, as a port: tests count them and make them fail. */

import { fdatasync, fstatSync, ftruncateSync, lstatSync, writeSync } from "node:fs";

export interface FileIo {
  write(file: number, bytes: Uint8Array, offset: number, position: number): number;
  size(file: number): number;
  /** Whether the path still leads to the open file. */
  isAt(file: number, path: string): boolean;
  truncate(file: number, length: number): void;
  sync(file: number): Promise<void>;
}

export const systemFileIo: FileIo = {
  write: (file, bytes, offset, position) => writeSync(file, bytes, offset, bytes.length - offset, position),
  size: (file) => fstatSync(file).size,
  isAt: (file, path) => {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return false;
    const { dev, ino } = fstatSync(file, { bigint: true });
    return found.ino === ino && found.dev === dev;
  },
  truncate: (file, length) => ftruncateSync(file, length),
  sync: (file) =>
    new Promise((resolve, reject) => {
      fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
    }),
};
