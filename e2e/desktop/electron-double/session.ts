import { EventEmitter } from 'node:events';
import { app } from './app.ts';

type RequestAnswer = { cancel?: boolean; redirectURL?: string };
type HeadersAnswer = { cancel?: boolean; responseHeaders?: Record<string, string | string[]> };
type Details = { url: string; method: string; resourceType: string };
type RequestListener = (details: Details, answer: (answer: RequestAnswer) => void) => void;
type HeadersListener = (
  details: Details & { responseHeaders: Record<string, string[]>; statusCode: number },
  answer: (answer: HeadersAnswer) => void,
) => void;

export class SessionDouble extends EventEmitter {
  readonly partition: string;
  requestListener: RequestListener | null = null;
  headersListener: HeadersListener | null = null;
  permissionCheck: ((contents: null, permission: string, origin: string, details: object) => boolean) | null =
    null;
  permissionRequest:
    | ((contents: object, permission: string, answer: (granted: boolean) => void) => void)
    | null = null;
  devicePermission: ((details: object) => boolean) | null = null;
  displayMedia: unknown = null;
  bluetoothPairing: unknown = null;
  spellCheckerEnabled = true;
  readonly webRequest = {
    onBeforeRequest: (listener: RequestListener) => {
      this.requestListener = listener;
    },
    onHeadersReceived: (listener: HeadersListener) => {
      this.headersListener = listener;
    },
  };

  constructor(partition: string) {
    super();
    this.partition = partition;
  }

  setPermissionCheckHandler(handler: SessionDouble['permissionCheck']): void {
    this.permissionCheck = handler;
  }

  setPermissionRequestHandler(handler: SessionDouble['permissionRequest']): void {
    this.permissionRequest = handler;
  }

  setDevicePermissionHandler(handler: SessionDouble['devicePermission']): void {
    this.devicePermission = handler;
  }

  setDisplayMediaRequestHandler(handler: unknown): void {
    this.displayMedia = handler;
  }

  setBluetoothPairingHandler(handler: unknown): void {
    this.bluetoothPairing = handler;
  }

  setSpellCheckerEnabled(enabled: boolean): void {
    this.spellCheckerEnabled = enabled;
  }

  /** As Electron does it: what no handler refuses is granted. */
  async grants(permission: string, origin: string, contents: object): Promise<boolean> {
    if (this.permissionCheck !== null && !this.permissionCheck(null, permission, origin, {})) return false;
    const { permissionRequest } = this;
    if (permissionRequest === null) return true;
    return await new Promise((resolve) => permissionRequest(contents, permission, resolve));
  }
}

const sessions = new Map<string, SessionDouble>();

export const session = {
  fromPartition(partition: string): SessionDouble {
    const found = sessions.get(partition);
    if (found !== undefined) return found;
    const made = new SessionDouble(partition);
    sessions.set(partition, made);
    app.emit('session-created', made);
    return made;
  },
  get defaultSession(): SessionDouble {
    return session.fromPartition('');
  },
};
