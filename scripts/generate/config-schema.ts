import * as z from "zod";
import { configSchema } from "../../src/config/config.ts";

/** The JSON Schema of `svc-access.yaml`, for editors. */
export function configSchemaJson(): string {
  const schema = z.toJSONSchema(configSchema, { io: "input", target: "draft-7" });
  const titled = { title: "svc-access.yaml, the platform configuration of svc-access", ...schema };
  return `${JSON.stringify(titled, undefined, 2)}\n`;
}
