/** The version of the interface between generated code and the runtime; the runtime rejects any other. */
export const BINDING_FORMAT_VERSION = 1;

/** A route as generated code declares it: an RPC by its name in the service, and its `google.api.http`. */
export interface HttpRouteDeclaration {
  /** The name of the RPC, without that of its service: `SetItem`. */
  readonly rpc: string;
  /** The HTTP method; `*` for any. */
  readonly method: string;
  /** The path template, such as `/v1/notes/items/{item_id}`. */
  readonly path: string;
  /** The request field that is the body; `*` for all fields that the path does not bind; absent for no body. */
  readonly body?: string;
  /** The response field that is the body; absent for the whole response. */
  readonly responseBody?: string;
}
