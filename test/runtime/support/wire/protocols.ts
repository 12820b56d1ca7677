/** A protocol variant of a call. */
export interface Wire {
  readonly port: "http" | "grpc";
  /** The form of messages in a request and its response. */
  readonly form: "route" | "grpc" | "connect" | "connect_get" | "grpc_web" | "grpc_web_text";
  readonly codec: "json" | "proto";
  /** The version of HTTP. */
  readonly version: "1.1" | "2";
}

/** The protocols of RPCs, with their names in the tables, each with its versions of HTTP. */
export const PROTOCOLS = {
  HTTP: both("route", "json"),
  gRPC: [{ port: "grpc", form: "grpc", codec: "proto", version: "2" }],
  "gRPC on the HTTP port": [{ port: "http", form: "grpc", codec: "proto", version: "2" }],
  "Connect JSON": both("connect", "json"),
  "Connect proto": both("connect", "proto"),
  "Connect GET": both("connect_get", "json"),
  "gRPC-Web": both("grpc_web", "proto"),
  "gRPC-Web text": both("grpc_web_text", "proto"),
} as const satisfies Record<string, readonly Wire[]>;

export type Protocol = keyof typeof PROTOCOLS;

export const PROTOCOL_NAMES = Object.keys(PROTOCOLS) as Protocol[];

/** All variants by name: `http` and `grpc`, and the others with their differences. */
export const WIRES = {
  http: PROTOCOLS.HTTP[0],
  "http over h2c": PROTOCOLS.HTTP[1],
  grpc: PROTOCOLS.gRPC[0],
  "grpc on the http port": PROTOCOLS["gRPC on the HTTP port"][0],
  "connect json": PROTOCOLS["Connect JSON"][0],
  "connect json over h2c": PROTOCOLS["Connect JSON"][1],
  "connect proto": PROTOCOLS["Connect proto"][0],
  "connect proto over h2c": PROTOCOLS["Connect proto"][1],
  "connect get": PROTOCOLS["Connect GET"][0],
  "connect get over h2c": PROTOCOLS["Connect GET"][1],
  "grpc-web": PROTOCOLS["gRPC-Web"][0],
  "grpc-web over h2c": PROTOCOLS["gRPC-Web"][1],
  "grpc-web-text": PROTOCOLS["gRPC-Web text"][0],
  "grpc-web-text over h2c": PROTOCOLS["gRPC-Web text"][1],
} as const satisfies Record<string, Wire>;

export type WireName = keyof typeof WIRES;

export const WIRE_NAMES = Object.keys(WIRES) as WireName[];

/** One variant of each protocol, for tests that do not depend on the version of HTTP. */
export const ONE_OF_EACH: readonly WireName[] = [
  "http",
  "grpc",
  "grpc on the http port",
  "connect json",
  "connect proto over h2c",
  "connect get",
  "grpc-web",
  "grpc-web-text over h2c",
];

const withForm = (...forms: Wire["form"][]) =>
  WIRE_NAMES.filter((name) => forms.includes(WIRES[name].form));

/** The variants by form; of Connect those with POST. */
export const BY_FORM = {
  CONNECT: withForm("connect"),
  CONNECT_PROTO: withForm("connect").filter((name) => WIRES[name].codec === "proto"),
  CONNECT_JSON: withForm("connect").filter((name) => WIRES[name].codec === "json"),
  GET: withForm("connect_get"),
  WEB: withForm("grpc_web", "grpc_web_text"),
  WEB_TEXT: withForm("grpc_web_text"),
  GRPC: withForm("grpc"),
} as const satisfies Record<string, readonly WireName[]>;

function both<Form extends Wire["form"], Codec extends Wire["codec"]>(form: Form, codec: Codec) {
  const wire = { port: "http", form, codec } as const;
  return [
    { ...wire, version: "1.1" },
    { ...wire, version: "2" },
  ] as const;
}
