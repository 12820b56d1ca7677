import { readFileSync } from "node:fs";
import { type LoadedIamConfig, loadIamConfig } from "../../config/load-iam-config.ts";
import type { Connection } from "../connection/connection.ts";
import { connectionTo } from "../connection/logged-in.ts";
import { CommandError } from "../run/command-error.ts";

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
  const configuration = loadIamConfig(file);
  const { config, sections } = configuration;
  const { header } = config.security.authn.internal_call;
  const connection = connectionTo({
    server: server === undefined ? addressOf(configuration) : serverUrl(server),
    organizationId: sections.iam.organization,
    metadata: { [header.toLowerCase()]: systemToken(configuration, file) },
  });
  return { connection, configuration };
}

/** The first one: of several, all are accepted. */
function systemToken({ config }: LoadedIamConfig, file: string): string {
  const { enabled, system_token, system_token_file } = config.security.authn.internal_call;
  const [token] = [system_token ?? []].flat().filter((one) => one !== "");
  const [named] = [system_token_file ?? []].flat();
  if (enabled && token !== undefined) return token;
  if (enabled && named !== undefined) return readFileSync(named, "utf8").trim();
  throw new CommandError(
    `${file} has no security.authn.internal_call.system_token: add one, with enabled: true, and restart the service`,
  );
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
