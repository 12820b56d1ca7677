import { AuthzError } from "../../authz/engine/authz-error.ts";
import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import type { CheckResult } from "../../authz/engine/requests.ts";
import { OBJECT_IDS } from "../../model/object-id.ts";
import type { BoundMethod } from "../binding/bound-method.ts";
import type { Call } from "../call/call.ts";
import type { Principal } from "../call/call-context.ts";
import { credentialTraits } from "../call/credential-kinds.ts";
import type { Stage } from "../chain/call-stages.ts";
import { missingPrincipal, ServiceError } from "../error/service-error.ts";
import type { RuntimeEvents } from "../events/runtime-events.ts";
import {
  type AuthorizationPlan,
  type PlannedCheck,
  planAuthorization,
} from "./authorization-plan.ts";
import { countUndecided } from "./engine-failures.ts";

/** The options of authorization. */
export interface AuthorizationOptions {
  /** Absent if no method is AUTHORIZED; otherwise calls fail. */
  readonly engine: AuthorizationEngine | undefined;
  /** `security.authz.enabled`: if false, AUTHORIZED requires no more than AUTHENTICATED. */
  readonly enabled: boolean;
  /** `security.authz.dev_allow_all`: every check allows. */
  readonly devAllowAll: boolean;
  /** Whether authentication is off (`security.authn`): then no caller is required. */
  readonly authnDisabled: boolean;
  readonly events: RuntimeEvents;
}

/**
 * The stage that allows a call by the exposure of its method, and by a check if that is AUTHORIZED
 * (docs/requirements.md, Exposure). An engine that cannot answer is UNAVAILABLE or
 * DEADLINE_EXCEEDED, never a decision.
 */
export function createAuthorization(options: AuthorizationOptions): Stage {
  const { engine, enabled, devAllowAll, authnDisabled, events } = options;
  const plans = new Map<BoundMethod, AuthorizationPlan>();
  return (call) => {
    let plan = plans.get(call.method);
    if (plan === undefined) {
      plan = planAuthorization(call.method);
      plans.set(call.method, plan);
    }
    if (plan.exposure === "PUBLIC") return undefined;
    if (call.principal === undefined) {
      if (authnDisabled && mayBeNobody(plan, enabled && !devAllowAll)) return undefined;
      throw missingPrincipal();
    }
    switch (plan.exposure) {
      case "AUTHENTICATED":
        return undefined;
      case "INTERNAL":
      case "SYSTEM":
        return decide(
          call,
          credentialTraits(call.credential).opens?.exposure === plan.exposure,
          events,
        );
      case "AUTHORIZED":
        if (!enabled) return undefined;
        if (devAllowAll || plan.check === undefined) return decide(call, devAllowAll, events);
        if (engine === undefined)
          throw new Error(`${call.rpc} is AUTHORIZED, but there is no engine`);
        return checked(call, call.principal, plan.check, engine, events);
      default:
        throw new Error(`${call.rpc} has an unknown exposure`);
    }
  };
}

/**
 * If authentication is off, exposures that require a caller allow anybody; stricter ones do not.
 */
function mayBeNobody({ exposure }: AuthorizationPlan, checks: boolean): boolean {
  return exposure === "AUTHENTICATED" || (exposure === "AUTHORIZED" && !checks);
}

function checked(
  call: Call,
  principal: Principal,
  plan: PlannedCheck,
  engine: AuthorizationEngine,
  events: RuntimeEvents,
): void | Promise<void> {
  if (principal.subjectType !== plan.audience) {
    call.resource = meantBy(call, principal, plan);
    return decide(call, false, events);
  }
  const id = renderId(call, principal, plan, events);
  call.resource = resourceOf(plan, id);
  const subject = { type: plan.audience, id: principal.subjectId };
  if (id === undefined) {
    const { type: resourceType, action: permission } = plan;
    const request = { resourceType, permission, subject };
    return answered(call, principal, engine.checkAny(request, { signal: call.signal }), events);
  }
  const request = { resource: { type: plan.type, id }, permission: plan.action, subject };
  // A promise, and a signal to end it, would be created unnecessarily.
  if (engine.checkNow === undefined) {
    return answered(call, principal, engine.check(request, { signal: call.signal }), events);
  }
  let allowed: boolean;
  try {
    ({ allowed, revision: call.revision } = engine.checkNow(request));
  } catch (error) {
    return undecided(call, principal, error, events);
  }
  return decide(call, allowed === true, events);
}

async function answered(
  call: Call,
  principal: Principal,
  answer: Promise<CheckResult>,
  events: RuntimeEvents,
): Promise<void> {
  let allowed: boolean;
  try {
    ({ allowed, revision: call.revision } = await answer);
  } catch (error) {
    return undecided(call, principal, error, events);
  }
  return decide(call, allowed === true, events);
}

function undecided(
  call: Call,
  principal: Principal,
  error: unknown,
  events: RuntimeEvents,
): undefined {
  if (isUncheckable(error, principal)) return decide(call, false, events);
  countUndecided(call, events);
  throw call.abortReason ?? noDecision(error);
}

function resourceOf({ type }: PlannedCheck, id: string | undefined): string {
  return `${type}:${id ?? "*"}`;
}

/**
 * The object that a caller of the wrong type requested, for the audit; undefined if it is not
 * valid.
 */
function meantBy(call: Call, principal: Principal, plan: PlannedCheck): string | undefined {
  try {
    return resourceOf(plan, plan.id?.(call.request, principal));
  } catch {
    return undefined;
  }
}

function renderId(
  call: Call,
  principal: Principal,
  plan: PlannedCheck,
  events: RuntimeEvents,
): string | undefined {
  try {
    return plan.id?.(call.request, principal);
  } catch (error) {
    const isDenied = error instanceof ServiceError && error.code === "FORBIDDEN";
    if (isDenied) call.decision = "denied";
    events.authorization(isDenied ? "denied" : "invalid");
    throw error;
  }
}

function decide(call: Call, allowed: boolean, events: RuntimeEvents): undefined {
  call.decision = allowed ? "allowed" : "denied";
  events.authorization(call.decision);
  if (!allowed) throw new ServiceError("FORBIDDEN");
  return undefined;
}

/** Whether the caller's id cannot be the subject of any relationship, so that it holds nothing. */
function isUncheckable(error: unknown, { subjectId }: Principal): boolean {
  return (
    error instanceof AuthzError &&
    error.code === "INVALID_ARGUMENT" &&
    !OBJECT_IDS.allows(subjectId)
  );
}

function noDecision(error: unknown): ServiceError {
  const isLate = error instanceof AuthzError && error.code === "DEADLINE_EXCEEDED";
  return new ServiceError(isLate ? "DEADLINE_EXCEEDED" : "UNAVAILABLE", undefined, {
    cause: error,
  });
}
