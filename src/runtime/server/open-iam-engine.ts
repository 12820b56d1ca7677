import type { AskedServer } from "../../authz/engine/asked-server.ts";
import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import { createIamEngine } from "../../authz/iam/index.ts";
import { IAMPermissionService } from "../../gen/proto/svc/iam/v1/permission_pb.ts";
import type { Model } from "../../model/index.ts";
import type { ClientTls } from "../client/call/client-tls.ts";
import { readClientTls } from "../client/call/client-tls-files.ts";
import { createGrpcClient } from "../client/grpc/grpc-client.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { StartUpError } from "../error/start-up-error.ts";
import { createLogger } from "../logging/create-logger.ts";
import { secretFile } from "../secret/followed-secret.ts";
import { renewedCalls } from "./renewed-calls.ts";

type IamConfig = NonNullable<ServiceConfig["security"]["authz"]["iam"]>;

/** With calls under way; a peer that has gone without closing the connection is noticed 20 s after that. */
const KEEPALIVE_MS = 10_000;
/** Explanations may be long. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/**
 * Opens the engine that asks IAM, with the internal token of this service. The gRPC client connects,
 * and is loaded, with the first call.
 *
 * @throws StartUpError if the certificates or the file of the token cannot be used
 */
export function openIamEngine(
  { security, service, environment, log }: ServiceConfig,
  model: Model,
): AuthorizationEngine {
  const config = security.authz.iam as IamConfig;
  const { endpoint, insecure, token = "", token_file: file } = config;
  const logger = createLogger({ service, environment, level: log.level });
  const secret =
    file === undefined ? undefined : orStartUpError(() => secretFile(file, { logger }));
  const open = (tls?: ClientTls) =>
    createGrpcClient(IAMPermissionService, {
      target: endpoint,
      internalToken: secret ?? token,
      internalTokenHeader: security.authn.internal_call.header,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      keepaliveMs: KEEPALIVE_MS,
      // Each call says whether IAM is there: it is asked as soon as it is back.
      circuitBreaker: false,
      ...(tls === undefined ? {} : { tls }),
    });
  const read = () => readClientTls(config);
  const client = insecure ? open() : orStartUpError(() => renewedCalls({ read, open, logger }));
  const close = async () => {
    secret?.close();
    await client.close();
  };
  return createIamEngine({ model, calls: { ...client, close }, server: serverOf(config) });
}

/** The IAM of a configuration, and the keys that say how it is reached. */
function serverOf({ endpoint: address, token_file: file }: IamConfig): AskedServer {
  const section = "security.authz.iam";
  const keys = {
    endpoint: `${section}.endpoint`,
    insecure: `${section}.insecure`,
    token: `${section}.${file === undefined ? "token" : "token_file"}`,
    ca: `${section}.ca_file`,
    certificate: `${section}.certificate_file`,
  };
  return { name: "IAM", address, keys };
}

/** What a person must fix, at the key that names it. */
function orStartUpError<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const { message } = error as Error;
    throw new StartUpError([`security.authz.iam: ${message}`], { cause: error });
  }
}
