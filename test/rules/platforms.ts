/** `services` of `svc-access.yaml`: `one` serves the package of the case, `two` that of its second file. */
export const ONE_AND_TWO =
  "services: { one: { packages: [CASE.v1] }, two: { packages: [CASE.other.v1] } }";

/** `services` of `svc-access.yaml`: `both` serves the packages of both files. */
export const BOTH = "services: { both: { packages: [CASE.v1, CASE.other.v1] } }";

/** A frontend in `frontends`, a line of its own. */
export function frontend(
  name: string,
  options: { readonly host?: string; readonly services?: string; readonly claims?: string },
): string {
  const { host = `${name}.example.com`, services = "", claims = "default" } = options;
  const login = `client_id: id, client_secret: { name: oidc }, redirect_url: "https://${host}/login/callback", logout_path: /login/logout`;
  return `  ${name}: { host: ${host}, namespace: web, services: [${services}], claims: ${claims}, ${login} }`;
}

/** `svc-access.yaml` of these services and these frontends, with these entries of `paths`. */
export function platform(
  services: string,
  frontends: readonly string[],
  paths: readonly string[] = [],
): string {
  const lines = [services];
  if (frontends.length > 0) lines.push("frontends:", ...frontends);
  if (paths.length > 0) lines.push("paths:", ...paths.map((path) => `  - { ${path} }`));
  return lines.join("\n");
}
