import { relatedTypes } from "./schema/dependencies.ts";
import type { AllowedSubject, Arrow, Definition, Expression, Model } from "./schema/model.ts";

/** The ways to hold a permission. */
export interface PermissionGrants {
  readonly type: string;
  readonly permission: string;
  readonly grant: Grant;
}

/**
 * One way to hold a permission, with references to permissions of the same type resolved.
 *
 * `through` is the path of permissions to it from the requested permission.
 */
export type Grant =
  | RelationGrant
  | ArrowGrant
  | SelfGrant
  | UnresolvedGrant
  | CombinedGrant
  | ExceptGrant;

/** Held by the subjects of a relation of the object. */
export interface RelationGrant {
  readonly kind: "relation";
  readonly relation: string;
  /** The kinds of subject that the relation accepts. */
  readonly subjects: readonly AllowedSubject[];
  readonly through: readonly string[];
}

/** Held by those who hold a permission on a related object. */
export interface ArrowGrant {
  readonly kind: "arrow";
  readonly relation: string;
  readonly function: "any" | "all";
  readonly permission: string;
  /** The types of the related object that have this permission. */
  readonly types: readonly string[];
  readonly through: readonly string[];
}

/** Held by the object itself. */
export interface SelfGrant {
  readonly kind: "self";
  readonly type: string;
  readonly through: readonly string[];
}

/** Held by those who hold another permission of the type, whose grants are too large to resolve here. */
export interface UnresolvedGrant {
  readonly kind: "permission";
  readonly permission: string;
  readonly through: readonly string[];
}

/** `any`: held by those in at least one of the grants; `all`: held by those in all of them. */
export interface CombinedGrant {
  readonly kind: "any" | "all";
  readonly grants: readonly Grant[];
}

/** Held by those in `grant`, but not in `except`. */
export interface ExceptGrant {
  readonly kind: "except";
  readonly grant: Grant;
  readonly except: Grant;
}

/** Each resolved permission can double the result; beyond this limit, permissions stay names. */
const MAX_GRANTS = 1_000;

/**
 * Finds the grants of a permission (or relation) of a type.
 *
 * @returns undefined if the model has no such type or permission
 */
export function grantsOf(
  model: Model,
  type: string,
  permission: string,
): PermissionGrants | undefined {
  const definition = model.definitions.get(type);
  if (definition === undefined) return undefined;
  if (!definition.relations.has(permission) && !definition.permissions.has(permission)) {
    return undefined;
  }
  const resolver: Resolver = { model, definition, remaining: MAX_GRANTS };
  return { type, permission, grant: resolveName(resolver, permission, []) };
}

interface Resolver {
  readonly model: Model;
  readonly definition: Definition;
  remaining: number;
}

/** @param path - the permissions on the path to this one, starting with the requested one */
function resolveName(resolver: Resolver, name: string, path: readonly string[]): Grant {
  const { relations, permissions } = resolver.definition;
  const through = path.slice(1);
  const relation = relations.get(name);
  if (relation) return { kind: "relation", relation: name, subjects: relation.subjects, through };
  const permission = permissions.get(name);
  // A model with errors may have a cycle here, or a name that it does not define.
  if (permission === undefined || path.includes(name) || resolver.remaining <= 0) {
    return { kind: "permission", permission: name, through };
  }
  return resolve(resolver, permission.expression, [...path, name]);
}

function resolve(resolver: Resolver, expression: Expression, path: readonly string[]): Grant {
  resolver.remaining--;
  switch (expression.kind) {
    case "nil":
      return { kind: "any", grants: [] };
    case "self":
      return { kind: "self", type: resolver.definition.name, through: path.slice(1) };
    case "reference":
      return resolveName(resolver, expression.name, path);
    case "arrow":
      return resolveArrow(resolver, expression, path);
    case "union":
      return combine(
        "any",
        expression.operands.map((operand) => resolve(resolver, operand, path)),
      );
    case "intersection":
      return combine(
        "all",
        expression.operands.map((operand) => resolve(resolver, operand, path)),
      );
    case "exclusion":
      return {
        kind: "except",
        grant: resolve(resolver, expression.base, path),
        except: resolve(resolver, expression.subtracted, path),
      };
  }
}

function resolveArrow(resolver: Resolver, arrow: Arrow, path: readonly string[]): ArrowGrant {
  const { model, definition } = resolver;
  const { relation, function: called, permission } = arrow;
  const types = [...relatedTypes(definition.relations.get(relation))].filter((type) => {
    const related = model.definitions.get(type);
    return related?.permissions.has(permission) || related?.relations.has(permission);
  });
  return { kind: "arrow", relation, function: called, permission, types, through: path.slice(1) };
}

/** Flattens nested combinations of the same kind, and keeps the shortest of equal grants. */
function combine(kind: "any" | "all", operands: readonly Grant[]): Grant {
  const grants = new Map<string, Grant>();
  for (const operand of operands) {
    for (const grant of operand.kind === kind ? operand.grants : [operand]) {
      const key = sameness(grant);
      const other = grants.get(key);
      if (other === undefined || pathLength(grant) < pathLength(other)) grants.set(key, grant);
    }
  }
  const [only] = grants.values();
  return grants.size === 1 && only ? only : { kind, grants: [...grants.values()] };
}

function sameness(grant: Grant): string {
  return JSON.stringify(grant, (key, value) =>
    key === "through" || key === "subjects" ? undefined : value,
  );
}

function pathLength(grant: Grant): number {
  return "through" in grant ? grant.through.length : 0;
}
