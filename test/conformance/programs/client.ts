/**
 * The client of the conformance suite: reads from standard input which calls to make, and says on
 * standard output what came of each.
 */
import {
  type ClientCompatRequest,
  ClientCompatRequestSchema,
  ClientCompatResponseSchema,
} from "../gen/connectrpc/conformance/v1/client_compat_pb.ts";
import { closeClients, makeCall } from "./client-call.ts";
import { readMessages, writeMessage } from "./compat-stream.ts";

/** Some wait a second for what must not come. */
const MAX_CALLS = 8;

const underWay = new Set<Promise<void>>();
for await (const request of readMessages(process.stdin, ClientCompatRequestSchema)) {
  const call = answer(request).finally(() => underWay.delete(call));
  underWay.add(call);
  if (underWay.size >= MAX_CALLS) await Promise.race(underWay);
}
await Promise.all(underWay);
await closeClients();

async function answer(request: ClientCompatRequest): Promise<void> {
  const { testName } = request;
  try {
    const value = await makeCall(request);
    const result = { case: "response", value } as const;
    writeMessage(process.stdout, ClientCompatResponseSchema, { testName, result });
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const result = { case: "error", value: { message } } as const;
    writeMessage(process.stdout, ClientCompatResponseSchema, { testName, result });
  }
}
