import { type ClientInterceptor, secretFile } from "svc-access/runtime";
import { type LoadedIamConfig, loadCommandConfig } from "../../config/load-iam-config.ts";
import type { Connection } from "../connection/connection.ts";
import { connectionTo } from "../connection/http-connection.ts";
import { CommandError } from "../run/command-error.ts";
import { namingTheServer } from "../run/naming-the-server.ts";

/** A connection with the system token, and the configuration that has it. */
export interface SystemConnection {
  readonly connection: Connection;
  readonly configuration: LoadedIamConfig;
}

/**
 * Opens a connection with the system token of a configuration.
 *
 * @param server where the service answers; if absent, the port of the configuration on this machine
 * @throws CommandError without a token or an address; ConfigurationError
 */
export function connectAsSystem(file: string, server: string | undefined): SystemConnection {
  const configuration = loadCommandConfig(file);
  const { config, sections } = configuration;
  const { header } = config.security.authn.internal_call;
  const place = server === undefined ? addressOf(configuration) : serverUrl(server);
  const connection = connectionTo({
    server: place,
    organizationId: sections.iam.organization,
    before: [namingTheServer(place), sayingWhichToken(file)],
    metadata: { [header.toLowerCase()]: systemToken(configuration, file) },
  });
  return { connection, configuration };
}

/** The person of the command line is not who calls. */
function sayingWhichToken(file: string): ClientInterceptor {
  return async (_, next) => {
    try {
      return await next();
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: string };
      if (code !== "UNAUTHORIZED" && code !== "FORBIDDEN") throw error;
      throw new CommandError(
        `the server does not accept the system token of ${file} (${message}): name the configuration that the server runs with, or restart the server with this one`,
        { cause: error },
      );
    }
  };
}

/** The first one: of several, all are accepted. */
function systemToken({ config }: LoadedIamConfig, file: string): string {
  const { enabled, system_token, system_token_file } = config.security.authn.internal_call;
  const [token] = [system_token ?? []].flat().filter((one) => one !== "");
  const [named] = [system_token_file ?? []].flat();
  if (enabled && token !== undefined) return token;
  if (enabled && named !== undefined) return tokenIn(named);
  throw new CommandError(
    `${file} has no security.authn.internal_call.system_token: add one, with enabled: true, and restart the service`,
  );
}

/** Of all files of tokens that the configuration names, this command reads one. */
function tokenIn(file: string): string {
  try {
    using secret = secretFile(file);
    return secret();
  } catch (error) {
    const { message } = error as Error;
    throw new CommandError(`security.authn.internal_call.system_token_file: ${message}`, {
      cause: error,
    });
  }
}

function addressOf({ config }: LoadedIamConfig): string {
  const { http } = config.server;
  const port = /:(\d+)$/.exec(http?.address ?? "")?.[1];
  if (port !== undefined && port !== "0" && http?.tls === undefined) {
    return `http://127.0.0.1:${port}`;
  }
  throw new CommandError("name the server: --server https://iam.example.com:18080");
}

function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) {
    return url.origin;
  }
  throw new CommandError(
    `--server ${JSON.stringify(text)} is not the address of a server: write http://iam:18080`,
  );
}
