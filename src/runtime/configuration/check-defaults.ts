import type { ConfigDocument } from "../../config/config-document.ts";
import { formatPath } from "../../config/describe-issue.ts";
import type { ServiceConfigProblem } from "./configuration-error.ts";
import { isForDevelopment } from "./environment.ts";
import { secretsIn } from "./secret-values.ts";
import { type ServiceConfig, serviceConfigSchema } from "./service-config.ts";

/** Refuses secrets that anybody can read in the configuration: those of a default, in whole or in part. */
export function* checkDefaults(
  config: ServiceConfig,
  { defaulted }: ConfigDocument,
): Iterable<ServiceConfigProblem> {
  if (isForDevelopment(config)) return;
  for (const { path, ranges } of secretsIn(serviceConfigSchema, config)) {
    const part = defaulted(path).find(({ start, end }) =>
      ranges.some(([from, to]) => start < to && from < end),
    );
    if (part === undefined) continue;
    const { variable } = part;
    yield {
      path,
      message: `${formatPath(path)} has the default of ${variable}, which whoever reads the file knows; set ${variable}, and write \${${variable}} without a default (environment ${config.environment}; only development and test take one)`,
    };
  }
}
