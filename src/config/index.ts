/**
 * Configuration: paths.
 *
 * @module
 */

export { sessionsFolder } from "./paths.ts";
