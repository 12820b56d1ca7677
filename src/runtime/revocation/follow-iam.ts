import type { Logger } from "../../common/logger.ts";
import type { Clocks } from "../../common/observed-time.ts";
import { IAMRevocationService } from "../../gen/proto/svc/iam/v1/revocation_pb.ts";
import { readClientTls } from "../client/call/client-tls-files.ts";
import type { GrpcChannelOptions } from "../client/grpc/grpc-channels.ts";
import { createGrpcClient } from "../client/grpc/grpc-client.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { secretFile } from "../secret/followed-secret.ts";
import { type FeedConnection, FollowedRevocations } from "./followed-revocations.ts";

/** The section `security.authn.revocation`. */
export type RevocationConfig = NonNullable<ServiceConfig["security"]["authn"]["revocation"]>;

/** What following IAM needs. */
export interface FollowIamOptions {
  readonly config: RevocationConfig;
  /** The header of internal tokens. */
  readonly header: string;
  readonly logger: Logger;
  /** The clocks, for tests. */
  readonly clocks?: Clocks;
}

/**
 * Follows the revocations of IAM, with the internal token of this service.
 *
 * @throws TypeError if the certificates cannot be used, with all that is wrong
 */
export function followIam({
  config,
  header,
  logger,
  clocks,
}: FollowIamOptions): FollowedRevocations {
  const { endpoint, insecure, token = "", token_file: file } = config;
  // At once, so that the service does not start with wrong files.
  readClientTls(config);
  const secret = file === undefined ? undefined : secretFile(file, { logger });
  const options: GrpcChannelOptions = {
    target: endpoint,
    internalToken: secret ?? token,
    internalTokenHeader: header,
    streamTimeoutMs: Number.POSITIVE_INFINITY,
    retry: false,
    circuitBreaker: false,
    // A connection that seems to be alive may have lost its peer: the next call makes a new one.
    sharesConnections: false,
  };
  return new FollowedRevocations({
    connect: (position, signal): FeedConnection => {
      // Read again for each connection: certificates are renewed.
      const tls = insecure ? {} : { tls: readClientTls(config) };
      const client = createGrpcClient(IAMRevocationService, { ...options, ...tls });
      return {
        responses: client.watchRevocations({ position }, { signal }),
        close: () => client.close(),
      };
    },
    onClose: () => secret?.close(),
    onLoss: config.on_loss,
    maxEntries: config.max_entries,
    logger,
    ...(clocks === undefined ? {} : { clocks }),
  });
}
