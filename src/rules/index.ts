import { accessAnnotationGenuine } from "./access-annotation-genuine.ts";
import { accessAuditEventValid } from "./access-audit-event-valid.ts";
import { accessAuditPlaceholderField } from "./access-audit-placeholder-field.ts";
import { accessAuditRateLimit } from "./access-audit-rate-limit.ts";
import { accessAuditResourceValid } from "./access-audit-resource-valid.ts";
import { accessAuditRiskConflict } from "./access-audit-risk-conflict.ts";
import { accessAuditWrite } from "./access-audit-write.ts";
import { accessAuthzActionKnown } from "./access-authz-action-known.ts";
import { accessAuthzAudienceKnown } from "./access-authz-audience-known.ts";
import { accessAuthzNameSegment } from "./access-authz-name-segment.ts";
import { accessAuthzObjectUnused } from "./access-authz-object-unused.ts";
import { accessAuthzParentUnused } from "./access-authz-parent-unused.ts";
import { accessAuthzPlaceholderField } from "./access-authz-placeholder-field.ts";
import { accessAuthzPlaceholderStreaming } from "./access-authz-placeholder-streaming.ts";
import { accessAuthzPrincipalClaim } from "./access-authz-principal-claim.ts";
import { accessAuthzRequired } from "./access-authz-required.ts";
import { accessAuthzResourceValid } from "./access-authz-resource-valid.ts";
import { accessAuthzUnused } from "./access-authz-unused.ts";
import { accessAuthzWholeName } from "./access-authz-whole-name.ts";
import { accessAuthzWrite } from "./access-authz-write.ts";
import { accessExposureRequired } from "./access-exposure-required.ts";
import { accessGatewayExposure } from "./access-gateway-exposure.ts";
import { accessGatewayMethodsValid } from "./access-gateway-methods-valid.ts";
import { accessGatewayStreaming } from "./access-gateway-streaming.ts";
import { accessHttpRuleValid } from "./access-http-rule-valid.ts";
import { accessHttpStreaming } from "./access-http-streaming.ts";
import { accessPackageAssigned } from "./access-package-assigned.ts";
import { accessPathService } from "./access-path-service.ts";
import { accessPathUnpublished } from "./access-path-unpublished.ts";
import { accessPathVersioned } from "./access-path-versioned.ts";
import { accessPolicyRequired } from "./access-policy-required.ts";
import { accessRateLimitPublic } from "./access-rate-limit-public.ts";
import { accessRateLimitValid } from "./access-rate-limit-valid.ts";
import { accessRouteConflict } from "./access-route-conflict.ts";
import { accessRouteShadowed } from "./access-route-shadowed.ts";
import { accessRouteUnpublished } from "./access-route-unpublished.ts";
import { accessRpcNameUnique } from "./access-rpc-name-unique.ts";
import { accessWritePublic } from "./access-write-public.ts";
import type { Category, Rule } from "./rule.ts";

/** All rules, in the order of the reference. */
export const RULES: readonly Rule[] = [
  accessPackageAssigned,
  accessAnnotationGenuine,
  accessRpcNameUnique,
  accessPolicyRequired,
  accessExposureRequired,
  accessAuthzRequired,
  accessAuthzUnused,
  accessAuthzResourceValid,
  accessAuthzPlaceholderField,
  accessAuthzNameSegment,
  accessAuthzPrincipalClaim,
  accessAuthzPlaceholderStreaming,
  accessAuthzActionKnown,
  accessAuthzAudienceKnown,
  accessAuditEventValid,
  accessAuditRiskConflict,
  accessAuditResourceValid,
  accessAuditPlaceholderField,
  accessRateLimitValid,
  accessGatewayMethodsValid,
  accessGatewayExposure,
  accessGatewayStreaming,
  accessHttpRuleValid,
  accessRouteConflict,
  accessRouteShadowed,
  accessPathUnpublished,
  accessWritePublic,
  accessAuditWrite,
  accessAuditRateLimit,
  accessRateLimitPublic,
  accessHttpStreaming,
  accessPathVersioned,
  accessPathService,
  accessRouteUnpublished,
  accessAuthzWrite,
  accessAuthzWholeName,
  accessAuthzObjectUnused,
  accessAuthzParentUnused,
];

/** The categories and their purposes. */
export const CATEGORIES: readonly { readonly id: Category; readonly purpose: string }[] = [
  {
    id: "ACCESS",
    purpose: "Checks that every RPC has an access policy that can be enforced.",
  },
  {
    id: "ACCESS_RECOMMENDED",
    purpose: "Checks good practices beyond the policies that must be enforced.",
  },
];
