export { createIamEngine, type IamEngineOptions } from "./iam-engine.ts";
export type { PermissionCalls } from "./permission-calls.ts";
