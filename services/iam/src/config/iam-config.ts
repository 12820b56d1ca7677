import * as z from "zod";
import { REQUIRING_RELATIONS } from "../people/factors/required-factors.ts";
import { AUDIENCE_RULE, isAudience, MAX_AUDIENCES } from "./audience.ts";
import { servicesConfig } from "./services-config.ts";
import { calledUrl, originUrl, redirectUrl } from "./url-rules.ts";

const MAX_LIST = 256;
const SECOND_NS = 1_000_000_000;
const DAY_NS = 86_400 * SECOND_NS;
const MIN_SECRET = 32;

const text = z.string().min(1, "must not be empty").max(1024);
/** A name that people read on pages: nothing in it may turn or break what is around it. */
const shownName = (most: number) =>
  z
    .string()
    .trim()
    .min(1, "must not be empty")
    .max(most)
    .regex(
      /^[^\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]*$/u,
      "must not contain control characters, also those that change the direction of text",
    );
const uuid = z.uuid("must be a UUID").transform((id) => id.toLowerCase());
/** More nanoseconds than a number holds exactly cannot be read. */
const MOST_DAYS = 104;
const days = (fallback: number) =>
  z
    .int()
    .min(60 * SECOND_NS, "must be at least 60000000000 nanoseconds, a minute")
    .max(MOST_DAYS * DAY_NS, "must be at most 8985600000000000 nanoseconds, 104 days")
    .default(fallback);

/** An organization is the id of a zone, and a claim. */
export const ORGANIZATION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const organization = z
  .string()
  .regex(ORGANIZATION_ID, "must be 1 to 64 letters, digits, '.', '_' and '-'");

const redirectUris = z.array(redirectUrl).max(MAX_LIST);

const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/, "must be the name of a scope");

/** A service that tokens are for. */
const audience = z.string().max(256).refine(isAudience, AUDIENCE_RULE);

const login = z.strictObject({
  client_id: text,
  client_secret: z.string().min(1).max(1024).optional(),
  redirect_uris: redirectUris.min(1, "must have at least one"),
  scopes: z.array(scope).min(1).max(32).default(["openid", "profile", "email"]),
});

/** A client as it is declared. */
export const clientConfig = z
  .strictObject({
    id: uuid,
    name: shownName(128),
    flows: z
      .array(z.enum(["code", "device", "service_account"]))
      .min(1)
      .max(3),
    client_secret: z
      .string()
      .min(MIN_SECRET, `must have at least ${MIN_SECRET} characters: openssl rand -base64 32`)
      .max(1024)
      .optional(),
    public_keys: z
      .array(z.looseObject({ kty: z.enum(["RSA", "EC", "OKP"]) }))
      .min(1)
      .max(8)
      .optional(),
    redirect_uris: redirectUris.default([]),
    post_logout_redirect_uris: redirectUris.default([]),
    backchannel_logout_uri: calledUrl.optional(),
    ask_consent: z.boolean().default(true),
    audience: z.array(audience).max(MAX_AUDIENCES).default([]),
  })
  .superRefine((value, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    const { flows, client_secret, public_keys, redirect_uris } = value;
    if (flows.includes("code") !== redirect_uris.length > 0) {
      refuse("redirect_uris", "must be given for the flow code, and only for it");
    }
    if (client_secret !== undefined && public_keys !== undefined) {
      refuse("public_keys", "cannot be beside client_secret: a client has one kind of credential");
    }
    if (flows.includes("service_account")) {
      if (flows.length > 1) refuse("flows", "must have nothing beside service_account");
      if (client_secret === undefined && public_keys === undefined) {
        refuse("client_secret", "or public_keys must be given: a service account has a credential");
      }
    }
    if (value.audience.length > 0 && !flows.includes("service_account")) {
      refuse("audience", "is for service accounts: tokens of people are for their client");
    }
    if (new Set(value.audience).size < value.audience.length) {
      refuse("audience", "has an entry twice");
    }
    for (const key of public_keys ?? []) {
      const secret = ["d", "p", "q", "dp", "dq", "qi", "k"].find((name) => name in key);
      if (secret !== undefined) refuse("public_keys", `has a private key (${secret}): remove it`);
    }
  });

/** A client of the embedded provider, as it is declared. */
export type ClientConfig = z.output<typeof clientConfig>;

/**
 * The section `iam` of the configuration of svc-iam. Lengths of time are nanoseconds, as in the
 * sections that are built in.
 */
export const iamSection = z.strictObject({
  /** Whose users are in `/v1/users`: the claim `owner`, and the id of the zone. */
  organization,
  /** Where browsers and clients reach this service: an origin. */
  public_url: originUrl,
  /** The keys that encrypt what is secret in the database. */
  encryption_key_file: z.string().min(1).optional(),
  /** Who logs browsers in: the edge, or this service (one process without an edge). */
  browser_login: z.enum(["gateway", "self"]).default("gateway"),
  /** The client that this service is at the identity provider. */
  login,
  /** The clients of the embedded provider. */
  clients: z.array(clientConfig).max(1024).default([]),
  /** What services may do with their internal tokens. */
  services: servicesConfig,
  /** Who must have a second factor, with the embedded provider. */
  second_factor: z
    .strictObject({
      /** Relations to the zone of the organization, also by groups; or `everyone`. */
      required_for: z
        .array(z.enum(["everyone", ...REQUIRING_RELATIONS]))
        .max(8)
        .default([]),
    })
    .prefault({}),
  /** The look of the pages for people. */
  pages: z
    .strictObject({
      /** The name of the product. */
      name: shownName(64).default("Identity and access"),
      /** A file with its logo: PNG, JPEG, WebP or SVG. */
      logo_file: z.string().min(1, "must not be empty").optional(),
    })
    .prefault({}),
  /** How long people stay logged in, with the embedded provider or `browser_login: self`. */
  sessions: z
    .strictObject({ idle_ns: days(3 * DAY_NS), absolute_ns: days(30 * DAY_NS) })
    .refine(({ idle_ns, absolute_ns }) => idle_ns <= absolute_ns, {
      path: ["idle_ns"],
      message: "must be at most absolute_ns",
      // One of them that is out of its own limits has been reported.
      when: ({ issues }) => issues.length === 0,
    })
    .prefault({}),
});

/** The section, as it is read. */
export type IamConfig = z.output<typeof iamSection>;
