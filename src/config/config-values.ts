import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";

// A configuration is parsed once, so compiling a parser would cost more than it saves.
z.config({ ...en(), jitless: true });

/** An RFC 1123 label, as Kubernetes requires for names. */
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
/** An RFC 1123 subdomain. */
const HOST = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** An absolute path of RFC 3986 without query and fragment. */
const PATH = /^\/[A-Za-z0-9\-._~!$&'()+,;=@:%/]*$/;

/** Text without control characters and surrounding spaces, which is readable as displayed. */
const IDENTIFIER = /^(?:[^\s\p{C}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\s\p{C}])?)?$/u;

/** A name in Kubernetes: an RFC 1123 label. */
export const name = () =>
  z
    .string()
    .check(
      z.regex(LABEL, "must be a name of lower-case letters, digits and -"),
      z.maxLength(63, "must have at most 63 characters"),
    );
/** The name of a claim, without a dot: Envoy reads one as a step into an object. */
export const claimName = () =>
  z
    .string()
    .check(
      z.regex(/^[A-Za-z][A-Za-z0-9_-]*$/, "must be the name of a claim, such as subject_type"),
      z.maxLength(64, "must have at most 64 characters"),
    );
/** A host name, without scheme or port. */
export const host = () =>
  z
    .string()
    .check(
      z.regex(HOST, "must be a host name in lower case, without scheme or port"),
      z.maxLength(253),
    );
/** An absolute path, without query and fragment. */
export const path = () =>
  z
    .string()
    .check(
      z.regex(PATH, 'must be a path that starts with "/", without query or fragment'),
      z.maxLength(1024),
    );
/** A TCP port. */
export const port = () => z.int().check(z.minimum(1), z.maximum(65535));
/** An http or https URL. */
export const httpUrl = () =>
  z.pipe(
    z.string().check(z.maxLength(2048, "must have at most 2048 characters")),
    z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
  );

/** An IP address, or a host name as a Backend accepts it. */
const address = () =>
  z.string().check(
    z.minLength(1),
    z.maxLength(253),
    z.refine((text) => text === "" || isIpv6(text) || HOST.test(text.toLowerCase()), {
      error: "must be an IP address or a host name, without scheme or port",
    }),
  );

/** An identifier of the identity provider, such as an organization. */
export const identifier = () =>
  z
    .string()
    .check(
      z.minLength(1),
      z.regex(IDENTIFIER, "must be text without control characters, and without spaces around it"),
      z.maxLength(256),
    );
/** A client id, as in the `aud` of a token. */
export const audience = identifier;
/** A list of identifiers without duplicates. */
export const identifiers = (min: number, max: number) =>
  z.array(identifier()).check(
    z.minLength(min),
    z.maxLength(max),
    z.refine((values) => new Set(values).size === values.length, {
      error: "must not contain duplicates",
    }),
  );
/** A duration in the format of the Gateway API: `5s`, `1m30s`, `500ms`. */
export const duration = () =>
  z.string().check(
    z.regex(DURATION, NO_DURATION),
    z.refine((text) => !DURATION.test(text) || durationMs(text) !== undefined, NO_DURATION),
  );
const NO_DURATION = "must be a duration from 1ms to 480h, such as 5s, 1m30s or 500ms";

/** A schema with a description, which editors show. */
export function documented<Schema extends z.ZodMiniType>(
  description: string,
  schema: Schema,
): Schema {
  z.globalRegistry.add(schema, { description });
  return schema;
}

/** A backend that the gateway forwards to. */
export const backend = () =>
  z
    .strictObject({
      service: documented(
        "A Kubernetes Service.",
        z.optional(
          z.strictObject({
            name: documented("The name of the Service.", name()),
            namespace: documented("The namespace of the Service.", name()),
            port: documented(
              "The port; the default is `ports.http` of the service.",
              z.optional(port()),
            ),
          }),
        ),
      ),
      backend: documented(
        "An Envoy Gateway Backend, for a process outside Kubernetes.",
        z.optional(
          z.strictObject({
            name: documented("The name of the Backend.", name()),
            namespace: documented("The namespace of the Backend.", name()),
            endpoints: documented(
              "The addresses and ports of the process.",
              z
                .array(
                  z.strictObject({
                    address: documented("An IP address or a host name.", address()),
                    port: documented("The port.", port()),
                  }),
                )
                .check(z.minLength(1), z.maxLength(64)),
            ),
          }),
        ),
      ),
    })
    .check(
      z.refine((value) => (value.service === undefined) !== (value.backend === undefined), {
        error: "must have either service or backend",
      }),
    );

/** A Secret by its name, never by its value. */
export const secret = () =>
  z.strictObject({
    name: documented("The name of the Secret.", name()),
    namespace: documented(
      "The namespace; the default is that of the object that refers to it.",
      z.optional(name()),
    ),
  });

const IPV6 = /^([0-9a-f:.]*:[0-9a-f:.]*)(?:%[0-9a-z.:-]+)?$/i;

/** Whether text is an IPv6 address, with or without a zone. `node:net` could check it, too, but loads slowly. */
export function isIpv6(text: string): boolean {
  const [, address] = IPV6.exec(text) ?? [];
  return address !== undefined && URL.canParse(`http://[${address}]`);
}

/** A duration of the Gateway API (GEP-2257). */
const DURATION = /^(?:[0-9]{1,5}(?:h|m|s|ms)){1,4}$/;
const PART = /([0-9]{1,5})(ms|[hms])/g;
const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
/** Node.js timers are limited to 24 days; the configuration of a service allows 20. */
const MAX_MS = 480 * 3_600_000;

/** The milliseconds of a text such as `5s` or `1m30s`; undefined if it is not a valid duration, or too short or long. */
export function durationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(PART)) {
    sum += Number(count) * (UNIT_MS[unit as string] as number);
  }
  return sum > 0 && sum <= MAX_MS ? sum : undefined;
}

/** Milliseconds as a Gateway API duration; zero is `0s`, which means no limit there. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = "";
  for (const [unit, size] of Object.entries(UNIT_MS)) {
    const count = Math.floor(rest / size);
    if (count === 0) continue;
    text += `${count}${unit}`;
    rest -= count * size;
  }
  return text === "" ? "0s" : text;
}
