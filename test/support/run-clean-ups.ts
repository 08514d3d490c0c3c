/** A set-up file of Vitest's: runs what fixtures left to be undone (clean-up.ts). */

import { afterAll, afterEach } from "vitest";

import { cleanUpFile, cleanUpTest } from "./clean-up.ts";

afterEach(cleanUpTest);
afterAll(cleanUpFile);
