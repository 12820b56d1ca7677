/** What a page saw of a call, as JSON. */
export interface Outcome {
  /** The responses, as ProtoJSON. */
  readonly messages: readonly unknown[];
  /** `x-request-id` of the response. */
  readonly requestId: string | null;
  /** The methods of its requests, where the client has them made by `fetch`. */
  readonly methods: readonly string[];
  readonly error?: {
    /** Such as `permission_denied`. */
    readonly code: string;
    readonly message: string;
    /** Each by its type, with its bytes in base64. */
    readonly details: readonly { readonly type: string; readonly value: string }[];
  };
}

/** What a page is to do. */
export interface Settings {
  /** Where the hub listens. */
  readonly hub: string;
  /** A page of an origin that the hub does not know tries one call only. */
  readonly isStranger: boolean;
  /** A token for each of the clients, in their order. */
  readonly tokens: readonly string[];
  /** Of one who may see nothing. */
  readonly stranger: string;
  readonly projectId: string;
  /** A run that has ended, and one that goes on. */
  readonly ended: string;
  readonly running: string;
  /** How many streams are opened at once. */
  readonly streams: number;
}

/** The outcomes of a page: by the client, by what was called. */
export type Outcomes = Readonly<Record<string, Readonly<Record<string, Outcome>>>>;

/** The clients, in the order of their tokens. */
export const CLIENTS = [
  "Connect, binary",
  "Connect, JSON",
  "gRPC-Web, binary",
  "gRPC-Web, text",
] as const;
