/** The variable that says what services of tests run on: `production`, or SQLite and the embedded engine. */
export const STACK = "SVC_IAM_STACK";
