import { EventEmitter } from 'node:events';

type Item = { label?: string; role?: string; enabled?: boolean; click?: () => void; submenu?: Item[] };

export class Menu {
  static #application: Menu | null = null;
  readonly items: Item[];

  constructor(items: Item[]) {
    this.items = items;
  }

  static buildFromTemplate(items: Item[]): Menu {
    return new Menu(items);
  }

  static setApplicationMenu(menu: Menu | null): void {
    Menu.#application = menu;
  }

  static getApplicationMenu(): Menu | null {
    return Menu.#application;
  }
}

export class Tray extends EventEmitter {
  image: object;
  toolTip = '';
  menu: Menu | null = null;

  constructor(image: { isEmpty(): boolean }) {
    super();
    if (image.isEmpty()) throw new Error('a tray needs an image');
    this.image = image;
  }

  setImage(image: object): void {
    this.image = image;
  }

  setToolTip(toolTip: string): void {
    this.toolTip = toolTip;
  }

  setContextMenu(menu: Menu | null): void {
    this.menu = menu;
  }

  destroy(): void {
    this.removeAllListeners();
  }
}
