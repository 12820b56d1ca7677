/** The path of the links by which new passwords are set. */
export const RESET_PATH = "/v1/iam/ui/password-reset";
