/**
 * Preloaded by the processes of the platform: each ends when the one that started it is gone, also
 * where that was killed. The channel itself keeps no process alive.
 */
process.channel?.unref();
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
