/**
 * The version of this package. What generated code imports is `svc-access/runtime`; the compiler is
 * the programs of this package, and not a library.
 */
export { version } from "./common/version.ts";
