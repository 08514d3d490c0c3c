/** The system calls the file log makes, as a port: tests count them and make them fail. */

import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  ftruncateSync,
  lstatSync,
  openSync,
  writeSync,
} from "node:fs";

export interface FileIo {
  write(file: number, bytes: Uint8Array, offset: number, position: number): number;
  size(file: number): number;
  /** Whether the path still leads to the open file. */
  isAt(file: number, path: string): boolean;
  truncate(file: number, length: number): void;
  sync(file: number): Promise<void>;
  /** Makes the names in a folder survive a loss of power too. */
  syncFolder(path: string): Promise<void>;
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
  syncFolder: (path) =>
    new Promise((resolve, reject) => {
      const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
      fsync(folder, (error) => {
        closeSync(folder);
        if (error === null) resolve();
        else reject(error);
      });
    }),
};
