import type { DeployedService } from "../api/api.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { compareDiagnostics, formatDiagnostic } from "../diagnostics/diagnostic.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import type { LocatedDiagnostic } from "../rules/check-api.ts";
import type { Platform } from "./platform.ts";
import type { CheckedApi } from "./read-and-check.ts";
import type { Target } from "./targets.ts";

/**
 * Checks that the input has the packages that the targets need.
 *
 * The `gateway` target covers a whole platform: if an image is missing or a package is misspelt, the
 * edge would lack routes. The other targets also work for a part of it, so for these it is a note.
 */
export function checkTargets(
  checked: CheckedApi,
  { config }: Platform,
  targets: readonly Target[],
): CheckedApi {
  if (config === undefined) return checked;
  const isWhole = targets.includes("gateway") && config.config.edge !== undefined;
  const users = isWhole ? usersOf(config) : new Map<string, string>();
  const read = new Set(checked.files.flatMap((file) => (file.target ? [file.package] : [])));
  const { services, unassigned, clients } = checked.api;
  const others = [...unassigned, ...clients].map((service) => service.package);
  const found = services.flatMap((service) =>
    service.configured
      ? [...missingPackages(service, read)].map((missing) =>
          describe(missing, service.name, users.get(service.name), others, config),
        )
      : [],
  );
  found.push(...missingClients(checked, config));
  const [errors, warnings] = ["error", "warning"].map((severity) =>
    found.filter((each) => each.severity === severity),
  ) as [LocatedDiagnostic[], LocatedDiagnostic[]];
  return {
    ...checked,
    diagnostics: [...checked.diagnostics, ...errors].sort(compareDiagnostics),
    notes: [...checked.notes, ...warnings.map(formatDiagnostic)],
  };
}

/** Packages under `clients` that no file has, not even an imported one. */
function missingClients(
  { api, files }: CheckedApi,
  { config, file, locate }: LoadedConfig,
): LocatedDiagnostic[] {
  const known = new Set(files.map((each) => each.package));
  const unassigned = new Set(api.unassigned.map((service) => service.package));
  return [...(config.clients ?? []).entries()].flatMap(([index, name]): LocatedDiagnostic[] => {
    if (known.has(name)) return [];
    return [
      {
        rule: "CONFIG_PACKAGE",
        severity: "warning",
        message: `clients: no file of the package ${name} is in the input, so no client for it is generated; add the folder or the image that has it, or correct the name${didYouMean(name, unassigned)}`,
        file,
        ...locate(["clients", index]),
      },
    ];
  });
}

/** A frontend that calls each deployed service. */
function usersOf({ config }: LoadedConfig): Map<string, string> {
  return new Map(
    Object.entries(config.frontends).flatMap(([name, { services }]) =>
      services.map((service): [string, string] => [service, name]),
    ),
  );
}

/** Packages of a service without an RPC in the input. */
interface Missing {
  readonly packages: readonly string[];
  /** The index of the first one in the configuration. */
  readonly index: number;
}

function* missingPackages(
  { packages, services }: DeployedService,
  read: ReadonlySet<string>,
): Iterable<Missing> {
  if (services.every(({ rpcs }) => rpcs.length === 0)) {
    yield { packages, index: 0 };
    return;
  }
  for (const [index, name] of packages.entries()) {
    // A package that only has messages may be listed, too.
    if (!read.has(name)) yield { packages: [name], index };
  }
}

/** @param frontend - the frontend that would lack routes; absent if there is none */
function describe(
  { packages, index }: Missing,
  service: string,
  frontend: string | undefined,
  others: readonly string[],
  { file, locate }: LoadedConfig,
): LocatedDiagnostic {
  const what = `no RPC of ${packages.join(", ")} is in the input`;
  const effect =
    frontend === undefined
      ? `nothing is generated from it for the service ${service}`
      : `the edge would lack routes of the service ${service}, which the frontend ${frontend} calls`;
  const [first = ""] = packages;
  const hint = didYouMean(first, others);
  return {
    rule: "CONFIG_PACKAGE",
    severity: frontend === undefined ? "warning" : "error",
    message: `${what}, so ${effect}; add the folder or the image that has it, or correct the name${hint}`,
    file,
    ...locate(["services", service, "packages", index]),
  };
}
