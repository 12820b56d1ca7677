import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RouteDocument } from "../api/format.ts";
import type { AuthorizationEngine } from "../authz/engine/engine.ts";
import type { ServiceBinding } from "../runtime/binding/service-binding.ts";
import type { ServiceConfig } from "../runtime/configuration/service-config.ts";
import {
  createLogger,
  loggerOptionsOf,
  type ProcessLogger,
} from "../runtime/logging/create-logger.ts";
import { givenRouteDocument, readRouteDocument } from "../runtime/registry/route-entry.ts";
import { createServer } from "../runtime/server/create-server.ts";
import { loadModel } from "../runtime/server/open-engine.ts";
import type { Server } from "../runtime/server/running-server.ts";
import type { ServerOptions } from "../runtime/server/server-options.ts";
import { CallsOf } from "./test-calls.ts";
import { type TestConfig, testConfig } from "./test-config.ts";
import { engineWith, type TestRelationship, writeAll } from "./test-engine.ts";
import { readAll, type TestServer } from "./test-server.ts";

/**
 * The results of generated `bind…` functions, or a function that creates them with the server's
 * engine.
 */
export type TestBindings =
  | ServiceBinding
  | readonly ServiceBinding[]
  | ((engine: AuthorizationEngine) => ServiceBinding | readonly ServiceBinding[]);

/** The names of the options that a test server passes on. */
const PASSED_ON = [
  "rawHandlers",
  "authenticators",
  "revocations",
  "keySet",
  "before",
  "after",
  "admission",
  "readiness",
  "idempotentRpcs",
  "jobs",
  "metrics",
] as const satisfies readonly (keyof ServerOptions)[];

/** The options that a test server has in common with `runServer`. */
type PassedOn = Pick<ServerOptions, (typeof PASSED_ON)[number]>;

/** The options of a test server, besides its bindings. */
export interface TestServerOptions extends PassedOn {
  /** The file of the authorization model, which AUTHORIZED RPCs need. */
  readonly model?: string;
  /** The text of the model, in place of a file. */
  readonly modelText?: string;
  /** The relationships to begin with, such as `item:first#owner@user:alice`. */
  readonly relationships?: Iterable<TestRelationship>;
  /** The generated `routes/<service>.json`, or its file. */
  readonly routes?: RouteDocument | string;
  /** The name of the service; that of the routes, else `test`, if absent. */
  readonly service?: string;
  /** The services that may call with an internal token; `internal` if absent. */
  readonly services?: readonly string[];
  /**
   * Settings that replace the defaults, with the names of `service.yaml`. Maps are merged, `null`
   * removes a key.
   */
  readonly config?: TestConfig;
}

/**
 * Starts a server for a test: the whole chain of production, on free ports of this machine, with
 * relationships in memory and a database of its own that is removed with it.
 *
 * @throws StartUpError or ConfigurationError, as `runServer` would end with; TypeError for two models or a
 * text that is not a relationship; AuthzError for a relationship that does not fit the model
 *
 * @example
 * ```ts
 * await using server = await startTestServer((engine) => bindNotesService(handlers(engine)), {
 *   model: "model.zed",
 *   routes: "gen/routes/notes.json",
 *   relationships: ["item:first#owner@user:alice"],
 * });
 * const alice = server.as({ user: "alice" }).grpc(NotesService);
 * await alice.setItem({ itemId: "first", text: "hello" });
 * ```
 */
export async function startTestServer(
  bindings: TestBindings,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-testing-"));
  // A failing test may not close what it opened.
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    return await start(bindings, options, folder, () => {
      process.off("exit", remove);
      remove();
    });
  } catch (error) {
    process.off("exit", remove);
    remove();
    throw error;
  }
}

/** The oldest lines of a growing log are dropped. */
const MAX_LINES = 10_000;

function routesOf(routes: TestServerOptions["routes"]): RouteDocument | undefined {
  if (routes === undefined) return undefined;
  return typeof routes === "string" ? readRouteDocument(routes) : givenRouteDocument(routes);
}

async function start(
  bindings: TestBindings,
  options: TestServerOptions,
  folder: string,
  remove: () => void,
): Promise<TestServer> {
  const { model, modelText, relationships = [], config = {}, services = ["internal"] } = options;
  const routes = routesOf(options.routes);
  const service = options.service ?? routes?.service ?? "test";
  const parts = { folder, service, services, model, modelText, overrides: config };
  const { configuration, tokens } = testConfig(parts);
  const read = loadModel(configuration.config);
  const engine = read === undefined ? undefined : await engineWith(read, relationships);
  const lines: string[] = [];
  let server: Server;
  try {
    server = await createServer({
      ...passedOn(options),
      configuration,
      bindings: bindingsOf(bindings, engine),
      logger: loggerTo(lines, configuration.config),
      ...(routes === undefined ? {} : { routes }),
      ...(engine === undefined ? {} : { engine }),
    });
  } catch (error) {
    await engine?.close();
    throw error;
  }
  const addresses = await server.start();
  const at = (name: string): string => {
    const { host, port } = addresses[name] ?? { host: "", port: 0 };
    return port === 0 ? "" : `${host}:${port}`;
  };
  const urlOf = (name: string): string => (at(name) === "" ? "" : `http://${at(name)}`);
  const header = configuration.config.security.authn.internal_call.header;
  const calls = new CallsOf({ httpUrl: urlOf("http"), grpcTarget: at("grpc"), tokens, header });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closeAll(calls, server, remove));
  return {
    httpUrl: urlOf("http"),
    grpcTarget: at("grpc"),
    metricsUrl: urlOf("metrics"),
    engine,
    as: (caller) => calls.of(caller),
    relate: (...more) => writeAll(needed(engine), more),
    async auditEvents(filter = {}) {
      return server.audit === undefined ? [] : readAll(server.audit, filter);
    },
    logLines: () => lines.map((line) => JSON.parse(line)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function bindingsOf(
  bindings: TestBindings,
  engine: AuthorizationEngine | undefined,
): readonly ServiceBinding[] {
  const bound = typeof bindings === "function" ? bindings(needed(engine)) : bindings;
  return Array.isArray(bound) ? bound : [bound as ServiceBinding];
}

function needed(engine: AuthorizationEngine | undefined): AuthorizationEngine {
  if (engine !== undefined) return engine;
  throw new TypeError("startTestServer: the engine needs a model: set model or modelText");
}

function passedOn(options: TestServerOptions): PassedOn {
  const given = PASSED_ON.map((name) => [name, options[name]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function loggerTo(lines: string[], config: ServiceConfig): ProcessLogger {
  const write = (line: string): void => {
    if (lines.push(line) > 2 * MAX_LINES) lines.splice(0, MAX_LINES);
  };
  return createLogger({ ...loggerOptionsOf(config), destination: { write } });
}

async function closeAll(calls: CallsOf, server: Server, remove: () => void): Promise<void> {
  try {
    await calls.close();
  } finally {
    await server.stop().finally(remove);
  }
}
