import * as z from "zod/mini";
import { documented } from "../../config/config-values.ts";
import { endpoint, file, headerSecret } from "./service-config-values.ts";

const spicedb = z
  .strictObject({
    endpoint: documented("Where it answers, host:port.", endpoint("spicedb:50051")),
    token: documented(
      "The preshared key; give it as ${VAR}. Needed without token_file.",
      z.optional(headerSecret(1)),
    ),
    token_file: documented(
      "Instead of token, the file that holds it; read at the start.",
      z.optional(file()),
    ),
    transport: documented("How it is called.", z._default(z.enum(["grpc"]), "grpc")),
    insecure: documented("Whether it is called without TLS.", z._default(z.boolean(), false)),
    ca_file: documented(
      "Who signs its certificate, PEM; absent, the public authorities.",
      z.optional(file()),
    ),
  })
  .check(
    z.refine(({ token, token_file }) => (token === undefined) !== (token_file === undefined), {
      error: "must have either token or token_file",
    }),
  );

/** What the check above says, in the words of JSON Schema, for editors. */
z.globalRegistry.add(spicedb, { oneOf: [{ required: ["token"] }, { required: ["token_file"] }] });

/** The schema of `security.authz` (spec 5.6). */
export const authz = z.strictObject({
  enabled: documented("Whether AUTHORIZED calls are checked.", z._default(z.boolean(), true)),
  provider: documented(
    "The kind of the authorization engine.",
    z._default(z.enum(["embedded", "spicedb"]), "embedded"),
  ),
  dev_allow_all: documented(
    "Whether every check allows; for development only.",
    z._default(z.boolean(), false),
  ),
  model: documented(
    "The file of the authorization model; needed where calls are checked.",
    z.optional(file()),
  ),
  spicedb: documented("The SpiceDB; needed with that provider.", z.optional(spicedb)),
});
