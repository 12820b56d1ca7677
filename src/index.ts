/**
 * The compiler as a library: descriptors in, findings and files out.
 *
 * What generated code imports is `svc-access/runtime`.
 */
export { version } from "./common/version.ts";
