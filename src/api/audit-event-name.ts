/** The name of an audit event: lower-case words joined by dots, such as `skill.publish`. */
export const AUDIT_EVENT_NAME = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/;

/** The most characters of a name that is not written in a proto. */
export const MAX_AUDIT_EVENT_NAME = 128;
