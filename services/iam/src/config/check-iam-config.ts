import { ENGINE_TRAITS } from "svc-access/authz";
import type { ServiceConfig } from "svc-access/runtime";
import { checkCasdoor } from "./check-casdoor.ts";
import { at, type ConfigProblem } from "./config-problem.ts";
import type { IamConfig } from "./iam-config.ts";
import { PROVIDER_PATH } from "./provider-paths.ts";

/** The engines that may keep its relationships. */
const ENGINES = Object.entries(ENGINE_TRAITS).flatMap(([kind, { servesIam }]) =>
  servesIam ? [kind] : [],
);

/** The name of this service. */
const SERVICE = "iam";

/** Yields where the section `iam` and the sections that are built in do not fit together. */
export function* checkIamConfig(
  config: ServiceConfig,
  { iam }: { readonly iam: IamConfig },
): Iterable<ConfigProblem> {
  const { authn, authz } = config.security;
  if (config.service !== SERVICE) {
    yield at(["service"], `must be ${SERVICE}: its routes, tokens and events have this name`);
  }
  if (config.database === undefined) {
    yield at(["database"], "is missing: accounts, sessions and keys are kept in it");
  }
  if (!authz.enabled && config.environment !== "development" && config.environment !== "test") {
    yield at(["security", "authz", "enabled"], "must be true: this service is what others ask");
  }
  if (!ENGINES.includes(authz.provider)) {
    yield at(
      ["security", "authz", "provider"],
      `must be ${ENGINES.join(" or ")}: this service is what others ask`,
    );
  }
  yield* checkServices(config, iam);
  if (authn.provider === undefined) {
    yield at(["security", "authn", "provider"], "is missing: write embedded, oidc or casdoor");
    return;
  }
  if (authn.oidc === undefined) {
    yield at(["security", "authn", "oidc"], "is missing: it says whose tokens are accepted");
    return;
  }
  if (!authn.oidc.audience.includes(iam.login.client_id)) {
    yield at(
      ["security", "authn", "oidc", "audience"],
      `does not have iam.login.client_id, ${iam.login.client_id}: the tokens of logins would be refused`,
    );
  }
  if (authn.provider !== "casdoor" && authn.casdoor !== undefined) {
    yield at(
      ["security", "authn", "casdoor"],
      `is given, but the provider is ${authn.provider}: write provider: casdoor, or remove it`,
    );
  }
  const needsKey = authn.provider === "embedded" || iam.browser_login === "self";
  if (needsKey && iam.encryption_key_file === undefined && config.environment !== "development") {
    yield at(
      ["iam", "encryption_key_file"],
      "is missing: write a key with `(umask 077 && openssl rand -base64 32 > iam-encryption-key)`, keep a copy of it outside the database's backups, and name the file",
    );
  }
  if (authn.provider === "embedded") yield* checkEmbedded(config, iam);
  else yield* checkOther(config, iam, authn.provider);
}

/** A name that no token has is probably misspelt; what it lists is then refused. */
function* checkServices(
  { security: { authn } }: ServiceConfig,
  { services }: IamConfig,
): Iterable<ConfigProblem> {
  const { token } = authn.internal_call;
  // A token without a name is that of the service `internal`.
  const known = new Set(Array.isArray(token) ? token.map(({ service }) => service) : ["internal"]);
  for (const name of Object.keys(services)) {
    if (known.has(name)) continue;
    const message = "is of a service that has no token in security.authn.internal_call.token";
    yield { ...at(["iam", "services", name], message), severity: "warning" };
  }
}

function* checkEmbedded(config: ServiceConfig, iam: IamConfig): Iterable<ConfigProblem> {
  const issuer = `${iam.public_url}${PROVIDER_PATH}`;
  const configured = config.security.authn.oidc?.issuer;
  if (configured !== issuer) {
    yield at(
      ["security", "authn", "oidc", "issuer"],
      `is ${configured}, but the embedded provider at iam.public_url is ${issuer}`,
    );
  }
  if (!UUID.test(iam.login.client_id)) {
    yield at(
      ["iam", "login", "client_id"],
      "must be a UUID, as that of every client of the provider",
    );
  }
  if (iam.login.client_secret !== undefined) {
    yield at(
      ["iam", "login", "client_secret"],
      "is for other providers: with the embedded one, remove it",
    );
  }
  const ids = new Set([iam.login.client_id.toLowerCase()]);
  for (const [index, { id }] of iam.clients.entries()) {
    if (ids.has(id)) yield at(["iam", "clients", index, "id"], `is that of another client: ${id}`);
    ids.add(id);
  }
  yield* checkDeviceClients(config, iam);
}

/**
 * The command line of this service logs in with a client of devices. Another service may have one of its own, whose
 * tokens this service rightly refuses.
 */
function* checkDeviceClients(
  { security }: ServiceConfig,
  { clients }: IamConfig,
): Iterable<ConfigProblem> {
  const devices = clients.filter(({ flows }) => flows.includes("device"));
  const [first] = devices;
  const audience = security.authn.oidc?.audience ?? [];
  if (first === undefined || devices.some(({ id }) => audience.includes(id))) return;
  const others = devices.length === 1 ? "" : ", nor is another client of devices";
  const message = `${first.id} is not in security.authn.oidc.audience${others}: this service refuses the logins of its command line`;
  yield { ...at(["iam", "clients", clients.indexOf(first), "id"], message), severity: "warning" };
}

function* checkOther(
  config: ServiceConfig,
  iam: IamConfig,
  kind: "oidc" | "casdoor",
): Iterable<ConfigProblem> {
  const { login, clients, browser_login } = iam;
  const { casdoor } = config.security.authn;
  // Casdoor's own secret counts, if the client is the same.
  const isSameClient = kind === "casdoor" && casdoor?.client_id === login.client_id;
  if (login.client_secret === undefined && !isSameClient) {
    yield at(
      ["iam", "login", "client_secret"],
      "is missing: write client_secret: ${IAM_CLIENT_SECRET}",
    );
  }
  if (clients.length > 0) {
    yield at(
      ["iam", "clients"],
      "is for the embedded provider: declare clients where people log in",
    );
  }
  if (iam.second_factor.required_for.length > 0) {
    yield at(
      ["iam", "second_factor", "required_for"],
      "is for the embedded provider: require second factors where people log in",
    );
  }
  if (browser_login === "self" && !login.scopes.includes("openid")) {
    yield at(["iam", "login", "scopes"], "must have openid: browsers log in with it");
  }
  if (kind === "casdoor") yield* checkCasdoor(config, iam);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
