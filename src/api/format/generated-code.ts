/** The version of what generated code hands to the runtime; the runtime refuses another. */
export const BINDING_FORMAT_VERSION = 1;

/** A route as generated code declares it: an RPC by its name in the service, and its `google.api.http`. */
export interface HttpRouteDeclaration {
  readonly rpc: string;
  /** The HTTP method; `*` for any. */
  readonly method: string;
  /** The path template. */
  readonly path: string;
  readonly body?: string;
  readonly responseBody?: string;
}
