import type {
  AuthorizationEngine,
  CallOptions,
  CheckRequest,
  SubjectReference,
} from "svc-access/authz";
import { OPERATOR } from "./operator.ts";

/** How many resources a page has. */
const PAGE = 1000;

/**
 * An engine by which the operator holds every permission, and everybody else what they hold: the handlers of the
 * service then decide for the operator as for a person who may do everything. Only a process without network
 * callers has it.
 */
export function operatorEngine(engine: AuthorizationEngine): AuthorizationEngine {
  const revisionOf = async (options?: CallOptions) => {
    const none = { resourceType: "zone", resourceId: "-" };
    return (await engine.readRelationships(none, { pageSize: 1 }, options)).revision;
  };
  const overrides: Partial<AuthorizationEngine> = {
    // The runtime would decide without waiting, and without these overrides.
    checkNow: undefined,

    async check(request, options) {
      if (!isOperators(request)) return engine.check(request, options);
      return { allowed: true, revision: await revisionOf(options) };
    },

    async explain(request, options) {
      if (!isOperators(request)) return engine.explain(request, options);
      const { resource, permission } = request;
      // By no relationship, so a write that relies on it has no precondition.
      const explanation = {
        resource,
        permission,
        allowed: true,
        kind: "self",
        children: [],
      } as const;
      return { allowed: true, explanation, revision: await revisionOf(options) };
    },

    async checkAny(request, options) {
      if (!isOperators(request)) return engine.checkAny(request, options);
      return { allowed: true, revision: await revisionOf(options) };
    },

    async checkBulk(requests, options) {
      const others = requests.filter((request) => !isOperators(request));
      const { items, revision } =
        others.length === 0
          ? { items: [], revision: await revisionOf(options) }
          : await engine.checkBulk(others, options);
      const left = items[Symbol.iterator]();
      const merged = requests.map((request) =>
        isOperators(request) ? ({ allowed: true } as const) : left.next().value,
      );
      return { items: merged as typeof items, revision };
    },

    async lookupResources(request, options) {
      if (!isOperators(request)) return engine.lookupResources(request, options);
      const { resourceType, cursor: after = "" } = request;
      const { ids, revision } = await resourcesOf(engine, resourceType, options);
      const left = ids.filter((id) => id > after);
      const items = left.slice(0, PAGE);
      const nextCursor = left.length > PAGE ? items.at(-1) : undefined;
      return { items, revision, ...(nextCursor === undefined ? {} : { nextCursor }) };
    },
  };
  return new Proxy(engine, {
    get(target, name) {
      if (name in overrides) return overrides[name as keyof typeof overrides];
      const value = Reflect.get(target, name) as unknown;
      // Methods of a class with private members need their own object.
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** All resources of a type that a relationship names, by id. */
async function resourcesOf(
  engine: AuthorizationEngine,
  resourceType: string,
  options: CallOptions | undefined,
): Promise<{ readonly ids: readonly string[]; readonly revision: string }> {
  const ids = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const page = { pageSize: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const read = await engine.readRelationships({ resourceType }, page, options);
    for (const { resource } of read.items) ids.add(resource.id);
    cursor = read.nextCursor;
    if (cursor === undefined) return { ids: [...ids].sort(), revision: read.revision };
  }
}

function isOperators({ subject }: { readonly subject: SubjectReference } | CheckRequest): boolean {
  return subject.type === OPERATOR;
}
