/** deploy/kubernetes: valid by the schemas of Kubernetes, and a configuration that svc-iam takes. */
import { randomBytes } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { loadIamConfig } from "../../services/iam/src/config/load-iam-config.ts";
import { runProgram } from "../support/programs.ts";
import { findPromtool, promtoolIsAbsent } from "../support/promtool.ts";
import { ROOT } from "../support/workspace.ts";

/** The oldest that has all that the files use (`preStop.sleep`), and a new one. */
const VERSIONS = ["1.30", "1.37"];

const folder = mkdtempSync(join(tmpdir(), "svc-access-kubernetes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const files = globSync("deploy/kubernetes/*.yaml", { cwd: ROOT }).sort();
const resources: any[] = files.flatMap((file) =>
  parseAllDocuments(readFileSync(join(ROOT, file), "utf8")).map((one) => one.toJS()),
);
const one = (kind: string, name = kind === "Job" ? "svc-iam-migrate" : "svc-iam") =>
  resources.find((resource) => resource.kind === kind && resource.metadata.name === name);

/** The files with NetworkPolicies, with the lines that comments have for other clusters. */
const OTHER_CLUSTERS = ["svc-iam.yaml", "migrate.yaml"].map((file) =>
  readFileSync(join(ROOT, "deploy/kubernetes", file), "utf8").replace(/^( *)# (?=- | {2})/gm, "$1"),
);
const containers = readFileSync(join(ROOT, "docs/containers.md"), "utf8");

/** The folder of kubernetes-validate: what scripts/build-kubernetes-validate.sh printed. */
const validator = process.env["KUBERNETES_VALIDATE"] ?? "";

function validatorIsAbsent(): boolean {
  if (validator !== "") return false;
  const message =
    "there is no kubernetes-validate: set KUBERNETES_VALIDATE to the output of scripts/build-kubernetes-validate.sh";
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the schemas of Kubernetes: ${message}`);
  return true;
}

describe.skipIf(validatorIsAbsent())("the schemas of Kubernetes", () => {
  const validate = (version: string, paths: readonly string[]) =>
    runProgram(
      "python3",
      [join(validator, "bin/kubernetes-validate"), "--strict", "-k", version, ...paths],
      { cwd: ROOT, env: { PYTHONPATH: validator } },
    );

  test.each(VERSIONS)("all files are valid in %s [DEPLOY-6]", (version) => {
    const { status, stdout, stderr } = validate(version, files);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout.match(/ passed for resource /g)).toHaveLength(resources.length);
  });

  test("all are valid with the lines for other clusters, which comments have [DEPLOY-6]", () => {
    const path = join(folder, "other-clusters.yaml");
    writeFileSync(path, OTHER_CLUSTERS.join("---\n"));
    expect(validate("1.37", [path])).toMatchObject({ status: 0, stderr: "" });
  });

  test("a wrong key is found", () => {
    const path = join(folder, "wrong.yaml");
    const text = readFileSync(join(ROOT, "deploy/kubernetes/svc-iam.yaml"), "utf8");
    writeFileSync(path, text.replace("readinessProbe:", "readinesProbe:"));
    expect(validate("1.37", [path]).status).not.toBe(0);
  });
});

function secretFile(key: string): string {
  const path = join(folder, key);
  writeFileSync(path, randomBytes(32).toString("base64"));
  return path;
}

test("the configuration is one that svc-iam takes in production [DEPLOY-6]", () => {
  const text = one("ConfigMap").data["service.yaml"] as string;
  expect(text).toContain("environment: production");
  const file = join(folder, "service.yaml");
  writeFileSync(
    file,
    text
      .replaceAll(/\/run\/secrets\/svc-iam\/([\w-]+)/g, (_, key) => secretFile(key))
      .replace("/app/model/iam.zed", join(ROOT, "model/iam.zed")),
  );
  process.env["DATABASE_URL"] = "postgres://iam:secret@postgres.data:5432/iam";
  try {
    const { config } = loadIamConfig(file);
    expect(config.service).toBe("iam");
  } finally {
    delete process.env["DATABASE_URL"];
  }
});

test("the NetworkPolicy lets svc-iam reach all that its configuration names, and no more ports [DEPLOY-6]", () => {
  const { security, database, registry, iam } = parse(one("ConfigMap").data["service.yaml"]);
  const comment = readFileSync(join(ROOT, "deploy/kubernetes/configuration.yaml"), "utf8");
  const [, databaseUrl = ""] = /--from-literal=database-url='([^']*)'/.exec(comment) ?? [];
  expect(database.url).toBe("${DATABASE_URL}");
  const called = [
    databaseUrl.replace("…", "x"),
    `grpc://${security.authz.spicedb.endpoint}`,
    ...registry.etcd.endpoints,
    ...iam.clients.flatMap((client: any) => client.backchannel_logout_uri ?? []),
  ];
  const ports = called.map((url) => Number(new URL(url).port || 443));
  expect(ports).toHaveLength(4);
  const dns = 53;
  const open: number[] = one("NetworkPolicy").spec.egress.flatMap(
    ({ ports: some }: { ports: { port: number }[] }) => some.map(({ port }) => port),
  );
  expect([...new Set(open)].sort()).toEqual([dns, ...new Set(ports)].sort());
});

test("comments of the NetworkPolicies have what other clusters need [DEPLOY-6]", () => {
  const names = ["svc-iam", "svc-iam-jobs"];
  const policies: any[] = OTHER_CLUSTERS.flatMap((text) => parseAllDocuments(text))
    .map((document) => document.toJS())
    .filter(({ kind, metadata }) => kind === "NetworkPolicy" && names.includes(metadata.name));
  expect(policies).toHaveLength(2);
  for (const { metadata, spec } of policies) {
    const [usual, nodeLocal, openShift] = spec.egress[0].to;
    expect(one("NetworkPolicy", metadata.name).spec.egress[0].to).toEqual([usual]);
    expect(nodeLocal).toEqual({ ipBlock: { cidr: "169.254.20.10/32" } });
    expect(openShift.namespaceSelector.matchLabels).toEqual({
      "kubernetes.io/metadata.name": "openshift-dns",
    });
    const ports = spec.egress[0].ports.map(({ port }: { port: number }) => port);
    expect(ports).toEqual([53, 53, 5353, 5353]);
  }
  // Pods of the same namespace may call, and only with the label.
  const clients = ({ spec }: any) =>
    spec.ingress.flatMap(({ from }: any) => from).filter(isClient) as unknown[];
  const isClient = ({ podSelector }: any) => podSelector?.matchLabels["iam-client"] === "true";
  const label = { podSelector: { matchLabels: { "iam-client": "true" } } };
  expect(clients(one("NetworkPolicy"))).toEqual([label]);
  expect(clients(policies[0])).toEqual([
    label,
    { ...label, namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "hub" } } },
  ]);
  expect(containers).toContain('label `iam-client: "true"` in the namespace of svc-iam may call');
});

test("docs/containers.md has Prometheus read each pod as the job of its service [DEPLOY-6]", () => {
  const [monitor, scrape] = [...containers.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
    ([, block = ""]) => parse(block),
  );
  const { metadata, spec } = one("Deployment").spec.template;
  const { service } = parse(one("ConfigMap").data["service.yaml"]);
  expect(monitor.kind).toBe("PodMonitor");
  expect(metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
  const [{ port, relabelings }] = monitor.spec.podMetricsEndpoints;
  expect(spec.containers[0].ports.map(({ name }: { name: string }) => name)).toContain(port);
  expect(relabelings).toEqual([{ targetLabel: "job", replacement: service }]);
  const [{ job_name: job, relabel_configs: kept }] = scrape.scrape_configs;
  expect(job).toBe(service);
  expect(kept.map(({ regex }: { regex: string }) => regex)).toEqual([
    ...Object.values(metadata.labels),
    port,
  ]);
  if (promtoolIsAbsent()) return;
  const file = join(folder, "prometheus.yaml");
  writeFileSync(file, stringify(scrape));
  expect(runProgram(findPromtool(), ["check", "config", file]).status).toBe(0);
});

test.each([
  ["deploy/kubernetes/configuration.yaml", () => one("ConfigMap").data["service.yaml"] as string],
  ["deploy/compose/iam.yaml", () => readFileSync(join(ROOT, "deploy/compose/iam.yaml"), "utf8")],
])("%s lets the hub read the types of its policies, and no others [DEPLOY-6]", (_, text) => {
  const { policies } = JSON.parse(
    readFileSync(join(ROOT, "examples/hub/gen/policies.json"), "utf8"),
  );
  const types = Object.values<any>(policies).flatMap(({ authz }) => authz?.resource ?? []);
  const needed = new Set(types.map((resource: string) => resource.replace(/:.*/, "")));
  expect(needed.size).toBeGreaterThan(3);
  const { read_types: read } = parse(text()).iam.services.hub;
  expect([...read].sort()).toEqual([...needed].sort());
});

test("ports, secrets, labels and users fit together [DEPLOY-6]", () => {
  const deployment = one("Deployment").spec.template;
  const job = one("Job").spec.template;
  const operate = one("Job", "svc-iam-operate").spec.template;
  const [container] = deployment.spec.containers;
  const configuration = one("ConfigMap").data["service.yaml"] as string;
  for (const { containerPort } of container.ports) {
    expect(configuration).toContain(`0.0.0.0:${containerPort}`);
  }
  const names = container.ports.map(({ name }: { name: string }) => name);
  for (const { targetPort } of one("Service").spec.ports) expect(names).toContain(targetPort);
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
  for (const { httpGet } of probes) expect(names).toContain(httpGet.port);
  for (const selector of [
    one("Service").spec.selector,
    one("PodDisruptionBudget").spec.selector.matchLabels,
    one("NetworkPolicy").spec.podSelector.matchLabels,
  ]) {
    expect(deployment.metadata.labels).toMatchObject(selector);
  }
  // The Secret that the comment makes has each key that is read.
  const comment = readFileSync(join(ROOT, "deploy/kubernetes/configuration.yaml"), "utf8");
  const made = [...comment.matchAll(/--from-literal=([\w-]+)=/g)].map(([, key]) => key);
  const read = [...configuration.matchAll(/\/run\/secrets\/svc-iam\/([\w-]+)/g)].map(
    ([, key]) => key,
  );
  const ofPods = [deployment, job].flatMap(({ spec }) => spec.containers[0].env);
  const fromEnvironment = ofPods.map(({ valueFrom }) => valueFrom.secretKeyRef.key);
  expect(made.sort()).toEqual([...read, ...fromEnvironment].sort());
  // No pod has a secret that is for another one.
  const mounted = ({ spec }: typeof deployment) =>
    spec.volumes.flatMap(({ secret }: { secret?: { items: { key: string }[] } }) =>
      (secret?.items ?? []).map(({ key }) => key),
    );
  expect(mounted(deployment).sort()).toEqual([...new Set(read)].sort());
  expect(mounted(job).sort()).toEqual(["hub-token", "spicedb-token", "system-token"]);
  expect(mounted(operate).sort()).toEqual([...new Set(read)].sort());
  for (const { metadata } of [job, operate]) {
    const [{ values }] = one("NetworkPolicy", "svc-iam-jobs").spec.podSelector.matchExpressions;
    expect(values).toContain(metadata.labels["app.kubernetes.io/name"]);
    expect(metadata.labels).not.toMatchObject(one("Service").spec.selector);
  }
  // The user, and the time to stop, are those of the image and the configuration.
  const image = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  for (const { spec } of [deployment, job, operate]) {
    expect(image).toContain(
      `USER ${spec.securityContext.runAsUser}:${spec.securityContext.runAsGroup}`,
    );
    expect(spec.containers[0].securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
  }
  expect(deployment.spec.terminationGracePeriodSeconds).toBeGreaterThan(5 + 10 + 6);
});
