const lookEveryMs = 300;

/**
 * Ends this process, as SIGTERM would, when the one that started it is gone. npm passes a signal on to the shell that it
 * runs a script in, and the shell to nobody: without this, ending npm would leave the daemon behind.
 */
export function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, lookEveryMs).unref();
}
