import { eachField, WireType } from "../descriptors/wire.ts";
import {
  AUTHZ_MODES,
  type DeclaredAudit,
  type DeclaredAuthz,
  type DeclaredGateway,
  type DeclaredPolicy,
  type DeclaredRateLimit,
  EXPOSURES,
  RISK_LEVELS,
  type UnknownEnumValue,
} from "../policy.ts";

/**
 * Decodes `svc.access.v1.Policy`.
 *
 * An option that is written piece by piece may occur several times; as in
 * protobuf, later occurrences are merged into earlier ones.
 */
export function readPolicy(occurrences: readonly Uint8Array[]): DeclaredPolicy | undefined {
  if (occurrences.length === 0) return undefined;
  const policy: Mutable<DeclaredPolicy> = {};
  let gateway: GatewayBeingRead | undefined;
  for (const bytes of occurrences) {
    eachField(bytes, (field, wireType, reader) => {
      if (field === 1 && wireType === WireType.Varint) {
        policy.exposure = enumValue(EXPOSURES, reader.int32());
      } else if (wireType !== WireType.LengthDelimited) return false;
      else if (field === 2) policy.authz = readAuthz(reader.bytes(), policy.authz);
      else if (field === 3) policy.audit = readAudit(reader.bytes(), policy.audit);
      else if (field === 4) policy.rateLimit = readRateLimit(reader.bytes(), policy.rateLimit);
      else if (field === 5) {
        gateway ??= { methods: [] };
        mergeGateway(reader.bytes(), gateway);
      } else return false;
      return true;
    });
  }
  if (gateway !== undefined) policy.gateway = gateway;
  return policy;
}

/** One list for all occurrences: a copy for each would take time that grows with their square. */
type GatewayBeingRead = Mutable<DeclaredGateway> & { readonly methods: string[] };

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

function readAuthz(bytes: Uint8Array, before: DeclaredAuthz | undefined): DeclaredAuthz {
  const authz: Mutable<DeclaredAuthz> = { ...before };
  eachField(bytes, (field, wireType, reader) => {
    if (field === 4 && wireType === WireType.Varint) {
      authz.mode = enumValue(AUTHZ_MODES, reader.int32());
    } else if (wireType !== WireType.LengthDelimited) return false;
    else if (field === 1) authz.action = reader.string();
    else if (field === 2) authz.resource = reader.string();
    else if (field === 3) authz.audience = reader.string();
    else return false;
    return true;
  });
  return authz;
}

function readAudit(bytes: Uint8Array, before: DeclaredAudit | undefined): DeclaredAudit {
  const audit: Mutable<DeclaredAudit> = { ...before };
  eachField(bytes, (field, wireType, reader) => {
    if (field === 1 && wireType === WireType.LengthDelimited) audit.event = reader.string();
    else if (field === 4 && wireType === WireType.LengthDelimited) audit.resource = reader.string();
    else if (wireType !== WireType.Varint) return false;
    else if (field === 2) audit.riskLevel = enumValue(RISK_LEVELS, reader.int32());
    else if (field === 3) audit.risk = enumValue(RISK_LEVELS, reader.int32());
    else return false;
    return true;
  });
  return audit;
}

function readRateLimit(
  bytes: Uint8Array,
  before: DeclaredRateLimit | undefined,
): DeclaredRateLimit {
  const rateLimit: Mutable<DeclaredRateLimit> = { ...before };
  eachField(bytes, (field, wireType, reader) => {
    if (wireType !== WireType.Varint) return false;
    if (field === 1) rateLimit.qps = reader.int32();
    else if (field === 2) rateLimit.burst = reader.int32();
    else return false;
    return true;
  });
  return rateLimit;
}

function mergeGateway(bytes: Uint8Array, gateway: GatewayBeingRead): void {
  eachField(bytes, (field, wireType, reader) => {
    if (field === 1 && wireType === WireType.Varint) gateway.publish = reader.bool();
    else if (field === 2 && wireType === WireType.LengthDelimited) {
      gateway.methods.push(reader.string());
    } else return false;
    return true;
  });
}

function enumValue<T extends string>(names: readonly T[], number: number): T | UnknownEnumValue {
  return names[number] ?? { unknown: number };
}
