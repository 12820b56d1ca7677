/**
 * The headers of an HTTP request or the metadata of a gRPC call. Names are in
 * lower case; each occurrence of a header is a value of its own, never joined.
 */
export interface CallHeaders {
  /** All values of a header; empty where it is absent. */
  all(name: string): readonly string[];
  /** The names that occur; one that occurs more than once may come more than once. */
  names(): Iterable<string>;
}

/** The only value of a header; undefined where it is absent or occurs more than once. */
export function single(headers: CallHeaders, name: string): string | undefined {
  const values = headers.all(name);
  return values.length === 1 ? values[0] : undefined;
}
