import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { IAMPermissionService } from "../../gen/proto/svc/iam/v1/permission_pb.ts";

type Methods = (typeof IAMPermissionService)["method"];

/** The options of one call. */
interface RpcOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

type Rpc<Method> =
  Method extends DescMethodUnary<infer Input, infer Output>
    ? (request: MessageInitShape<Input>, options: RpcOptions) => Promise<MessageShape<Output>>
    : Method extends DescMethodServerStreaming<infer Input, infer Output>
      ? (
          request: MessageInitShape<Input>,
          options: RpcOptions,
        ) => AsyncIterable<MessageShape<Output>>
      : never;

/**
 * The calls of IAMPermissionService, as a typed client of the runtime makes them: with the internal
 * token, TLS and retries of its options. They reject with errors that have a `grpcStatus`.
 */
export type PermissionCalls = {
  readonly [Name in keyof Methods]: Rpc<Methods[Name]>;
} & {
  close(): Promise<void>;
};
