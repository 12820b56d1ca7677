export {
  differingMembers,
  findGaps,
  formatGaps,
  isSameCaveat,
  type ModelGap,
} from "./containment.ts";
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
export { type ModelReading, parseModel, readModel, readModelFile } from "./parse-model.ts";
export { formatExpression } from "./print-model.ts";
export type {
  Arrow,
  Exclusion,
  Expression,
  ExpressionLeaf,
  Intersection,
  Nil,
  Position,
  Reference,
  Self,
  Union,
} from "./schema/model.ts";
export {
  type AllowedSubject,
  type Caveat,
  type CaveatParameter,
  type Definition,
  formatSubject,
  type Model,
  type Permission,
  type Relation,
} from "./schema/model.ts";
export { subjectTypesOf } from "./subject-types.ts";
export type { ModelRule } from "./syntax/model-rules.ts";
