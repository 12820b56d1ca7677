import { setTimeout as sleep } from "node:timers/promises";
import {
  create,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { type ClientCallOptions, createGrpcClient, ServiceError } from "svc-access/runtime";
import type {
  ClientCompatRequest,
  ClientResponseResultSchema,
} from "../gen/connectrpc/conformance/v1/client_compat_pb.ts";
import { Code, StreamType } from "../gen/connectrpc/conformance/v1/config_pb.ts";
import {
  BidiStreamRequestSchema,
  ClientStreamRequestSchema,
  type ConformancePayload,
  ConformancePayloadSchema,
  ConformanceService,
  ServerStreamRequestSchema,
  UnaryRequestSchema,
  UnimplementedRequestSchema,
} from "../gen/connectrpc/conformance/v1/service_pb.ts";
import { toHeaderList } from "./request-info.ts";
import { RequestQueue } from "./request-queue.ts";

type Result = MessageInitShape<typeof ClientResponseResultSchema>;
type Client = ReturnType<typeof createClient>;

/** What stands for the payload of an empty response. */
const NO_PAYLOAD = create(ConformancePayloadSchema);

/** One call as the suite asks for it. */
interface CallUnderWay {
  readonly request: ClientCompatRequest;
  readonly client: Client;
  readonly options: ClientCallOptions;
  readonly payloads: ConformancePayload[];
  /** The caller gives up. */
  cancel(): void;
  /** How many requests were not sent. */
  unsent: number;
}

/** Makes a call of the suite; resolves to what came of it, also where that is an error. */
export async function makeCall(request: ClientCompatRequest): Promise<Result> {
  const client = clientOf(request);
  const giveUp = new AbortController();
  let headers: Result["responseHeaders"] = [];
  let trailers: Result["responseTrailers"] = [];
  const call: CallUnderWay = {
    request,
    client,
    payloads: [],
    unsent: 0,
    cancel: () => giveUp.abort(),
    options: {
      signal: giveUp.signal,
      timeoutMs: request.timeoutMs ?? Number.POSITIVE_INFINITY,
      metadata: Object.fromEntries(request.requestHeaders.map(({ name, value }) => [name, value])),
      onHeaders: (received) => void (headers = toHeaderList(received)),
      onTrailers: (received) => void (trailers = toHeaderList(received)),
    },
  };
  let error: Result["error"];
  try {
    await methodOf(request)(call);
  } catch (thrown) {
    error = errorOf(thrown, giveUp.signal);
  }
  return {
    responseHeaders: headers,
    responseTrailers: trailers,
    payloads: call.payloads,
    numUnsentRequests: call.unsent,
    ...(error === undefined ? {} : { error }),
  };
}

/** By what they were made of: the time of a call runs while its connection is made. */
const clients = new Map<string, Client>();

/** Ends the connections. */
export async function closeClients(): Promise<void> {
  await Promise.all([...clients.values()].map((client) => client.close()));
}

function clientOf(request: ClientCompatRequest): Client {
  const { host, port, serverTlsCert, clientTlsCreds, messageReceiveLimit } = request;
  const certificates = [serverTlsCert, clientTlsCreds?.cert ?? ""].map(String);
  const key = JSON.stringify([host, port, certificates, messageReceiveLimit]);
  const client = clients.get(key) ?? createClient(request);
  clients.set(key, client);
  return client;
}

function createClient(request: ClientCompatRequest) {
  const { host, port, serverTlsCert, clientTlsCreds, messageReceiveLimit } = request;
  const own =
    clientTlsCreds === undefined
      ? {}
      : { certificate: clientTlsCreds.cert, key: clientTlsCreds.key };
  return createGrpcClient(ConformanceService, {
    target: `${host}:${port}`,
    // Each call is one case.
    retry: false,
    circuitBreaker: false,
    ...(serverTlsCert.length === 0 ? {} : { tls: { ca: serverTlsCert, ...own } }),
    ...(messageReceiveLimit === 0 ? {} : { maxResponseBytes: messageReceiveLimit }),
  });
}

const METHODS: Readonly<Record<string, (call: CallUnderWay) => Promise<void>>> = {
  async Unary(call) {
    const { client, options, payloads } = call;
    cancelAfterSending(call);
    const { payload } = await client.unary(only(call, UnaryRequestSchema), options);
    payloads.push(payload ?? NO_PAYLOAD);
  },
  async Unimplemented(call) {
    cancelAfterSending(call);
    await call.client.unimplemented(only(call, UnimplementedRequestSchema), call.options);
  },
  async ServerStream(call) {
    cancelAfterSending(call);
    const request = only(call, ServerStreamRequestSchema);
    await readAll(call, call.client.serverStream(request, call.options));
  },
  async ClientStream(call) {
    const { client, options, payloads } = call;
    const queue = new RequestQueue<MessageShape<typeof ClientStreamRequestSchema>>();
    const answer = client.clientStream(queue, options);
    const ended = answer.then(
      () => true,
      () => true,
    );
    await giveAll(call, queue, all(call, ClientStreamRequestSchema), ended);
    const { payload } = await answer;
    payloads.push(payload ?? NO_PAYLOAD);
  },
  async BidiStream(call) {
    const { client, options, request } = call;
    const queue = new RequestQueue<MessageShape<typeof BidiStreamRequestSchema>>();
    const responses = client.bidiStream(queue, options)[Symbol.asyncIterator]();
    const requests = all(call, BidiStreamRequestSchema);
    // The call begins when it is first read.
    let next = responses.next();
    let ended = endOf(next);
    if (request.streamType === StreamType.FULL_DUPLEX_BIDI_STREAM) {
      for (const [index, each] of requests.entries()) {
        call.unsent = requests.length - index;
        await queue.give(each, request.requestDelayMs);
        const step = await next;
        call.unsent--;
        if (step.done === true) return;
        keep(call, step.value);
        next = responses.next();
        ended = endOf(next);
      }
      await giveAll(call, queue, [], ended);
    } else {
      await giveAll(call, queue, requests, ended);
    }
    for (let step = await next; step.done !== true; step = await responses.next()) {
      keep(call, step.value);
    }
  },
};

function methodOf({ method = "" }: ClientCompatRequest): (call: CallUnderWay) => Promise<void> {
  const known = METHODS[method];
  if (known === undefined) throw new Error(`the suite asks for ${method}, which is not known`);
  return known;
}

/** Sends the requests of a stream, until its call has ended, and cancels it where it is asked for. */
async function giveAll<Request>(
  call: CallUnderWay,
  queue: RequestQueue<Request>,
  requests: readonly Request[],
  ended: Promise<boolean>,
): Promise<void> {
  const { cancel, requestDelayMs } = call.request;
  for (const [index, each] of requests.entries()) {
    const isOver = await Promise.race([ended, sleep(requestDelayMs).then(() => false)]);
    if (isOver) {
      call.unsent = requests.length - index;
      return;
    }
    await queue.give(each, 0);
  }
  if (cancel?.cancelTiming.case === "beforeCloseSend") {
    // What was given has been sent.
    await sleep(0);
    call.cancel();
    return;
  }
  queue.close();
  cancelAfterSending(call);
}

async function endOf(next: Promise<IteratorResult<unknown>>): Promise<boolean> {
  try {
    if ((await next).done === true) return true;
  } catch {
    return true;
  }
  return new Promise(() => undefined);
}

function cancelAfterSending({ request: { cancel }, cancel: giveUp }: CallUnderWay): void {
  if (cancel === undefined) return;
  const { cancelTiming } = cancel;
  if (cancelTiming.case === "afterNumResponses" || cancelTiming.case === "beforeCloseSend") return;
  setTimeout(giveUp, cancelTiming.value ?? 0);
}

async function readAll(
  call: CallUnderWay,
  responses: AsyncIterable<{ payload?: ConformancePayload | undefined }>,
): Promise<void> {
  for await (const response of responses) keep(call, response);
}

/** Keeps a response of a stream, and cancels the call where it is asked for after it. */
function keep(call: CallUnderWay, { payload }: { payload?: ConformancePayload | undefined }): void {
  call.payloads.push(payload ?? NO_PAYLOAD);
  const timing = call.request.cancel?.cancelTiming;
  if (timing?.case === "afterNumResponses" && timing.value === call.payloads.length) call.cancel();
}

function all<Schema extends DescMessage>(
  { request }: CallUnderWay,
  schema: Schema,
): MessageShape<Schema>[] {
  return request.requestMessages.map((any) => {
    const message = anyUnpack(any, schema);
    if (message === undefined) throw new Error(`a request is not a valid ${schema.typeName}`);
    return message;
  });
}

function only<Schema extends DescMessage>(
  call: CallUnderWay,
  schema: Schema,
): MessageShape<Schema> {
  const [message, ...others] = all(call, schema);
  if (message === undefined || others.length > 0) throw new Error("there must be one request");
  return message;
}

function errorOf(thrown: unknown, signal: AbortSignal): Result["error"] {
  if (thrown instanceof ServiceError) {
    const { grpcStatus, message, statusDetails = [] } = thrown;
    return { code: grpcStatus as Code, message, details: [...statusDetails] };
  }
  if (signal.aborted) return { code: Code.CANCELED };
  throw thrown;
}
