/** The mapping of a token claim to a header at the gateway and to fields in the service. */
export interface ClaimMapping {
  /** The JWT claim. */
  readonly claim: string;
  /** The trusted header that the gateway sets. */
  readonly header: string;
  /** The fields of the principal that it fills; may be empty. */
  readonly principalFields: readonly string[];
}

/** The mappings that apply in every deployment. */
const DEFAULT_MAPPINGS: readonly ClaimMapping[] = [
  { claim: "sub", header: "x-svc-external-sub", principalFields: ["subject_id"] },
  { claim: "email", header: "x-svc-external-email", principalFields: ["email"] },
  { claim: "name", header: "x-svc-external-name", principalFields: ["name"] },
  {
    claim: "preferred_username",
    header: "x-svc-external-username",
    principalFields: ["username"],
  },
];

/** The additional mappings of the IAM console deployment. */
const CONSOLE_MAPPINGS: readonly ClaimMapping[] = [
  { claim: "iss", header: "x-svc-external-issuer", principalFields: [] },
  { claim: "owner", header: "x-svc-external-owner", principalFields: ["organization_id"] },
  { claim: "scope", header: "x-svc-external-scope", principalFields: ["scopes"] },
  { claim: "id", header: "x-svc-external-id", principalFields: ["subject_id"] },
  { claim: "displayName", header: "x-svc-external-display-name", principalFields: ["name"] },
];

/** The claim mappings (docs/requirements.md, EDGE-8), by the value of `frontends.<name>.claims`. */
export const CLAIM_MAPPINGS: Readonly<Record<"default" | "console", readonly ClaimMapping[]>> = {
  default: DEFAULT_MAPPINGS,
  console: [...DEFAULT_MAPPINGS, ...CONSOLE_MAPPINGS],
};

/** The fields of the principal that the gateway fills with these mappings, and `source`, which it always fills. */
export function principalFieldsOf(mappings: readonly ClaimMapping[]): string[] {
  return ["source", ...new Set(mappings.flatMap(({ principalFields }) => principalFields))].sort();
}
