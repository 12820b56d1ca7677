import { createRegistry, type DescMethod, fromJson, toJson } from "@bufbuild/protobuf";

/** A message as ProtoJSON. */
export type Json = any;

/** The answer of a call, by any protocol. */
export interface Answer {
  /** The gRPC code in lower case, such as `permission_denied`, or `ok`. */
  readonly code: string;
  readonly messages: readonly Json[];
}

/** A call by any protocol. */
export interface RpcCall {
  readonly method: DescMethod;
  readonly request: Json;
  readonly headers: Readonly<Record<string, string>>;
  /** Of a stream without end: it is left after the first message that this is true for, which is the answer. */
  readonly isLast?: ((message: Json) => boolean) | undefined;
}

/** A client that nobody here wrote. */
export interface RpcClient {
  readonly name: string;
  /** @throws Error for an error that does not have the form of the protocol */
  call(call: RpcCall): Promise<Answer>;
  close?(): void;
}

/** A response of any client, with all its fields. @throws Error for a field that the message does not have */
export function wholeMessage({ output }: DescMethod, json: Json): Json {
  const registry = createRegistry(output.file, ...output.file.dependencies);
  return toJson(output, fromJson(output, json, { registry }), {
    registry,
    alwaysEmitImplicit: true,
  });
}
