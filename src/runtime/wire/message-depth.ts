import { invalidArgument, type ServiceError, shown } from "../error/service-error.ts";

/**
 * The most messages within each other in a request, without the request itself. Most implementations of protobuf
 * decode no more by default: a deeper one could be stored, and its clients could not read it any more.
 */
export const MAX_DEPTH = 100;

/** protobuf-es counts the request, too, and of a map its values only. */
export const RECURSION_LIMIT = MAX_DEPTH + 1;

/**
 * The error of a request that is deeper.
 *
 * @param path the innermost field that has a name of its own
 */
export function tooDeep(path: string): ServiceError {
  const what = path === "" ? "the request" : `the field ${shown(path)}`;
  return invalidArgument(
    `${what} is nested deeper than ${MAX_DEPTH} messages, the most that protobuf decodes: an object in a google.protobuf.Struct counts as 3, a list in it as 2, an entry of a map as 1`,
  );
}
