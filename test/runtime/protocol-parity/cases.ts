import { create, type DescMessage, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { ERROR_CODES, type ErrorCode } from "../../../src/runtime/error/error-codes.ts";
import { ServiceError } from "../../../src/runtime/index.ts";
import { VaultService } from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import { MODES, type Mode } from "../hostile/support/world.ts";
import { WIRE_NAMES, WIRES, type WireName } from "../support/wire/protocols.ts";
import type { WireCall } from "../support/wire/wire-request.ts";
import { CREDENTIALS, type CredentialName } from "./credentials.ts";

/** The behaviour of a handler. */
export interface Behaviour {
  /** The error that it throws; undefined if it responds. */
  readonly error: Error | undefined;
  /** For a stream of responses: whether it throws after the last one, instead of before the first. */
  readonly isLate: boolean;
}

/** One call, over any protocol. */
export interface Case {
  readonly mode: Mode;
  readonly rpc: RpcName;
  readonly request: Message;
  /** The fields that it was made from. */
  readonly fields: Fields;
  readonly credential: CredentialName;
  /** Whether the caller may see and edit the document `open`. */
  readonly isAllowed: boolean;
  /** Whether it has an invalid deadline; routes have no deadlines. */
  readonly isGarbled: boolean;
  readonly behaviour: Behaviour;
}

/** The fields of requests, by name. */
interface Fields {
  readonly id: string;
  readonly text: string;
  readonly count: number;
}

interface Rpc {
  readonly make: (fields: Fields) => object;
  readonly route?: (fields: Fields) => readonly [method: string, path: string, body?: object];
  readonly isGetable?: true;
}

const of = (id: string) => `/v1/documents/${encodeURIComponent(id)}`;

const RPCS = {
  GetNotice: {
    make: ({ id }) => ({ noticeId: id }),
    route: ({ id }) => ["GET", `/v1/notices/${encodeURIComponent(id)}`],
    isGetable: true,
  },
  GetProfile: { make: () => ({}), route: () => ["GET", "/v1/profile"], isGetable: true },
  GetDocument: {
    make: ({ id }) => ({ documentId: id }),
    route: ({ id }) => ["GET", of(id)],
    isGetable: true,
  },
  ListDocuments: { make: () => ({}), route: () => ["GET", "/v1/documents"], isGetable: true },
  UpdateDocument: {
    make: ({ id, text }) => ({ documentId: id, text }),
    route: ({ id, text }) => ["PUT", of(id), { text }],
  },
  UnlockDocument: {
    make: ({ id, text }) => ({ documentId: id, passphrase: { text } }),
    route: ({ id, text }) => [
      "GET",
      `${of(id)}:unlock?passphrase.text=${encodeURIComponent(text)}`,
    ],
  },
  SearchDocuments: {
    make: ({ text }) => ({ text }),
    route: ({ text }) => ["POST", "/v1/documents:search", { text }],
  },
  Reconcile: {
    make: ({ text }) => ({ reason: text }),
    route: ({ text }) => ["POST", "/v1/documents:reconcile", { reason: text }],
  },
  Reset: {
    make: ({ text }) => ({ reason: text }),
    route: ({ text }) => ["POST", "/v1/documents:reset", { reason: text }],
  },
  WatchDocument: {
    make: ({ id, count }) => ({ documentId: id, count }),
    route: ({ id, count }) => ["GET", `${of(id)}:watch?count=${count}`],
  },
  UploadDocument: { make: ({ text }) => ({ chunk: Buffer.from(text) }) },
  Converse: { make: ({ text }) => ({ text }) },
} as const satisfies Record<string, Rpc>;

export type RpcName = keyof typeof RPCS;

/** The description of an RPC. */
export function methodOf(name: RpcName): (typeof VaultService.methods)[number] {
  return VaultService.methods.find((method) => method.name === name) as never;
}

/** Valid ids, invalid ids, and ids that a path or a query must escape. */
const ID = fc.constantFrom(
  "open",
  "open",
  "open",
  "closed",
  "Open",
  "*",
  "open#viewer",
  "x y",
  "\u00e9",
  "a:b",
  "%2e",
  "a+b&c=d",
);
const FIELDS: fc.Arbitrary<Fields> = fc.record({
  id: ID,
  text: fc.string({ unit: "grapheme", maxLength: 20 }),
  count: fc.nat(3),
});

const THROWN: fc.Arbitrary<Error> = fc.oneof(
  fc
    .tuple(
      // A caller that has cancelled gets no response.
      fc.constantFrom(
        ...(Object.keys(ERROR_CODES) as ErrorCode[]).filter((one) => one !== "CANCELLED"),
      ),
      fc.option(fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }), { nil: undefined }),
    )
    .map(([code, message]) => new ServiceError(code, message)),
  fc.constant(
    ServiceError.of(409, "VERSION_CONFLICT", "the version is 5\r\nnot 4", {
      details: { version: 5 },
      retryAfterSeconds: 2,
    }),
  ),
  fc.constantFrom(
    new Error("secret"),
    new ServiceError("INTERNAL", "secret"),
    new ServiceError("UNAUTHORIZED", "not you", { details: { why: "\u00e9" } }),
  ),
);

export const CASES: fc.Arbitrary<Case> = fc
  .tuple(fc.constantFrom(...(Object.keys(RPCS) as RpcName[])), FIELDS)
  .chain(([rpc, fields]) =>
    fc.record({
      mode: fc.constantFrom(...MODES),
      rpc: fc.constant(rpc),
      request: fc.constant(create(methodOf(rpc).input as DescMessage, RPCS[rpc].make(fields))),
      fields: fc.constant(fields),
      credential: fc.constantFrom(...(Object.keys(CREDENTIALS) as CredentialName[])),
      isAllowed: fc.boolean(),
      isGarbled: fc.nat(9).map((number) => number === 0),
      behaviour: fc.record({
        error: fc.option(THROWN, { nil: undefined, freq: 2 }),
        isLate: fc.boolean(),
      }),
    }),
  );

/** A case of a trusted gateway, whose caller may edit the document; the rest by `changes`. */
function caseOf(rpc: RpcName, changes: Partial<Case>): Case {
  const fields: Fields = { id: "open", text: "text", count: 2 };
  return {
    mode: "gateway_trusted",
    rpc,
    request: create(methodOf(rpc).input as DescMessage, RPCS[rpc].make(fields)),
    fields,
    credential: "headers",
    isAllowed: true,
    isGarbled: false,
    behaviour: { error: undefined, isLate: false },
    ...changes,
  };
}

/** One case of each kind of outcome: few random ones may lack a kind. */
export const EXAMPLES: readonly Case[] = [
  caseOf("UpdateDocument", {}),
  caseOf("UpdateDocument", { credential: "nothing" }),
  caseOf("UpdateDocument", { isAllowed: false }),
  caseOf("UpdateDocument", { isGarbled: true }),
  caseOf("UpdateDocument", { behaviour: { error: new Error("secret"), isLate: false } }),
];

/** The call in its wire form. */
export function wireCallOf({ rpc, request, fields }: Case): WireCall {
  const { input, methodKind } = methodOf(rpc);
  const { route }: Rpc = RPCS[rpc];
  const [method = "", path = "", body] = route?.(fields) ?? [];
  return {
    rpc: `/${VaultService.typeName}/${rpc}`,
    route:
      method === ""
        ? undefined
        : { method, path, body: body === undefined ? "" : JSON.stringify(body) },
    isStreaming: methodKind !== "unary",
    message: toBinary(input as DescMessage, request),
    json: toJsonString(input as DescMessage, request),
  };
}

/** The protocols that can carry a call. */
export function wiresOf({ rpc, isGarbled }: Case): WireName[] {
  const { route, isGetable }: Rpc = RPCS[rpc];
  return WIRE_NAMES.filter((name) => {
    const { form } = WIRES[name];
    if (form === "route") return route !== undefined && !isGarbled;
    return form !== "connect_get" || isGetable === true;
  });
}
