// Put into the main process before the app: keeps what the app showed on the system's surfaces, which
// nothing outside it can see, and answers the dialogs. The same on real Electron and on its double.
exports.installRecorder = (electron) => {
  const { dialog, nativeImage, Notification, shell, Tray } = electron;
  const paths = new WeakMap();
  const recorded = {
    tray: null,
    trayToolTips: [],
    notifications: [],
    opened: [],
    shownInFolder: [],
    asked: [],
    messageBoxAnswers: [],
    folderAnswers: [],
  };
  globalThis.desktopRecorder = recorded;

  const createFromPath = nativeImage.createFromPath;
  nativeImage.createFromPath = (path) => {
    const image = createFromPath(path);
    paths.set(image, path);
    return image;
  };
  wrap(Tray.prototype, 'setImage', (tray, image) =>
    note(tray, { image: paths.get(image), size: image.getSize() }),
  );
  wrap(Tray.prototype, 'setToolTip', (tray, toolTip) => {
    note(tray, { toolTip });
    recorded.trayToolTips.push(toolTip);
  });
  wrap(Tray.prototype, 'setContextMenu', (tray, menu) => {
    note(tray, { items: menu.items });
  });
  wrap(Notification.prototype, 'show', ({ title, body }) => recorded.notifications.push({ title, body }));

  shell.openExternal = async (url) => {
    recorded.opened.push(url);
  };
  shell.showItemInFolder = (path) => {
    recorded.shownInFolder.push(path);
  };
  // The options come last, after the parent window if one is given. With no answer the dialog stays open.
  dialog.showMessageBox = async (...given) => {
    recorded.asked.push(given.at(-1));
    return { response: await nextOf(recorded.messageBoxAnswers), checkboxChecked: false };
  };
  dialog.showOpenDialog = async (...given) => {
    recorded.asked.push(given.at(-1));
    const filePaths = await nextOf(recorded.folderAnswers);
    return { canceled: filePaths.length === 0, filePaths };
  };

  function note(tray, changed) {
    recorded.tray = { ...(recorded.tray ?? {}), ...changed, tray };
  }
};

function wrap(prototype, method, before) {
  const original = prototype[method];
  prototype[method] = function wrapped(...given) {
    before(this, ...given);
    return original.apply(this, given);
  };
}

function nextOf(answers) {
  return answers.length > 0 ? answers.shift() : new Promise(() => undefined);
}

// With Electron's own `-r` this file is loaded in the main process itself.
if (process.versions.electron !== undefined) exports.installRecorder(require('electron'));
