import type { IdempotencyLevel, StreamKind } from "../api.ts";
import { HTTP_EXTENSION, POLICY_EXTENSION } from "../policy.ts";
import { type FieldReader, WireType } from "./wire.ts";

/** A service of a file. */
export interface ServiceOutline {
  readonly name: string;
  readonly methods: readonly MethodOutline[];
}

/** An RPC with the options that matter here, still encoded. */
export interface MethodOutline {
  readonly name: string;
  /** The full name of the request message. */
  readonly request: string;
  /** The full name of the response message. */
  readonly response: string;
  readonly stream: StreamKind;
  readonly idempotency: IdempotencyLevel;
  readonly deprecated: boolean;
  /** Each occurrence of `svc.access.v1.policy`: an option that is written piece by piece may have several. */
  readonly policy: readonly Uint8Array[];
  /** Whether the option with the number of `svc.access.v1.policy` is not encoded as a message. */
  readonly isPolicyForeign: boolean;
  /** Each occurrence of `google.api.http`. */
  readonly http: readonly Uint8Array[];
}

export function readService(service: FieldReader): ServiceOutline {
  let name = "";
  const methods: MethodOutline[] = [];
  service.message((field, wireType, reader) => {
    if (wireType !== WireType.LengthDelimited) return false;
    if (field === 1) name = reader.string();
    else if (field === 2) methods.push(readMethod(reader));
    else return false;
    return true;
  });
  return { name, methods };
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

interface MutableMethod extends Mutable<MethodOutline> {
  readonly policy: Uint8Array[];
  readonly http: Uint8Array[];
}

function readMethod(encoded: FieldReader): MethodOutline {
  const method: MutableMethod = {
    name: "",
    request: "",
    response: "",
    stream: "unary",
    idempotency: "IDEMPOTENCY_UNKNOWN",
    deprecated: false,
    policy: [],
    isPolicyForeign: false,
    http: [],
  };
  let client = false;
  let server = false;
  encoded.message((field, wireType, reader) => {
    if (wireType === WireType.LengthDelimited) {
      if (field === 1) method.name = reader.string();
      else if (field === 2) method.request = withoutDot(reader.string());
      else if (field === 3) method.response = withoutDot(reader.string());
      else if (field === 4) readOptions(reader, method);
      else return false;
      return true;
    }
    if (wireType === WireType.Varint) {
      if (field === 5) client = reader.bool();
      else if (field === 6) server = reader.bool();
      else return false;
      return true;
    }
    return false;
  });
  method.stream = streamKind(client, server);
  return method;
}

/** Reads one occurrence of the options of a method; protobuf merges several. */
function readOptions(encoded: FieldReader, method: MutableMethod): void {
  encoded.message((field, wireType, reader) => {
    if (field === POLICY_EXTENSION) {
      // Another extension with our number is reported at the RPC.
      if (wireType !== WireType.LengthDelimited) {
        method.isPolicyForeign = true;
        return false;
      }
      method.policy.push(reader.bytes());
    } else if (field === HTTP_EXTENSION) {
      requireMessage(wireType, "google.api.http");
      method.http.push(reader.bytes());
    } else if (field === 33 && wireType === WireType.Varint) {
      method.deprecated = reader.bool();
    } else if (field === 34 && wireType === WireType.Varint) {
      const level = reader.int32();
      method.idempotency =
        level === 1 ? "NO_SIDE_EFFECTS" : level === 2 ? "IDEMPOTENT" : "IDEMPOTENCY_UNKNOWN";
    } else {
      return false;
    }
    return true;
  });
}

/** Another extension with the same number must not be read as a rule. */
function requireMessage(wireType: WireType, name: string): void {
  if (wireType !== WireType.LengthDelimited) {
    throw new Error(`the option with the number of ${name} is not a message`);
  }
}

function streamKind(client: boolean, server: boolean): StreamKind {
  if (client) return server ? "bidi_streaming" : "client_streaming";
  return server ? "server_streaming" : "unary";
}

function withoutDot(name: string): string {
  return name.startsWith(".") ? name.slice(1) : name;
}
