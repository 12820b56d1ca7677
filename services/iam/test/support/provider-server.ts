import { generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import * as client from "openid-client";
import { type AuditEvent, type RouteDocument, ServiceError } from "svc-access/runtime";
import { startTestServer, type TestServer } from "svc-access/testing";
import { freePort } from "../../../../test/support/free-port.ts";
import allRoutes from "../../gen/routes/iam.json" with { type: "json" };
import { IAMAuthService } from "../../gen/svc/iam/v1/auth_pb.ts";
import { bindIAMAuthService } from "../../gen/svc/iam/v1/auth_server.ts";
import { METADATA_PATH, PROVIDER_PATH } from "../../src/config/provider-paths.ts";
import { EncryptionKeys } from "../../src/ground/secrets/encryption-keys.ts";
import { MissingKeyLog } from "../../src/ground/secrets/missing-key-log.ts";
import { SecretBox } from "../../src/ground/secrets/secret-box.ts";
import { storedKeyIds } from "../../src/ground/secrets/stored-key-ids.ts";
import type { EncryptionKeyTables } from "../../src/ground/store/encryption-key-tables.ts";
import { providerHandlers } from "../../src/login/interaction/interactions.ts";
import type { ClientDeclaration } from "../../src/provider/embedded/client-declaration.ts";
import type { EmbeddedProviderOptions } from "../../src/provider/embedded/embedded-options.ts";
import { EmbeddedProvider } from "../../src/provider/embedded/embedded-provider.ts";
import type { Browser, Visit } from "./browser.ts";
import { stackDatabase, type TestDatabase } from "./databases.ts";
import { MemoryAccounts, PASSWORD } from "./memory-accounts.ts";
import { nextRsaKey } from "./rsa-keys.ts";

const routes = {
  $schema: "urn:svc-access:schema:routes:1",
  schemaVersion: 1,
  service: "iam",
  keyPrefix: "/svc/kernel/routes",
  routes: allRoutes.routes.filter(({ entry }) =>
    entry.rpc.startsWith(`${IAMAuthService.typeName}/`),
  ),
  paths: [
    METADATA_PATH,
    ...["", "/auth", "/device", "/session", "/interaction"].map(
      (path) => `${PROVIDER_PATH}${path}`,
    ),
  ].map((path) => ({
    path,
    match: path === METADATA_PATH || path.endsWith("/auth") ? "exact" : "prefix",
    methods: ["*"],
    exposure: "PUBLIC",
  })),
} as unknown as RouteDocument;

/** A server has at least one service; these tests need none. */
const binding = bindIAMAuthService(
  Object.fromEntries(
    IAMAuthService.methods.map(({ localName }) => [
      localName,
      () => {
        throw new ServiceError("UNIMPLEMENTED");
      },
    ]),
  ) as never,
);

export const CALLBACK = "https://app.example.com/callback";
export const CONSOLE: ClientDeclaration = {
  id: randomUUID(),
  name: "Console & <Co>",
  flows: ["code"],
  secret: randomBytes(32).toString("base64url"),
  redirectUris: [CALLBACK, "http://localhost:3001/callback"],
  postLogoutRedirectUris: ["https://app.example.com/bye"],
  asksConsent: false,
};

/** A device, which a person approves in a browser. */
export const TV: ClientDeclaration = {
  id: randomUUID(),
  name: "TV",
  flows: ["device"],
  redirectUris: [],
  postLogoutRedirectUris: [],
  asksConsent: false,
};

/** One whose person is asked for consent. */
export const ASKING_TV: ClientDeclaration = {
  ...TV,
  id: randomUUID(),
  name: "Asking",
  asksConsent: true,
};

/** A service account with a secret. */
export const ROBOT: ClientDeclaration = {
  ...TV,
  id: randomUUID(),
  name: "Robot",
  flows: ["service_account"],
  secret: randomBytes(32).toString("base64url"),
};
const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
/** What `KEYED` signs its assertions with. */
export const ROBOT_KEY = { privateKey: pair.privateKey, kid: "1", alg: "ES256" };
/** A service account with a key. */
export const KEYED: ClientDeclaration = {
  ...TV,
  id: randomUUID(),
  name: "Keyed robot",
  flows: ["service_account"],
  publicKeys: [{ ...pair.publicKey.export({ format: "jwk" }), kid: "1", alg: "ES256", use: "sig" }],
};

/** The value of `Authorization` by which a client authenticates with its secret. */
export function basicOf({ id, secret = "" }: Pick<ClientDeclaration, "id" | "secret">): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;
}

/** A provider that runs in a server of the runtime. */
export interface RunningProvider {
  readonly origin: string;
  readonly issuer: string;
  readonly provider: EmbeddedProvider;
  readonly server: TestServer;
  readonly accounts: MemoryAccounts;
  /** What has been written to the log of the provider. */
  readonly logged: string[];
  readonly database: TestDatabase;
  /** A client of another origin. */
  configure(
    declared: ClientDeclaration,
    authentication?: client.ClientAuth,
  ): Promise<client.Configuration>;
  events(type: string): Promise<readonly AuditEvent[]>;
  stop(): Promise<void>;
}

export interface ProviderParts extends Partial<EmbeddedProviderOptions> {
  readonly at?: TestDatabase;
  readonly port?: number;
  readonly accounts?: MemoryAccounts;
}

const running: RunningProvider[] = [];

/** Ends all that a test has started. */
export async function stopAll(): Promise<void> {
  for (const one of running.splice(0)) await one.stop();
}

export const KEYS = randomBytes(32).toString("base64");

export async function startProvider(parts: ProviderParts = {}): Promise<RunningProvider> {
  const { at = await stackDatabase(), port = await freePort(), ...options } = parts;
  const accounts = parts.accounts ?? new MemoryAccounts();
  const logged: string[] = [];
  const log = (fields: object, message: string) =>
    void logged.push(`${message} ${JSON.stringify(fields, errorText)}`);
  const origin = `http://localhost:${port}`;
  const database = at.open();
  const stored = storedKeyIds(database.as<EncryptionKeyTables>());
  const missingKeys = new MissingKeyLog({ error: log }, stored);
  const provider = new EmbeddedProvider({
    publicUrl: origin,
    organization: "acme",
    clients: [CONSOLE],
    accounts,
    database,
    missingKeys,
    box: new SecretBox(EncryptionKeys.parse(KEYS)),
    log: { warn: log, error: log },
    newKey: nextRsaKey,
    ...options,
  });
  await missingKeys.open();
  const server = await startTestServer(binding, {
    routes,
    rawHandlers: providerHandlers(provider),
    config: { server: { http: { address: `127.0.0.1:${port}` }, grpc: null, metrics: null } },
  });
  const one: RunningProvider = {
    origin,
    issuer: provider.issuer,
    provider,
    server,
    accounts,
    logged,
    database: at,
    configure: (declared, authentication) =>
      client.discovery(
        new URL(provider.issuer),
        declared.id,
        undefined,
        authentication ??
          (declared.secret === undefined
            ? client.None()
            : client.ClientSecretBasic(declared.secret)),
        { execute: [client.allowInsecureRequests] },
      ),
    async events(type) {
      return (await server.auditEvents()).filter((event) => event.type === type);
    },
    async stop() {
      running.splice(running.indexOf(one), 1);
      await server.close();
      await provider.notices.close();
    },
  };
  running.push(one);
  return one;
}

function errorText(_: string, value: unknown): unknown {
  return value instanceof Error ? `${value.stack}` : value;
}

/** What a client knows of a login that it has begun. */
export interface Begun {
  readonly url: URL;
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

export async function begin(
  configuration: client.Configuration,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Begun> {
  const verifier = client.randomPKCECodeVerifier();
  const [state, nonce] = [client.randomState(), client.randomNonce()];
  const redirectUri = parameters["redirect_uri"] ?? CALLBACK;
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: "openid profile email",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
    ...parameters,
  });
  return { url, verifier, state, nonce, redirectUri };
}

/** Enters the password on the login page. */
export async function enter(
  browser: Browser,
  page: Visit,
  fields: Readonly<Record<string, string>> = {},
): Promise<Visit> {
  return browser.submit(page, {
    action: "login",
    username: "alice",
    password: PASSWORD,
    ...fields,
  });
}

export function redeem(configuration: client.Configuration, at: string, begun: Begun) {
  return client.authorizationCodeGrant(configuration, new URL(at), {
    pkceCodeVerifier: begun.verifier,
    expectedState: begun.state,
    expectedNonce: begun.nonce,
    idTokenExpected: true,
  });
}

/** Logs Alice in. */
export async function logIn(
  configuration: client.Configuration,
  browser: Browser,
  parameters: Readonly<Record<string, string>> = {},
) {
  const begun = await begin(configuration, parameters);
  let visit = await browser.open(begun.url.href);
  if (visit.text.includes('name="password"')) visit = await enter(browser, visit);
  return redeem(configuration, visit.url, begun);
}

/** Uses the code of the device once. */
export async function pollDevice(
  { issuer }: { readonly issuer: string },
  deviceCode: string,
  { id }: Pick<ClientDeclaration, "id"> = TV,
) {
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const body = new URLSearchParams({ grant_type, client_id: id, device_code: deviceCode });
  const response = await fetch(`${issuer}/token`, { method: "POST", body });
  return { status: response.status, text: await response.text() };
}
