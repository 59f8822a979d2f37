import type { DesktopApp } from './desktop-app.ts';

/** What `recorder.cjs` keeps in the main process, as far as it can be handed out. */
export type Recorded = {
  toolTips: string[];
  trayImage: string | null;
  trayItems: { label: string; enabled: boolean }[];
  notifications: { title: string; body: string }[];
  opened: string[];
  shownInFolder: string[];
  asked: { message?: string; detail?: string; buttons?: string[]; properties?: string[] }[];
};

type InProcess = Omit<Recorded, 'toolTips' | 'trayImage' | 'trayItems'> & {
  tray: { image?: string; items?: { label: string; enabled: boolean; click: () => void }[] } | null;
  trayToolTips: string[];
  messageBoxAnswers: number[];
  folderAnswers: string[][];
};

declare global {
  var desktopRecorder: InProcess;
}

export async function recorded(app: DesktopApp): Promise<Recorded> {
  return await app.evaluate(() => {
    const { tray, trayToolTips, notifications, opened, shownInFolder, asked } = globalThis.desktopRecorder;
    return {
      toolTips: trayToolTips,
      trayImage: tray?.image?.split('/').at(-1) ?? null,
      trayItems: (tray?.items ?? []).map(({ label, enabled }) => ({ label, enabled: enabled !== false })),
      notifications,
      opened,
      shownInFolder,
      asked: asked.map(({ message, detail, buttons, properties }) => ({
        message,
        detail,
        buttons,
        properties,
      })),
    } as Recorded;
  }, null);
}

/** The button that answers the next message box. */
export async function answerNext(app: DesktopApp, button: number): Promise<void> {
  await app.evaluate((_electron, chosen) => {
    globalThis.desktopRecorder.messageBoxAnswers.push(chosen);
  }, button);
}

/** The folders chosen in the next folder dialog; none cancels it. */
export async function chooseNext(app: DesktopApp, folders: string[]): Promise<void> {
  await app.evaluate((_electron, chosen) => {
    globalThis.desktopRecorder.folderAnswers.push(chosen);
  }, folders);
}

export async function clickTray(app: DesktopApp, label: string): Promise<void> {
  await app.evaluate((_electron, wanted) => {
    const item = globalThis.desktopRecorder.tray?.items?.find((candidate) => candidate.label === wanted);
    if (item === undefined) throw new Error(`the tray has no item ${wanted}`);
    item.click();
  }, label);
}
