/** The subject id of whoever calls with the token of SYSTEM calls; no service has this name. */
export const SYSTEM_CALLER = "system";
