import type { HttpRule } from "../api.ts";
import type { MessageIndex } from "../descriptors/message-index.ts";
import { eachField, WireType } from "../descriptors/wire.ts";
import { type FieldLookup, type FieldReference, isInteger } from "../field.ts";
import { bareType, namePatternsOf, SEGMENT_NAME, segmentIndex } from "../name-pattern.ts";
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
import { type DeclaredResource, parseResource, type ResourcePart } from "../resource.ts";

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

/** Where the placeholders of a resource are looked up. */
interface Scope {
  /** The full name of the request message. */
  readonly request: string;
  readonly http: readonly HttpRule[];
  readonly messages: MessageIndex;
}

/**
 * Parses a resource and looks up what its placeholders name: a field of the
 * request, or one segment of a field that a path variable binds.
 */
export function readResource(text: string, scope: Scope): DeclaredResource {
  const parsed = parseResource(text);
  if (parsed.template === undefined) return parsed;
  const { type, id } = parsed.template;
  const field = objectField(type, scope);
  const named = field === undefined ? {} : { objectField: field };
  if (id === "*") return { template: parsed.template, fields: [], ...named };
  const fields: FieldReference[] = [];
  const parts = id.map((part): ResourcePart => {
    if (part.kind !== "field") return part;
    const { found, segment } = lookup(part.path, scope);
    fields.push({ path: part.path, found });
    return segment ?? part;
  });
  return { template: { type, id: parts }, fields, ...named };
}

function objectField(type: string, { request, messages }: Scope): string | undefined {
  const name = bareType(type);
  return [`${name}_id`, name].find((field) => {
    const found = messages.lookup(request, field);
    if (found.status !== "found" || found.repeated) return false;
    return found.kind === "string" || isInteger(found.kind);
  });
}

type SegmentPart = Extract<ResourcePart, { kind: "segment" }>;

function lookup(path: string, scope: Scope): { found: FieldLookup; segment?: SegmentPart } {
  const { request, http, messages } = scope;
  const found = messages.lookup(request, path);
  const dot = path.lastIndexOf(".");
  if (found.status !== "not_a_message" || found.kind !== "string" || found.repeated) {
    return { found };
  }
  const field = path.slice(0, dot);
  const segment = path.slice(dot + 1);
  const text = messages.lookup(request, field);
  // Text has segments, but neither the text nor its segments have fields.
  if (text.status !== "found" || !SEGMENT_NAME.test(segment)) return { found };
  const patterns = namePatternsOf(field, http);
  if (patterns.length === 0) {
    const reason = `"${field}" is text that no path variable binds, so it has no segments`;
    return { found: { status: "no_segment", reason } };
  }
  for (const pattern of patterns) {
    const place = segmentIndex(pattern, segment);
    if (place.index === undefined) {
      return { found: { status: "no_segment", reason: place.error } };
    }
  }
  return { found: text, segment: { kind: "segment", path: field, segment, patterns } };
}
