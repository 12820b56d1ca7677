/**
 * Every model that is stored in `iam_provider_documents`, and whether its documents end with the logins.
 * What is not here cannot be stored, so that a new model takes a side.
 */
export const DOCUMENT_MODELS = {
  AuthorizationCode: "ends with logins",
  DeviceCode: "ends with logins",
  Grant: "ends with logins",
  Interaction: "ends with logins",
  RefreshToken: "ends with logins",
  Session: "ends with logins",
  // JWTs, which are not stored.
  AccessToken: "ends with logins",
  ClientCredentials: "ends with logins",
  /** The declared clients. */
  AppliedClient: "stays",
  /** The assertions that clients have used: without it they could be used again. */
  ReplayDetection: "stays",
} as const;

/** A model that may be stored. */
export type DocumentModel = keyof typeof DOCUMENT_MODELS;

/** The models whose documents end when all logins do. */
export const LOGIN_MODELS: readonly DocumentModel[] = Object.keys(DOCUMENT_MODELS)
  .filter(isDocumentModel)
  .filter((model) => DOCUMENT_MODELS[model] === "ends with logins");

/** Whether a model of `oidc-provider` may be stored. */
export function isDocumentModel(model: string): model is DocumentModel {
  return Object.hasOwn(DOCUMENT_MODELS, model);
}
