import type { DeployedService } from "../api/api.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { compareDiagnostics, formatDiagnostic } from "../diagnostics/diagnostic.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import type { LocatedDiagnostic } from "../rules/check-api.ts";
import type { Judgement } from "./judge.ts";
import type { Platform } from "./platform.ts";
import type { Target } from "./targets.ts";

/**
 * Judges whether the input holds what the targets are made of.
 *
 * The `gateway` target is of a whole platform: where an image is forgotten, or a package misspelt, the
 * edge would lack routes. The other targets are as good for a part of it, so for these it is a note.
 */
export function judgeTargets(
  judgement: Judgement,
  { config }: Platform,
  targets: readonly Target[],
): Judgement {
  if (config === undefined) return judgement;
  const isWhole = targets.includes("gateway") && config.config.edge !== undefined;
  const users = isWhole ? usersOf(config) : new Map<string, string>();
  const read = new Set(judgement.files.flatMap((file) => (file.target ? [file.package] : [])));
  const { services, unassigned, clients } = judgement.api;
  const others = [...unassigned, ...clients].map((service) => service.package);
  const found = services.flatMap((service) =>
    service.configured
      ? [...missingPackages(service, read)].map((missing) =>
          describe(missing, service.name, users.get(service.name), others, config),
        )
      : [],
  );
  found.push(...missingClients(judgement, config));
  const [errors, warnings] = ["error", "warning"].map((severity) =>
    found.filter((each) => each.severity === severity),
  ) as [LocatedDiagnostic[], LocatedDiagnostic[]];
  return {
    ...judgement,
    diagnostics: [...judgement.diagnostics, ...errors].sort(compareDiagnostics),
    notes: [...judgement.notes, ...warnings.map(formatDiagnostic)],
  };
}

/** Packages under `clients` that no file has, not even one that is only imported. */
function missingClients(
  { api, files }: Judgement,
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
        message: `clients: no file of the package ${name} is in the input, so no client of it is made; add the folder or the image that has it, or correct the name${didYouMean(name, unassigned)}`,
        file,
        ...locate(["clients", index]),
      },
    ];
  });
}

/** For each deployed service a frontend that calls it. */
function usersOf({ config }: LoadedConfig): Map<string, string> {
  return new Map(
    Object.entries(config.frontends).flatMap(([name, { services }]) =>
      services.map((service): [string, string] => [service, name]),
    ),
  );
}

/** Packages of a service that the input has no RPC of. */
interface Missing {
  readonly packages: readonly string[];
  /** The first of them in the configuration. */
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

/** @param frontend the one whose routes would be missing; absent where none would */
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
      ? `nothing is made of it for the service ${service}`
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
