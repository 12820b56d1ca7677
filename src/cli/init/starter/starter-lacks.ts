/**
 * The part of the starter's `svc-access.yaml` that an existing file lacks.
 *
 * @param starter - the whole file of the starter
 * @returns empty if the file has the service
 */
export function configLacks(existing: string, starter: string, service: string): string {
  if (existing.includes(`${service}:`)) return "";
  const [first = "", model = "", services = ""] = starter.split("\n\n");
  const parts = /^environment:/m.test(existing) ? [] : [first];
  const own = /^model: *["']?([^"'\s#]+)/m.exec(existing)?.[1];
  if (own === undefined) parts.push(model);
  // The model of other services stays; this service names its own.
  const isOther = own !== undefined && own !== "model.zed";
  parts.push(isOther ? `${services.trimEnd()}\n    model: model.zed` : services);
  return parts.join("\n\n");
}

/**
 * The definitions of the starter's model that an existing model lacks.
 *
 * @param proto - the proto in the repository; one that was rewritten needs no model of the starter
 */
export function modelLacks(existing: string, starter: string, proto: string): string {
  if (!proto.includes('"item:{item_id}"') || defines(existing, "item")) return "";
  const definitions = starter.trimEnd().split(/\n\n(?=definition )/);
  return definitions
    .filter((definition) => !defines(existing, definition.split(" ")[1] as string))
    .join("\n\n");
}

function defines(model: string, type: string): boolean {
  return new RegExp(`^\\s*definition\\s+${type}\\b`, "m").test(model);
}
