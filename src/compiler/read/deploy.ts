import type {
  Api,
  DeclaredPath,
  DeployedService,
  Frontend,
  Host,
  ProtobufService,
} from "../../api/api.ts";
import { DEFAULT_AUTHN_MODE } from "../../api/authn-mode.ts";
import { CLAIM_MAPPINGS, principalFieldsOf } from "../../api/identity-headers.ts";
import {
  type PathTemplate,
  parsePathTemplate,
  plainPath,
  plainTemplate,
} from "../../api/path-template.ts";
import type { PlatformConfig } from "../../config/config.ts";
import { originsOf } from "../../config/frontend.ts";
import type { LoadedConfig } from "../../config/load-config.ts";
import { compareText } from "../../diagnostics/diagnostic.ts";
import { isShipped, PackageOwners } from "./package-owners.ts";
import { SharedBackends } from "./shared-backends.ts";

/** Assigns each protobuf service to the deployed service that serves it, and routes to hosts. */
export function deploy(
  services: readonly ProtobufService[],
  loaded: LoadedConfig | undefined,
): Api {
  const config = loaded?.config;
  const paths = loaded === undefined ? [] : declaredPaths(loaded);
  const configured = new Map(Object.entries(config?.services ?? {}));
  const owners = new PackageOwners(config);
  const backends = new SharedBackends(config);
  const byName = new Map<string, ProtobufService[]>();
  for (const name of configured.keys()) byName.set(name, []);
  const clients: ProtobufService[] = [];
  const unassigned: ProtobufService[] = [];
  for (const service of services) {
    const role = owners.roleOf(service.package);
    if (role.kind === "client") clients.push(service);
    else if (role.kind === "shipped") (isShipped(service) ? clients : unassigned).push(service);
    else if (role.kind === "unassigned") unassigned.push(service);
    else {
      const siblings = byName.get(role.service);
      if (siblings === undefined) byName.set(role.service, [service]);
      else siblings.push(service);
    }
  }
  const deployed = [...byName].map(([name, members]): DeployedService => {
    const declared = configured.get(name);
    return {
      name,
      configured: declared !== undefined,
      packages: declared?.packages ?? [name],
      publishedAs: declared?.published_as ?? "http",
      authnMode: declared?.authn_mode ?? DEFAULT_AUTHN_MODE,
      services: members,
      paths: paths.filter((path) => path.service === name),
      ...(backends.isShared(name) ? { process: backends.processOf(name) } : {}),
      ...allowedOrigins(name, config),
    };
  });
  deployed.sort((left, right) => compareText(left.name, right.name));
  const hosts = loaded === undefined ? [] : hostsOf(loaded, paths, backends);
  return { services: deployed, clients, unassigned, hosts };
}

/** The allowed origins of each frontend, for the services behind it (docs/requirements.md, EDGE-15). */
function allowedOrigins(
  service: string,
  config: PlatformConfig | undefined,
): Pick<DeployedService, "allowedOrigins"> {
  const origins = Object.values(config?.frontends ?? {})
    .filter(({ services }) => services.includes(service))
    .flatMap(originsOf);
  if (origins.length === 0) return {};
  return { allowedOrigins: [...new Set(origins)].sort(compareText) };
}

function hostsOf(
  { config, file, locate }: LoadedConfig,
  paths: readonly DeclaredPath[],
  backends: SharedBackends,
): Host[] {
  const hosts = new Map<string, Frontend[]>();
  for (const [name, declared] of Object.entries(config.frontends)) {
    const { host, services, claims, connect } = declared;
    const pagesOf = backends.servicesAt(declared.backend);
    const pages = {
      prefix: declared.prefix,
      template: plainTemplate(declared.prefix, true),
      position: { file, ...locate(["frontends", name, "backend"]) },
    };
    const frontend: Frontend = {
      name,
      services: [...services].sort(compareText),
      ...(connect ? { connect } : {}),
      principalFields: principalFieldsOf(CLAIM_MAPPINGS[claims]),
      ...(pagesOf.length === 0 ? {} : { pagesOf }),
      ...(declared.backend === undefined ? {} : { pages }),
      paths: paths.filter((path) => path.frontend === name),
    };
    const siblings = hosts.get(host);
    if (siblings === undefined) hosts.set(host, [frontend]);
    else siblings.push(frontend);
  }
  return [...hosts]
    .map(([name, frontends]): Host => {
      return {
        name,
        frontends: frontends.sort((left, right) => compareText(left.name, right.name)),
      };
    })
    .sort((left, right) => compareText(left.name, right.name));
}

function declaredPaths({ config, file, locate }: LoadedConfig): DeclaredPath[] {
  return config.paths.map((declared, index): DeclaredPath => {
    const { path, match, methods, exposure, audit, rate_limit: rate } = declared;
    return {
      ...(declared.service === undefined ? {} : { service: declared.service }),
      ...(declared.frontend === undefined ? {} : { frontend: declared.frontend }),
      path,
      match,
      template: templateOf(path, match),
      methods,
      exposure,
      ...(audit === undefined
        ? {}
        : { audit: { event: audit.event, riskLevel: audit.risk_level } }),
      ...(rate === undefined
        ? {}
        : { rateLimit: { qps: rate.qps, burst: rate.burst ?? rate.qps } }),
      position: { file, ...locate(["paths", index, "path"]) },
    };
  });
}

/** A prefix matches its path and all paths below it, like a Gateway API `PathPrefix`. */
function templateOf(path: string, match: "exact" | "prefix"): PathTemplate {
  const { template } = parsePathTemplate(plainPath(path, match));
  // The configuration check accepts only paths that parse.
  if (template === undefined) throw new Error(`${path} is not a path`);
  if (match === "exact") return template;
  return { segments: [...template.segments, { kind: "multi" }], variables: [] };
}
