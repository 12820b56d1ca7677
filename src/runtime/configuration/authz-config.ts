import * as z from "zod/mini";
import { documented } from "../../config/config-values.ts";
import { endpoint, file, headerSecret } from "./service-config-values.ts";

const spicedb = z.strictObject({
  endpoint: documented("Where it answers, host:port.", endpoint("spicedb:50051")),
  token: documented("The preshared key; give it as ${VAR}.", headerSecret(1)),
  transport: documented("How it is called.", z._default(z.enum(["grpc"]), "grpc")),
  insecure: documented("Whether it is called without TLS.", z._default(z.boolean(), false)),
  ca_file: documented(
    "Who signs its certificate, PEM; absent, the public authorities.",
    z.optional(file()),
  ),
});

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
