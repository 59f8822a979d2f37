/** Every call the panel can make to the desktop: channel → arguments and result. There are no others. */
export type DesktopCalls = {
  'desktop:choose-folder': { arguments: []; result: string | null };
  'desktop:notify': { arguments: [title: string, body: string]; result: undefined };
  'desktop:copy': { arguments: [text: string, clearAfterMs: number | null]; result: undefined };
  'desktop:request-login-token': { arguments: []; result: string | null };
};

export type DesktopChannel = keyof DesktopCalls;

const maxTitleLength = 200;
const maxBodyLength = 1_000;
const maxCopyLength = 16 * 1024 * 1024;
const maxClearAfterMs = 3_600_000;

/** For each channel, its arguments read from what a page sent; a `TypeError` says what is wrong with them. */
export const readArguments: {
  [Channel in DesktopChannel]: (sent: readonly unknown[]) => DesktopCalls[Channel]['arguments'];
} = {
  'desktop:choose-folder': (sent) => readNone(sent),
  'desktop:notify': (sent) => {
    expectCount(sent, 2);
    return [readText('title', sent[0], maxTitleLength), readText('body', sent[1], maxBodyLength)];
  },
  'desktop:copy': (sent) => {
    expectCount(sent, 2);
    return [readText('text', sent[0], maxCopyLength), readClearAfter(sent[1])];
  },
  'desktop:request-login-token': (sent) => readNone(sent),
};

function readNone(sent: readonly unknown[]): [] {
  expectCount(sent, 0);
  return [];
}

function expectCount(sent: readonly unknown[], count: number): void {
  if (sent.length !== count) throw new TypeError(`expected ${count} arguments, got ${sent.length}`);
}

function readText(name: string, value: unknown, maxLength: number): string {
  if (typeof value !== 'string') throw new TypeError(`${name} must be text`);
  if (value.length > maxLength) throw new TypeError(`${name} must have at most ${maxLength} characters`);
  return value;
}

function readClearAfter(value: unknown): number | null {
  if (value === null) return null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1 || value > maxClearAfterMs) {
    throw new TypeError(`clearAfterMs must be null or a whole number from 1 to ${maxClearAfterMs}`);
  }
  return value;
}
