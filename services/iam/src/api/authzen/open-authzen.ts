import { ServiceRights } from "../permissions/service-rights.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { authzenHandlers } from "./authzen-handlers.ts";
import { Evaluator } from "./evaluator.ts";

/** Opens the AuthZEN API, which services ask with their internal tokens. */
export function openAuthzen({ configuration, engine, logger }: PartContext): ServicePart {
  const { public_url: origin, services } = configuration.sections.iam;
  const evaluator = new Evaluator(engine, new ServiceRights(services));
  return { rawHandlers: authzenHandlers({ origin, evaluator, logger }) };
}
