/** The member id of a subject without a relation. */
export const NO_MEMBER = 0;
