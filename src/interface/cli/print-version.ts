/**
 * Answers a line that asks for the version alone, as scripts and editors do before everything else, without the argument
 * parser. program.ts answers every other line that asks for it.
 */

import { VERSION } from "../../base/support/index.ts";
import { watchOutput } from "./unread-output.ts";

watchOutput();
process.stdout.write(`${VERSION}\n`);
