export {
  differingMembers,
  findGaps,
  formatGaps,
  isSameCaveat,
  type ModelGap,
} from "./containment.ts";
export type {
  Arrow,
  Exclusion,
  Expression,
  ExpressionLeaf,
  Intersection,
  Nil,
  Reference,
  Self,
  Union,
} from "./expression.ts";
export { formatExpression } from "./format-expression.ts";
export { formatGrants } from "./format-grants.ts";
export {
  type ArrowGrant,
  type CombinedGrant,
  type ExceptGrant,
  type Grant,
  grantsOf,
  type PermissionGrants,
  type RelationGrant,
  type SelfGrant,
  type UnresolvedGrant,
} from "./grants.ts";
export {
  type AllowedSubject,
  type Caveat,
  type CaveatParameter,
  type Definition,
  formatSubject,
  type Model,
  type Permission,
  type Relation,
} from "./model.ts";
export type { ModelRule } from "./model-rules.ts";
export { parseModel } from "./parse-model.ts";
export type { Position } from "./position.ts";
export { type ModelReading, readModel, readModelFile } from "./read-model.ts";
export { subjectTypesOf } from "./subject-types.ts";
