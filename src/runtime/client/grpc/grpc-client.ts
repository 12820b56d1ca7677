import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "../../error/service-error.ts";
import type { ClientCall, ClientTransport } from "../call/client-call.ts";
import { checkClientTls } from "../call/client-tls.ts";
import { type ServiceClient, typedClient } from "../call/typed-client.ts";
import { ClientChain } from "../chain/client-chain.ts";
import type { GrpcChannelOptions, GrpcChannels, GrpcClientOptions } from "./grpc-channels.ts";

/**
 * A client of a service over gRPC. Errors are `ServiceError`s with the code of the server. It
 * connects with its first call.
 *
 * @param service - the service descriptor of protoc-gen-es
 * @throws TypeError if the target is empty, or `tls` is not PEM or does not match; RangeError if a
 * rate limit or a failure rate is not valid
 *
 * @example
 * ```ts
 * const notes = createGrpcClient(NotesService, {
 *   target: "notes:19010",
 *   internalToken: secretFile("/run/secrets/notes-token"),
 * });
 * try {
 *   const { items } = await notes.listItems({}, { context });
 *   console.log(items.length);
 * } catch (error) {
 *   if (error instanceof ServiceError) console.error(error.status, error.code, error.message);
 * }
 * ```
 */
export function createGrpcClient<Service extends DescService>(
  service: Service,
  options: GrpcClientOptions,
): ServiceClient<Service> {
  return typedClient(service, new ClientChain(new GrpcTransport(options), options, options.target));
}

/**
 * Sends calls over gRPC. The library is loaded with the first call: it is large, and many services
 * do not use their client for a long time.
 */
class GrpcTransport implements ClientTransport {
  readonly name = "grpc";
  readonly #options: GrpcChannelOptions;
  #channels: GrpcChannels | undefined;
  #loading: Promise<GrpcChannels> | undefined;
  #isClosed = false;

  /** @throws TypeError if the target is empty, or the certificates are not valid */
  constructor(options: GrpcChannelOptions) {
    if (options.target === "") throw new TypeError('target is empty: set it to "host:port"');
    if (options.tls !== undefined) checkClientTls(options.tls);
    this.#options = options;
  }

  isIdempotent({ idempotency }: DescMethod): boolean {
    return idempotency === Idempotency.IDEMPOTENT || idempotency === Idempotency.NO_SIDE_EFFECTS;
  }

  async send(call: ClientCall): Promise<unknown> {
    const channels = this.#channels ?? (await this.#load());
    return channels.send(call);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Calls that wait for it are sent first. If it cannot be loaded, they fail with that error.
    const channels = this.#channels ?? (await this.#loading?.catch(() => undefined));
    channels?.close();
  }

  #load(): Promise<GrpcChannels> {
    if (this.#isClosed) throw new ServiceError("UNAVAILABLE", "the client is closed");
    return (this.#loading ??= this.#open());
  }

  async #open(): Promise<GrpcChannels> {
    const { GrpcChannels } = await import("./grpc-channels.ts");
    return (this.#channels = new GrpcChannels(this.#options));
  }
}
