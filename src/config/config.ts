import * as z from "zod/mini";
import { AUTHN_MODES, DEFAULT_AUTHN_MODE } from "../api/authn-mode.ts";
import { backend, documented, duration, name, port } from "./config-values.ts";
import { edge, identity } from "./edge-config.ts";
import { frontend } from "./frontend-config.ts";
import { declaredPath } from "./path-config.ts";

const PACKAGE = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;

const packageName = () =>
  z.string().check(z.regex(PACKAGE, "must be a protobuf package, such as hub.skills.v1"));

const modelPath = () => z.string().check(z.minLength(1));

const service = z.strictObject({
  packages: documented(
    "The protobuf packages that it serves.",
    z.array(packageName()).check(z.minLength(1)),
  ),
  model: documented(
    "Its own authorization model; relative to this file. The default is `model` at the top.",
    z.optional(modelPath()),
  ),
  ports: documented(
    "The ports that it listens on.",
    z._default(
      z.strictObject({
        http: documented("The HTTP port.", z.optional(port())),
        grpc: documented("The gRPC port.", z.optional(port())),
      }),
      {},
    ),
  ),
  backend: documented(
    "The backend that the gateway forwards to; needed at the edge.",
    z.optional(backend()),
  ),
  authn_mode: documented(
    "How it authenticates callers.",
    z._default(z.enum(AUTHN_MODES), DEFAULT_AUTHN_MODE),
  ),
  published_as: documented(
    "How the edge publishes its RPCs. Client streams need grpc.",
    z._default(z.enum(["http", "grpc"]), "http"),
  ),
  timeout: documented(
    "The time limit of a call, such as 5s: `server.http.timeout_ns` of the service. The edge waits one second longer.",
    z._default(duration(), "5s"),
  ),
});

/** The schema of `svc-access.yaml`. Its names are those of the file. */
export const configSchema = z.strictObject({
  environment: documented(
    "The environment, which is a part of route-registry keys.",
    z._default(
      z
        .string()
        .check(
          z.regex(
            /^[a-z0-9]([-a-z0-9_]*[a-z0-9])?$/,
            "must be a name, such as development or production",
          ),
          z.maxLength(63),
        ),
      "development",
    ),
  ),
  model: documented(
    "The authorization model, in the SpiceDB schema language, of all services without their own; relative to this file.",
    z.optional(modelPath()),
  ),
  identity: documented("The identity provider; needed at the edge.", z.optional(identity)),
  edge: documented(
    "The edge gateway; without it, no gateway files are generated.",
    z.optional(edge),
  ),
  services: documented(
    "The deployed services; by default, each protobuf package is one.",
    z.optional(z.record(name(), service)),
  ),
  clients: documented(
    "The protobuf packages of other services that are only called: no rule checks them, and only messages and typed clients are generated from them. `svc.iam.v1` counts as listed, with the services and RPCs that this package ships.",
    z.optional(z.array(packageName()).check(z.maxLength(10000))),
  ),
  frontends: documented(
    "The applications that users open.",
    z._default(z.record(name(), frontend), {}),
  ),
  paths: documented(
    "Paths that are not RPCs: login, callback, logout, pages. Each becomes a route of the edge; the probes /healthz and /readyz need none.",
    z._default(z.array(declaredPath).check(z.maxLength(10000)), []),
  ),
});

/** The platform configuration, validated, with its defaults. */
export type PlatformConfig = z.infer<typeof configSchema>;
/** A deployed service of the platform configuration. */
export type ServiceConfig = z.infer<typeof service>;
/** A backend that the gateway forwards to. */
export type BackendConfig = NonNullable<ServiceConfig["backend"]>;
