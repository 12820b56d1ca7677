import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkAuthnConfig } from "../runtime/authn/check-authn-config.ts";
import { ConfigurationError } from "../runtime/configuration/configuration-error.ts";
import {
  type LoadedServiceConfig,
  parseServiceConfig,
} from "../runtime/configuration/load-service-config.ts";

/**
 * Parts of a service's configuration, with the names of `service.yaml`.
 *
 * @example
 * ```ts
 * // Without gRPC, and with calls over HTTP that end after 200 ms.
 * const config: TestConfig = { server: { grpc: null, http: { timeout_ns: 200_000_000 } } };
 * ```
 */
export type TestConfig = Readonly<Record<string, unknown>>;

/** The inputs for the configuration of a test server. */
export interface TestConfigParts {
  /** The folder of its files. */
  readonly folder: string;
  readonly service: string;
  /** The services that have an internal token. */
  readonly services: readonly string[];
  /** The file of the model. */
  readonly model: string | undefined;
  /** The text of the model, in place of a file. */
  readonly modelText: string | undefined;
  /** Settings that replace the defaults. */
  readonly overrides: TestConfig;
}

/** The secrets of one test server. */
export interface TestTokens {
  readonly services: ReadonlyMap<string, string>;
  readonly system: string;
}

/**
 * The configuration of a test server: free ports of this machine, whose identity headers count;
 * internal tokens that nobody else has; files in a folder of its own.
 *
 * @throws ConfigurationError if the overrides are wrong
 */
export function testConfig(parts: TestConfigParts): {
  readonly configuration: LoadedServiceConfig;
  readonly tokens: TestTokens;
} {
  const tokens = {
    services: new Map(parts.services.map((service) => [service, newToken()])),
    system: newToken(),
  };
  const model = modelFile(parts);
  const usual = {
    environment: "test",
    service: parts.service,
    server: { http: FREE, grpc: FREE, metrics: FREE },
    security: {
      authn: {
        mode: "gateway_trusted",
        gateway: { trusted_peers: ["127.0.0.1", "::1"] },
        internal_call: {
          enabled: true,
          token: [...tokens.services].map(([service, token]) => ({ service, token })),
          system_token: tokens.system,
        },
      },
      authz: { provider: "embedded", ...(model === undefined ? {} : { model }) },
    },
    database: { driver: "sqlite", file: join(parts.folder, "test.db") },
  };
  const document = JSON.stringify(merged(usual, parts.overrides));
  // Its paths are relative to the working folder, as those of the options are.
  const file = join(process.cwd(), "the configuration of the test");
  try {
    const configuration = parseServiceConfig(document, file, { checks: [checkAuthnConfig] });
    return { configuration, tokens };
  } catch (error) {
    if (error instanceof ConfigurationError) throw withoutPositions(error);
    throw error;
  }
}

/** The positions refer to text that was generated from an object, so users do not have it. */
function withoutPositions({ file, problems }: ConfigurationError): TypeError {
  const found = problems.map((problem) =>
    problem.startsWith(`${file}:`)
      ? problem.slice(file.length).replace(/^:\d+:\d+:? /, "")
      : problem,
  );
  return new TypeError(`startTestServer: config: ${found.join("; ")}`);
}

const FREE = { address: "127.0.0.1:0" };

function newToken(): string {
  return randomBytes(24).toString("base64url");
}

function modelFile({ folder, model, modelText }: TestConfigParts): string | undefined {
  if (modelText === undefined) return model;
  if (model !== undefined) {
    throw new TypeError("startTestServer: set model or modelText, not both");
  }
  const file = join(folder, "model.zed");
  writeFileSync(file, modelText);
  return file;
}

/** Maps are merged, other values are replaced; null and undefined remove a key. */
function merged(usual: TestConfig, overrides: TestConfig): TestConfig {
  const result: Record<string, unknown> = { ...usual };
  for (const [key, value] of Object.entries(overrides)) {
    const before = usual[key];
    if (value === undefined || value === null) delete result[key];
    else result[key] = isMap(value) && isMap(before) ? merged(before, value) : value;
  }
  return result;
}

function isMap(value: unknown): value is TestConfig {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
