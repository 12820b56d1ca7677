/** The outcome of a call in a page, as JSON. */
export interface Outcome {
  /** The responses, as ProtoJSON. */
  readonly messages: readonly unknown[];
  /** `x-request-id` of the response. */
  readonly requestId: string | null;
  /** The methods of its requests, if the client uses `fetch`. */
  readonly methods: readonly string[];
  readonly error?: {
    /** Such as `permission_denied`. */
    readonly code: string;
    readonly message: string;
    /** The type of each, and its bytes in base64. */
    readonly details: readonly { readonly type: string; readonly value: string }[];
  };
}

/** The task of a page. */
export interface Settings {
  /** The address of the hub. */
  readonly hub: string;
  /** Whether the hub does not allow the origin; the page then makes only one call. */
  readonly isStranger: boolean;
  /** A token for each client, in order. */
  readonly tokens: readonly string[];
  /** The token of a user without access. */
  readonly stranger: string;
  readonly projectId: string;
  /** A run that has ended, and one that has not. */
  readonly ended: string;
  readonly running: string;
  /** The number of concurrent streams. */
  readonly streams: number;
}

/** The outcomes of a page, by client and call. */
export type Outcomes = Readonly<Record<string, Readonly<Record<string, Outcome>>>>;

/** The clients in the order of their tokens. */
export const CLIENTS = [
  "Connect, binary",
  "Connect, JSON",
  "gRPC-Web, binary",
  "gRPC-Web, text",
] as const;
