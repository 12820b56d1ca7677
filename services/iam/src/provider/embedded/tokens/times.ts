/** How long somebody may take to log in, in seconds. */
export const INTERACTION_SECONDS = 1800;
/** How long a device waits for its approval, in seconds. */
export const DEVICE_CODE_SECONDS = 600;
