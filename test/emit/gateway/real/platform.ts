import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { ROOT } from "../../../support/workspace.ts";

/** The ports within the network of the test. */
export const PORTS = { edge: 8080, hub: 8201, pages: 8202, provider: 8203 } as const;

export const PROVIDER = `http://localhost:${PORTS.provider}`;
/** The client of the hub's frontend, as the example has it. */
export const CLIENT = "2f6c1a54-8d0e-4b39-9a57-0c1d7e5b6f21";
export const CLIENT_SECRET = "the-secret-of-the-client";

const backend = (name: string, port: number) => {
  return { backend: { name, namespace: "hub", endpoints: [{ address: "127.0.0.1", port }] } };
};

/**
 * The platform of `examples/hub`, outside Kubernetes: its services and pages are here, its provider
 * is ours, and beside its frontend there are one that answers scripts 401, and one of programs.
 */
export function platformYaml(): string {
  const platform = parse(readFileSync(join(ROOT, "examples/hub/svc-access.yaml"), "utf8"));
  const pages = backend("pages", PORTS.pages);
  const frontend = platform.frontends["hub-frontend"];
  frontend.backend = pages;
  return stringify({
    ...platform,
    model: join(ROOT, "model/iam.zed"),
    identity: {
      issuer: PROVIDER,
      authorization_endpoint: `${PROVIDER}/authorize`,
      token_endpoint: `${PROVIDER}/token`,
      jwks_uri: `${PROVIDER}/keys`,
      allowed_owners: ["acme"],
      subject_type_claim: "subject_type",
    },
    edge: { ...platform.edge, listeners: [{ name: "http", port: PORTS.edge, protocol: "HTTP" }] },
    services: {
      ...platform.services,
      hub: { ...platform.services.hub, backend: backend("hub", PORTS.hub) },
    },
    frontends: {
      "hub-frontend": frontend,
      scripts: {
        ...frontend,
        host: "scripts.example.com",
        redirect_url: "https://scripts.example.com/oauth2/callback",
        logout_path: "/oauth2/logout",
        deny_redirect: true,
      },
      programs: {
        host: "api.example.com",
        namespace: "hub",
        services: ["hub"],
        login: "bearer",
        audiences: ["cli", "worker"],
        claims: "console",
        connect: true,
        allowed_origins: frontend.allowed_origins,
      },
    },
  });
}
