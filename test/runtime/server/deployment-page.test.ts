import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { checkAuthnConfig } from "../../../src/runtime/authn/check-authn-config.ts";
import { parseServiceConfig } from "../../../src/runtime/configuration/load-service-config.ts";
import { ROOT } from "../../support/workspace.ts";

interface Port {
  readonly name: string;
  readonly containerPort: number;
  readonly port: number | string;
  readonly targetPort: string;
}

interface Container {
  readonly ports: readonly Port[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly livenessProbe: { readonly httpGet: { readonly port: string } };
  readonly readinessProbe: { readonly httpGet: { readonly port: string } };
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Volume {
  readonly name: string;
  readonly persistentVolumeClaim: { readonly claimName: string };
}

/** An object of the page, with the fields that the tests read. */
interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly selector: unknown;
    readonly podSelector: unknown;
    readonly ports: readonly Port[];
    readonly ingress: readonly { readonly ports: readonly Port[] }[];
    readonly template: {
      readonly metadata: { readonly labels: unknown };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly [Container];
        readonly volumes: readonly [Volume];
      };
    };
  };
}

const blocksOf = (page: string): string[] =>
  [...readFileSync(join(ROOT, "docs", page), "utf8").matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
    ([, text = ""]) => text,
  );
const starter = blocksOf("runtime.md").find((text) => text.includes("service: notes\n")) ?? "";
const operations = blocksOf("operations.md");
const security = operations.find((text) => text.includes("GATEWAY_PEERS:-")) ?? "";
const objects: Resource[] = parseAllDocuments(
  operations.find((text) => text.includes("kind: Deployment")) ?? "",
).map((document) => document.toJS());

const ofKind = (kind: string) => objects.find((object) => object.kind === kind) as Resource;
const deployment = ofKind("Deployment");
const pod = deployment.spec.template;
const [container] = pod.spec.containers;
const ports = new Map<string, number>(
  container.ports.map(({ name, containerPort }) => [name, containerPort]),
);
const variables: Record<string, string> = Object.fromEntries(
  container.env.map(({ name, value }) => [name, value ?? "a-secret-of-the-cluster"]),
);

function load(document: unknown) {
  const path = join(ROOT, "service.yaml");
  return parseServiceConfig(stringify(document), path, { variables, checks: [checkAuthnConfig] });
}

const changed = (): unknown => {
  const document = parse(starter);
  document.security.authn = parse(security).security.authn;
  return document;
};

test("the starter starts with the environment of the Deployment, once its gateway is configured", () => {
  expect(() => load(parse(starter))).toThrow("trusted_peers is missing");
  const { config, warnings } = load(changed());
  expect(config.environment).toBe("production");
  expect(config.security.authn.gateway.trusted_peers).toEqual([variables["GATEWAY_PEERS"]]);
  expect(warnings).toEqual([]);
});

test("the configuration reads each variable of the Deployment", () => {
  for (const name of Object.keys(variables)) expect(starter + security).toContain(`\${${name}`);
});

test("the pod listens on the ports of probes, Service and NetworkPolicy", () => {
  const { server } = load(changed()).config;
  const listening = new Map(
    Object.entries({ http: server.http, grpc: server.grpc, metrics: server.metrics }).map(
      ([name, part]) => [name, Number(part?.address.split(":").pop())],
    ),
  );
  expect(ports).toEqual(listening);
  const looked = [
    container.livenessProbe.httpGet.port,
    container.readinessProbe.httpGet.port,
    ...ofKind("Service").spec.ports.map(({ targetPort }) => targetPort),
    ...ofKind("NetworkPolicy").spec.ingress.flatMap(({ ports: open }) =>
      open.map(({ port }) => port),
    ),
  ];
  for (const name of looked) expect([...ports.keys()]).toContain(name);
  for (const { port, targetPort } of ofKind("Service").spec.ports) {
    expect(port).toBe(ports.get(targetPort));
  }
});

test("selectors and the volume claim match their objects", () => {
  const { labels } = pod.metadata;
  expect(deployment.spec.selector).toEqual({ matchLabels: labels });
  expect(ofKind("Service").spec.selector).toEqual(labels);
  expect(ofKind("NetworkPolicy").spec.podSelector).toEqual({ matchLabels: labels });
  const [{ name, persistentVolumeClaim }] = pod.spec.volumes;
  expect(persistentVolumeClaim.claimName).toBe(ofKind("PersistentVolumeClaim").metadata.name);
  expect(container.volumeMounts).toEqual([{ name, mountPath: variables["DATA"] }]);
});

test("the pod has enough time to end", () => {
  const { server } = load(changed()).config;
  const needed = container.lifecycle.preStop.sleep.seconds + server.shutdown_timeout_ns / 1e9;
  expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(needed);
});
