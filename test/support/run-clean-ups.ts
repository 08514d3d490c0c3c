/** A Vitest set-up file: runs the clean-ups that fixtures registered (clean-up.ts). */

import { afterAll, afterEach } from "vitest";

import { cleanUpFile, cleanUpTest } from "./clean-up.ts";

afterEach(cleanUpTest);
afterAll(cleanUpFile);
