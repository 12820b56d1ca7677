import type { CallHeaders } from "../call/call-headers.ts";
import type { MessageMemory } from "../wire/message-budget.ts";

/** What a request message is made of. */
export interface RequestParts {
  /** The segments of the path, as they were sent. */
  readonly segments: readonly string[];
  readonly query: string;
  readonly headers: CallHeaders;
  /** Whether the request has a body, or may have one. */
  readonly hasBody: boolean;
  /** Reads the body; empty where there is none. */
  readBody(): Promise<Buffer>;
  /** Gives what the message takes that is made of it. */
  readonly memory: MessageMemory;
}
