/** Runs in the browser: calls the hub with each client, and posts the outcomes. */
import { type DescMessage, type Message, toJson } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import {
  type CallOptions,
  Code,
  ConnectError,
  createClient,
  type Transport,
} from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { AuthnService } from "../../../../examples/hub/gen/hub/authn/v1/authn_pb.ts";
import { ProjectService } from "../../../../examples/hub/gen/hub/projects/v1/project_service_pb.ts";
import { builtInServices } from "../../../../src/runtime/grpc/health-and-reflection/built-in-services.ts";
import { CLIENTS, type Outcome, type Settings } from "./outcome.ts";
import { createTextTransport } from "./text-transport.ts";

type ClientName = (typeof CLIENTS)[number];

/** The transport of a client, and the HTTP methods of its requests. */
function transportOf(name: ClientName, baseUrl: string, useHttpGet = false) {
  const methods: string[] = [];
  const options = {
    baseUrl,
    useHttpGet,
    fetch: (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
      methods.push(init?.method ?? "GET");
      return fetch(input, { ...init, credentials: "include" });
    },
  };
  const transports: Readonly<Record<ClientName, () => Transport>> = {
    "Connect, binary": () => createConnectTransport({ ...options, useBinaryFormat: true }),
    "Connect, JSON": () => createConnectTransport({ ...options, useBinaryFormat: false }),
    "gRPC-Web, binary": () => createGrpcWebTransport(options),
    "gRPC-Web, text": () => createTextTransport({ baseUrl }),
  };
  return { transport: transports[name](), methods };
}

type Take = (message: Message) => void;

async function outcomeOf(
  output: DescMessage,
  methods: string[],
  call: (options: CallOptions, take: Take) => Promise<void>,
): Promise<Outcome> {
  methods.splice(0);
  const messages: unknown[] = [];
  let requestId: string | null = null;
  const seen = () => ({ messages, requestId, methods: [...methods] });
  const onHeader = (headers: Headers) => {
    requestId = headers.get("x-request-id");
  };
  try {
    await call({ onHeader }, (message) => messages.push(toJson(output, message)));
  } catch (thrown) {
    return { ...seen(), error: errorOf(ConnectError.from(thrown)) };
  }
  return seen();
}

function errorOf({ code, rawMessage, details }: ConnectError): NonNullable<Outcome["error"]> {
  return {
    code: Code[code] as string,
    message: rawMessage,
    details: details.flatMap((detail) =>
      "type" in detail ? [{ type: detail.type, value: base64Encode(detail.value) }] : [],
    ),
  };
}

/** The call of a page whose origin the hub does not allow. */
async function tryAsStranger({ hub }: Settings, name: ClientName) {
  const { transport, methods } = transportOf(name, hub);
  const { listLoginProviders } = AuthnService.method;
  const authn = createClient(AuthnService, transport);
  return {
    stranger: await outcomeOf(listLoginProviders.output, methods, async (options, take) =>
      take(await authn.listLoginProviders({}, options)),
    ),
  };
}

async function tryAll(settings: Settings, name: ClientName) {
  const { hub, tokens, stranger, projectId, ended, running } = settings;
  const { transport, methods } = transportOf(name, hub);
  const authn = createClient(AuthnService, transport);
  const projects = createClient(ProjectService, transport);
  const bearer = (token = "") => ({ headers: { authorization: `Bearer ${token}` } });
  const own = bearer(tokens[CLIENTS.indexOf(name)]);

  const getMe = (more: CallOptions) =>
    outcomeOf(AuthnService.method.getMe.output, methods, async (options, take) =>
      take(await authn.getMe({}, { ...options, ...more })),
    );
  const watch = (runId: string, more: CallOptions = {}, onMessage: () => void = () => undefined) =>
    outcomeOf(ProjectService.method.watchRun.output, methods, async (options, take) => {
      const request = { projectId: BigInt(projectId), runId };
      for await (const message of projects.watchRun(request, { ...options, ...own, ...more })) {
        take(message);
        onMessage();
      }
    });
  const getProject = (more: CallOptions) =>
    outcomeOf(ProjectService.method.getProject.output, methods, async (options, take) =>
      take(await projects.getProject({ projectId: BigInt(projectId) }, { ...options, ...more })),
    );
  const gone = new AbortController();
  return {
    nobody: await getMe({}),
    forged: await getMe({ headers: { "x-svc-external-sub": "alice" } }),
    notAllowed: await getProject(bearer(stranger)),
    unknown: await watch("no-such-run"),
    unary: await getMe(own),
    stream: await watch(ended),
    cancelled: await watch(running, { signal: gone.signal }, () => gone.abort()),
    late: await watch(running, { timeoutMs: 500 }),
    ...(name.startsWith("Connect") ? { get: await listByGet(settings, name, own) } : {}),
  };
}

/** Connect with GET, for an RPC without side effects. */
async function listByGet({ hub }: Settings, name: ClientName, own: CallOptions): Promise<Outcome> {
  const { transport, methods } = transportOf(name, hub, true);
  const projects = createClient(ProjectService, transport);
  return outcomeOf(ProjectService.method.listProjects.output, methods, async (options, take) =>
    take(await projects.listProjects({ organizationId: "acme" }, { ...options, ...own })),
  );
}

/** Concurrent streams; over HTTP/1.1, a browser allows at most six. */
async function watchHealth({ hub, streams }: Settings): Promise<Outcome> {
  const { transport, methods } = transportOf("Connect, JSON", hub);
  const service = builtInServices().find(({ typeName }) => typeName === "grpc.health.v1.Health");
  const method = service?.methods.find((each) => each.name === "Watch");
  if (service === undefined || method === undefined) throw new Error("there is no health");
  const health = createClient(service, transport) as unknown as Record<
    "watch",
    (request: object, options: CallOptions) => AsyncIterable<Message>
  >;
  const all = new AbortController();
  return outcomeOf(method.output, methods, async (_options, take) => {
    const first = Array.from({ length: streams }, async () => {
      for await (const message of health.watch({}, { signal: all.signal })) return message;
      throw new Error("the stream has no message");
    });
    for (const message of await Promise.all(first)) take(message);
    all.abort();
  });
}

async function run(): Promise<object> {
  const settings = (await (await fetch("/settings")).json()) as Settings;
  const work = settings.isStranger ? tryAsStranger : tryAll;
  const outcomes = await Promise.all(
    CLIENTS.map(async (name) => [name, await work(settings, name)] as const),
  );
  if (settings.isStranger) return Object.fromEntries(outcomes);
  return { ...Object.fromEntries(outcomes), health: { watch: await watchHealth(settings) } };
}

const done = await run().catch((error: Error) => ({ failed: error.stack ?? error.message }));
await fetch("/outcomes", { method: "POST", body: JSON.stringify(done) });
