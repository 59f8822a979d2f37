/** A function for the app's process, as text, the way Playwright's Electron driver sends them. */
export type DriverRequest = { id: number; source: string; argument: unknown };
export type DriverAnswer = { id: number; value: unknown } | { id: number; error: string };

/** Evaluates what the driver sends over the process channel, with the Electron double as first argument. */
export function answerDriver(electron: object): void {
  process.on('message', async (request: DriverRequest) => {
    process.send?.(await evaluate(electron, request));
  });
  process.on('disconnect', () => process.exit(1));
}

async function evaluate(electron: object, { id, source, argument }: DriverRequest): Promise<DriverAnswer> {
  try {
    const evaluated: unknown = new Function(`return (${source})`)();
    if (typeof evaluated !== 'function')
      throw new TypeError('the driver sent something that is not a function');
    return { id, value: await evaluated(electron, argument) };
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
